"""What a transaction coordinator says while too few replicas are in sync.

Rule: with fewer replicas in sync than min.insync.replicas it writes nothing and says COORDINATOR_NOT_AVAILABLE.
"""

from __future__ import annotations

from integration_tests.cluster.registry import scenario
from integration_tests.cluster.scenarios.coordinators import Transactor
from integration_tests.cluster.scenarios.unreplicated import unreplicated
from integration_tests.cluster.stage import TRANSACTIONS, Cluster


@scenario
def transactions_with_too_few_replicas_in_sync(c: Cluster) -> None:
    """TXN-1: nothing is written; every request that would is refused, and what is asked is answered."""
    name = c.topic("t", [3])
    fresh, idle, begun = (Transactor(c, label) for label in ("fresh", "idle", "begun"))
    idle.init()
    begun.init()
    begun.write(name, 3)
    group = c.name("g", 3)
    with unreplicated(c, TRANSACTIONS):
        fresh.init()
        idle.init()
        idle.add(name, 3)
        c.at(3).ask("AddOffsetsToTxn", 3, **idle.who, group_id=group)
        begun.add(name, 3)
        begun.init()
        begun.end(3)
        for one in (idle, begun):
            one.describe(3)
    begun.end(3)
    idle.add(name, 3)
    fresh.init()
