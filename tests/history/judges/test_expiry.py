"""Committed offsets expire to the millisecond: a log in which they go a millisecond too soon, one in
which they go a millisecond too late, and one in which they go in time, for each way in which their
time counts."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from coordinator.history.judges.expiry import OffsetsExpireInTime
from tests.history.judges.test_kept_promises import Log

KEPT_MS, LOOKS_MS = 60_000, 5_000
PLACE = {"topic": "orders", "partition": 0}
ROW = {**PLACE, "offset": 7, "expire_ms": None}


def exact() -> OffsetsExpireInTime:
    return OffsetsExpireInTime(KEPT_MS, LOOKS_MS, 0)


def gone(log: Log, at_ms: int) -> None:
    log.group("OffsetsRemoved", at_ms, reason="expired", partitions=[PLACE])


def _of_an_empty_group(log: Log, at_ms: int) -> None:
    """EXP-1: from the instant at which it became Empty, although they were committed before."""
    log.group("OffsetsCommitted", 1_000, member="m", offsets=[ROW])
    log.group("GroupEmptied", 4_000)
    gone(log, 4_000 + at_ms)


def _of_a_consumer_group(log: Log, at_ms: int) -> None:
    """EXP-1: from their commit, as soon as nobody subscribes."""
    log.group("ConsumerMemberSubscribed", 0, member="m", topics=["orders"])
    log.group("OffsetsCommitted", 4_000, member="m", offsets=[ROW])
    log.group("ConsumerMemberRemoved", 5_000, member="m", reason="left")
    gone(log, 4_000 + at_ms)


def _of_a_transaction(log: Log, at_ms: int) -> None:
    """EXP-1: from when they were sent to the transaction, and not before it has ended (EXP-4)."""
    log.group("ConsumerMemberSubscribed", 0, member="m", topics=["orders"])
    log.group("OffsetsPending", 4_000, producer_id=9, offsets=[ROW])
    log.group("ConsumerMemberRemoved", 5_000, member="m", reason="left")
    log.group("PendingOffsetsEnded", 6_000, producer_id=9, committed=True, partitions=[PLACE])
    gone(log, 4_000 + at_ms)


WAYS: list[Callable[[Log, int], None]] = [
    _of_an_empty_group,
    _of_a_consumer_group,
    _of_a_transaction,
]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("at_ms", "said"),
    [
        (KEPT_MS - 1, "expires 1 ms before its 60000 ms of retention are over"),
        (KEPT_MS, ""),
        (KEPT_MS + LOOKS_MS, ""),
        (KEPT_MS + LOOKS_MS + 1, "still exist at"),
    ],
)
def test_offsets_go_at_the_first_look_after_their_time(
    way: Callable[[Log, int], None], at_ms: int, said: str
) -> None:
    log = Log()
    way(log, at_ms)
    log.ends(4_000 + max(at_ms, 1_000))
    found = log.blamed(exact)
    assert (len(found) == 1 and said in found[0]) if said else found == []


def test_nobody_is_blamed_for_offsets_that_are_used_or_gone_otherwise() -> None:
    for more in (
        lambda log: log.group("MemberJoined", 30_000, member="n", rebalance_timeout_ms=1),
        lambda log: log.group("GroupDeleted", 30_000, reason="deleted by request"),
        lambda log: log.group("GroupUnloaded", 30_000),
        lambda log: log.group("OffsetsRemoved", 30_000, reason="topic deleted", partitions=[PLACE]),
        lambda log: log.line("fault", "JumpClock", 30_000, broker=1, by_ms=-600_000),
    ):
        log = Log()
        log.group("OffsetsCommitted", 1_000, member="m", offsets=[ROW])
        log.group("GroupEmptied", 4_000)
        more(log)
        log.ends(900_000)
        assert log.blamed(exact) == []


def test_a_load_and_what_is_done_to_brokers_put_the_look_off() -> None:
    """EXP-5: whoever loads the group looks for the first time one interval later."""
    for delay_ms, blamed in ((LOOKS_MS, False), (LOOKS_MS + 1, True)):
        log = Log()
        log.group("OffsetsCommitted", 1_000, member="m", offsets=[ROW])
        log.group("GroupEmptied", 4_000)
        log.group("GroupUnloaded", 60_000)
        log.group("GroupLoaded", 90_000, state="Empty")
        gone(log, 90_000 + delay_ms)
        assert bool(log.blamed(exact)) is blamed


def test_an_offset_with_a_retention_of_its_own_is_not_judged() -> None:
    log = Log()
    log.group("OffsetsCommitted", 1_000, member="m", offsets=[{**ROW, "expire_ms": 2_000}])
    log.group("GroupEmptied", 1_500)
    gone(log, 2_500)
    log.ends(900_000)
    assert log.blamed(exact) == []


def test_a_commit_that_only_a_former_coordinator_had_counts_for_nothing() -> None:
    """Whoever took over expires what was committed before it in time, which is not known here."""

    def early(*lost: int) -> list[str]:
        log = Log()
        log.group("ConsumerMemberSubscribed", 0, member="m", topics=["orders"])
        log.group("OffsetsCommitted", 1_000, member="m", offsets=[ROW])
        seq = log.group("OffsetsCommitted", 9_000, member="m", offsets=[ROW])
        for ahead in lost:
            log.line(
                "coordinator",
                "LogTruncated",
                10_000,
                topic="__consumer_offsets",
                partition=0,
                lost=[seq + ahead],
                restored=[],
            )
        log.group("ConsumerMemberRemoved", 11_000, member="m", reason="left")
        gone(log, 1_000 + KEPT_MS)
        return log.blamed(exact)

    assert early() == early(-1)
    assert early(0) == []
    assert "expires 8000 ms before its 60000 ms of retention are over" in early()[0]
