"""Epochs of transactional ids (KIP-360, KIP-890): what a retried InitProducerId is told where the
id was loaded; and their timeouts."""

from __future__ import annotations

from integration_tests.cluster.registry import scenario
from integration_tests.cluster.scenarios.coordinators import Transactor
from integration_tests.cluster.scenarios.moved_transactions import described, ends
from integration_tests.cluster.scenarios.second_version import Newer, _moved
from integration_tests.cluster.stage import TRANSACTIONS, Cluster
from integration_tests.wire.raw import Plain


def again(
    c: Cluster, one: Transactor, broker: int, epoch: int, version: int = 4, **other: int
) -> Plain:
    """InitProducerId by a producer that says which id and epoch it has."""
    who = one.who | {"producer_epoch": epoch} | other
    return c.at(broker).ask("InitProducerId", version, **who, transaction_timeout_ms=600_000)


@scenario
def epochs_that_are_asked_for_again(c: Cluster) -> None:
    """KIP-360: who asks again with the epoch before is told the present one, as long as the
    coordinator remembers; else it is fenced."""
    kept, lost, none = (Transactor(c, label) for label in ("kept", "lost", "none"))
    for one in (kept, lost, none):
        one.init()
    for one in (kept, lost):
        again(c, one, 3, 0)
    again(c, kept, 3, 0)
    again(c, kept, 3, 7)
    again(c, kept, 3, 1, producer_id=987654321)
    again(c, none, 3, -1)
    c.crash(3)
    c.until(TRANSACTIONS, 2, leader_id=1)
    for one in (kept, lost, none):
        _moved(c, one, 1)
    again(c, lost, 1, 0)
    again(c, lost, 1, 1)
    again(c, lost, 1, 1)
    again(c, kept, 1, 7)
    again(c, kept, 1, 1, producer_id=987654321)
    again(c, none, 1, 0, version=5)
    again(c, none, 1, 0, version=5)
    for one in (kept, lost, none):
        described(c, one, 1)


@scenario
def epochs_after_transactions_of_version_2(c: Cluster) -> None:
    """KIP-890: EndTxn raises the epoch; InitProducerId with the epoch of before, with that of now,
    and without one."""
    name = c.topic("t", [1, 2])
    here, there, open_there = (Newer(c, label) for label in ("here", "there", "open"))
    for one in (here, there, open_there):
        one.init()
        one.produce(name, 1)
    for one in (here, there):
        one.finish(3)
        ends(c, one, 3)
    again(c, here, 3, 0)
    again(c, here, 3, 1)
    again(c, here, 3, 1)
    again(c, here, 3, 2)
    c.stop(3)
    c.until(TRANSACTIONS, 2, leader_id=1)
    for one in (here, there, open_there):
        _moved(c, one, 1)
    again(c, there, 1, 0)
    again(c, there, 1, 1)
    again(c, there, 1, 1)
    again(c, open_there, 1, 0)
    ends(c, open_there, 1, "CompleteAbort")
    again(c, open_there, 1, 0)
    again(c, open_there, 1, 1)
    there.init(1)
    for one in (here, there, open_there):
        described(c, one, 1)


@scenario
def timeouts_of_ids(c: Cluster) -> None:
    """INVALID_TRANSACTION_TIMEOUT; the timeout that is kept is that of the last InitProducerId, at
    the next coordinator, too."""
    one = Transactor(c, "tx")
    for timeout_ms in (0, -1, 900_001, 900_000):
        one.init(timeout_ms=timeout_ms)
    described(c, one, 3)
    one.init(timeout_ms=30_000)
    c.crash(3)
    c.until(TRANSACTIONS, 2, leader_id=1)
    _moved(c, one, 1)
    described(c, one, 1)
    one.init(1, timeout_ms=900_001)
    described(c, one, 1)
    one.init(1, timeout_ms=40_000)
    described(c, one, 1)
    c.at(1).ask("InitProducerId", 4, transactional_id="", transaction_timeout_ms=1_000)
    c.at(1).ask(
        "InitProducerId",
        4,
        transactional_id=None,
        transaction_timeout_ms=-1,
        producer_id=5,
        producer_epoch=3,
    )
