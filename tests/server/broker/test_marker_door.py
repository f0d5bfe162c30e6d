"""Markers of a transaction are requests between brokers: interceptors hold, delay, lose and refuse
them, and readers of stable offsets are told meanwhile."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from coordinator.base.errors import ErrorCode
from coordinator.server.interceptors import Close, Drop, Handle, Hold, Late, Verdict
from coordinator.server.requests.call import Call
from coordinator.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from coordinator.wire.messages.transactions import WriteTxnMarkersRequest, WriteTxnMarkersResponse
from tests.server.broker.test_transactions import TransactionDriver

UNSTABLE = ErrorCode.UNSTABLE_OFFSET_COMMIT


def ending(verdict: Callable[[Call], Verdict]) -> tuple[TransactionDriver, list[Call]]:
    """A transaction with an offset of group g and a record, committed while markers meet verdicts."""
    driver, met = TransactionDriver(), list[Call]()

    def look(call: Call) -> Verdict:
        if not isinstance(call.message, WriteTxnMarkersRequest):
            return None
        met.append(call)
        return verdict(call)

    driver.broker.interceptors.append(look)
    driver.init()
    driver.write(0)
    assert driver.commit_offset(7) == [0]
    assert driver.end(commit=True).error_code == 0
    return driver, met


def committed(driver: TransactionDriver) -> tuple[int, int]:
    """(error, offset) of partition 0 in group g, as somebody is told who requires stable offsets."""
    topics = [OffsetFetchRequestTopics(name="t", partition_indexes=[0])]
    request = OffsetFetchRequest(
        groups=[OffsetFetchRequestGroup(group_id="g", topics=topics)], require_stable=True
    )
    (row,) = driver.ask(request, 8).groups[0].topics[0].partitions
    return row.error_code, row.committed_offset


def topic_of(call: Call) -> str:
    assert isinstance(call.message, WriteTxnMarkersRequest)
    return call.message.markers[0].topics[0].name


def test_a_held_marker_keeps_offsets_unstable_until_it_is_released() -> None:
    """TXN-5: the commit is decided, and offsets count only when the marker is there."""
    driver, met = ending(
        lambda call: Hold(None) if topic_of(call) == "__consumer_offsets" else None
    )
    assert sorted(map(topic_of, met)) == ["__consumer_offsets", "t"]
    assert committed(driver) == (UNSTABLE, -1)
    assert driver.described().transaction_state == "PrepareCommit"
    (held,) = (call for call in met if topic_of(call) != "t")
    driver.pass_time(60_000)
    assert committed(driver) == (UNSTABLE, -1)
    assert driver.broker.parked.release(held.token, driver.now)
    driver.broker.run_resumable(driver.now)
    assert committed(driver) == (0, 7)
    assert driver.described().transaction_state == "CompleteCommit"
    assert len(met) == 2


def test_a_delayed_marker_is_written_by_time_alone() -> None:
    driver, _ = ending(lambda call: Hold(500))
    assert committed(driver) == (UNSTABLE, -1)
    driver.pass_time(499)
    assert committed(driver) == (UNSTABLE, -1)
    driver.pass_time(1)
    assert committed(driver) == (0, 7)


@pytest.mark.parametrize(
    ("verdict", "again_ms"),
    [(Drop(), 30_000), (Close("cut"), 100), (Handle(None, WriteTxnMarkersResponse), 100)],
    ids=["lost", "cut off", "refused"],
)
def test_a_marker_that_did_not_arrive_is_sent_again(verdict: Verdict, again_ms: int) -> None:
    first: list[str] = []

    def once(call: Call) -> Verdict:
        seen = topic_of(call) in first
        first.append(topic_of(call))
        return None if seen else verdict

    driver, met = ending(once)
    driver.pass_time(again_ms - 1)
    assert (len(met), committed(driver)) == (2, (UNSTABLE, -1))
    driver.pass_time(1)
    assert (len(met), committed(driver)) == (4, (0, 7))


def test_a_marker_whose_answer_is_late_is_written_and_the_transaction_not_complete() -> None:
    def late(call: Call) -> Verdict:
        assert call.client_id == "broker-1-txn-marker-sender"
        return Handle(call.message, lambda answer: Late(200, answer))  # type: ignore[arg-type]

    driver, met = ending(late)
    assert committed(driver) == (0, 7)
    assert driver.described().transaction_state == "PrepareCommit"
    driver.pass_time(200)
    assert driver.described().transaction_state == "CompleteCommit"
    assert len(met) == 2


def test_a_marker_whose_answer_is_lost_is_written_again() -> None:
    answers = iter([True])

    def lost(call: Call) -> Verdict:
        if topic_of(call) == "t" and next(answers, False):
            return Handle(call.message, lambda _: Drop())
        return None

    driver, met = ending(lost)
    assert driver.described().transaction_state == "PrepareCommit"
    driver.pass_time(30_000)
    assert driver.described().transaction_state == "CompleteCommit"
    assert len(met) == 3


def test_without_interceptors_nobody_is_asked() -> None:
    driver = TransactionDriver()
    driver.init()
    driver.write(0)
    driver.commit_offset(7)
    driver.end(commit=True)
    assert committed(driver) == (0, 7)


def test_an_interceptor_that_fails_is_told_to_the_embedder() -> None:
    def broken(_: Call) -> Verdict:
        raise KeyError("x")

    driver, _ = ending(broken)
    assert committed(driver) == (0, 7)
    assert "KeyError" in str(driver.broker.interceptor_errors[0])
