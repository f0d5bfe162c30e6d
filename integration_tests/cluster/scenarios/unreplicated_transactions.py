"""What a transaction coordinator says while too few replicas are in sync.

Rule: with fewer replicas in sync than min.insync.replicas it writes nothing and says
COORDINATOR_NOT_AVAILABLE.
"""

from __future__ import annotations

from integration_tests.cluster.registry import scenario
from integration_tests.cluster.scenarios.coordinators import Transactor
from integration_tests.cluster.scenarios.unreplicated import Asked, unreplicated
from integration_tests.cluster.stage import TRANSACTIONS, Cluster
from integration_tests.wire.raw import Plain

SOON_MS = 4_000
"""The timeout of transactions whose writes are to fail; none of them is open, so none is aborted
for it."""


@scenario
def transactions_with_too_few_replicas_in_sync(c: Cluster) -> None:
    """TXN-1: nothing is written; every request that would is refused, and what is asked is
    answered."""
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
        for one in (fresh, idle, begun):
            one.describe(3)
    begun.end(3)
    idle.add(name, 3)
    fresh.init()


@scenario
def transactions_whose_writes_wait(c: Cluster) -> None:
    """TXN-1, ERR-1: CONCURRENT_TRANSACTIONS meanwhile; after the transaction's timeout
    COORDINATOR_NOT_AVAILABLE, and the id is what it was before; a new one is Empty, under no epoch.
    """
    name = c.topic("t", [1, 2, 3])
    fresh, idle, other = (Transactor(c, label) for label in ("fresh", "idle", "other"))
    idle.init(timeout_ms=SOON_MS)
    other.init(timeout_ms=SOON_MS)
    old: Plain = {f"v3_and_below_{key}": value for key, value in idle.who.items()}
    added: Plain = old | {"v3_and_below_topics": [{"name": name, "partitions": [0]}]}
    c.pause(1, 2)
    asked = Asked(c)
    asked.send(
        "founds", "InitProducerId", 4, transactional_id=fresh.name, transaction_timeout_ms=SOON_MS
    )
    asked.send("adds", "AddPartitionsToTxn", 3, **added)
    asked.send(
        "begins", "InitProducerId", 4, transactional_id=other.name, transaction_timeout_ms=SOON_MS
    )
    fresh.init(timeout_ms=SOON_MS)
    idle.add(name, 3)
    idle.end(3)
    for one in (fresh, idle, other):
        one.describe(3)
    asked.answers()
    for one in (fresh, idle, other):
        one.describe(3)
    c.resume(1, 2)
    c.until(TRANSACTIONS, 2, isr_nodes={1, 2, 3}, leader_id=3)
    for one in (fresh, idle, other):
        one.describe(3)
    idle.add(name, 3)
    idle.end(3)
    other.init()
    fresh.init()
