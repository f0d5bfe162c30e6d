"""Applications with several consumers: a record that comes again is judged where no other consumer
may have had it in hand."""

from __future__ import annotations

from threading import Thread
from typing import Any

import pytest

pytest.importorskip("kafka")
pytest.importorskip("confluent_kafka")

from coordinator import Emulator
from coordinator.kit.ready_tests import findings as f
from coordinator.kit.ready_tests import repeats
from coordinator.kit.ready_tests.cases import ConsumerCases
from coordinator.kit.ready_tests.findings import CommitSeen, Line
from coordinator.kit.ready_tests.holders import Holders, Written
from coordinator.kit.ready_tests.under_test import ApplicationError, ApplicationUnderTest
from coordinator.wire.consumer_protocol import Assignment, Subscription, TopicPartitions
from tests.lines import line_from
from tests.testing import small_applications as small
from tests.testing.ownership_in_confluent import TwoConsumers

PLACE = ("orders", 0)
EARLY, LATE = Written(5, {PLACE: 0}), Written(25, {PLACE: 0})


def line(seq: int, kind: str, **fields: Any) -> Line:
    stream = "wire" if kind.startswith("Request") else "group"
    of = {"seq": seq, "at_ms": 10 * seq, "stream": stream, "type": kind, "group": "g"}
    return line_from({**of, **fields})


def stored(
    seq: int, given: dict[str, list[int]], claims: dict[str, list[int]] | None = None
) -> Line:
    def row(member: str) -> dict[str, str]:
        said = Subscription(
            topics=("orders",),
            owned_partitions=(TopicPartitions("orders", tuple((claims or {}).get(member, ()))),),
        )
        plan = Assignment.of({"orders": given[member]})
        return {
            "member_id": member,
            "assignment": plan.encode().hex(),
            "subscription": said.encode().hex(),
        }

    return line(
        seq, "GenerationStored", protocol_type="consumer", members=[row(member) for member in given]
    )


def reconciled(seq: int, member: str, held: list[int], revoking: list[int] | None = None) -> Line:
    def topics(partitions: list[int]) -> list[dict[str, Any]]:
        return [{"topic": "orders", "topic_id": "", "partitions": partitions}]

    return line(
        seq,
        "ConsumerMemberReconciled",
        member=member,
        held=topics(held),
        revoking=topics(revoking or []),
    )


def removed(seq: int, member: str, reason: str) -> Line:
    return line(seq, "MemberRemoved", member=member, reason=reason)


def committed(seq: int, offset: int, cause: int | None = None) -> Line:
    row = {"topic": "orders", "partition": 0, "offset": offset}
    return line(seq, "OffsetsCommitted", cause=cause, offsets=[row])


def may_hold(
    lines: list[Line],
    written: Written,
    offset: int = 0,
    *,
    peers: set[str] = frozenset(),
    starts: tuple[int, ...] = (0,),  # type: ignore[assignment]
    asked_first: dict[tuple[str, int], int] | None = None,
) -> bool:
    holders = Holders(
        lines,
        "g",
        peers=peers,
        removed=(),
        starts=starts,
        written=[written],
        asked_first=asked_first,
    )
    return holders.may_hold(PLACE, offset, CommitSeen({PLACE: offset + 1}, 1, "b", 30, at_ms=300))


MOVED = [stored(10, {"a": [0], "b": []}), stored(20, {"a": [], "b": [0]})]


def test_who_gave_a_partition_up_before_a_record_was_written_cannot_have_it() -> None:
    assert may_hold(MOVED, EARLY)
    assert not may_hold(MOVED, LATE)
    assert not may_hold(MOVED, EARLY, peers={"a"})


def test_who_began_behind_a_record_has_not_fetched_it() -> None:
    assert not may_hold([committed(2, 1), *MOVED], EARLY)
    assert may_hold([committed(2, 1), *MOVED], EARLY, offset=1)


def test_who_claims_a_partition_still_may_hold_its_records() -> None:
    claims = [MOVED[0], stored(20, {"a": [], "b": [0]}, {"a": [0]})]
    assert may_hold(claims, LATE)  # cooperative: it hears of it at its next poll
    assert not may_hold([*claims, stored(22, {"a": [], "b": [0]})], LATE)


def test_who_was_removed_may_go_on_until_it_joins_again_or_its_application_is_started_again() -> (
    None
):
    asked = line(8, "RequestSeen", api="join_group", member="a", peer="here")
    lost = [asked, MOVED[0], removed(15, "a", "session expired"), stored(20, {"b": [0]})]
    assert may_hold(lost, LATE)
    assert not may_hold(lost, LATE, starts=(0, 24))
    assert not may_hold([*lost, line(22, "RequestSeen", api="join_group", peer="here")], LATE)
    assert may_hold([*lost, line(22, "RequestSeen", api="join_group", peer="there")], LATE)
    assert not may_hold([MOVED[0], removed(15, "a", "left"), stored(20, {"b": [0]})], LATE)


def test_members_of_consumer_groups_have_what_they_have_not_given_up() -> None:
    moving = [reconciled(10, "a", [0]), reconciled(14, "a", [], [0])]
    assert may_hold([*moving, reconciled(28, "b", [0])], LATE)
    assert not may_hold([*moving, reconciled(16, "a", []), reconciled(28, "b", [0])], LATE)


def test_a_library_that_asks_for_the_first_offset_may_go_back_by_itself_in_a_consumer_group() -> (
    None
):
    subscribed = line(9, "ConsumerMemberSubscribed", member="b")
    assert may_hold([subscribed, reconciled(10, "b", [0])], LATE, asked_first={PLACE: 301})
    assert not may_hold([subscribed, reconciled(10, "b", [0])], LATE, asked_first={PLACE: 299})
    assert not may_hold([MOVED[1]], LATE, asked_first={PLACE: 301})


def test_what_nobody_else_had_is_judged_and_the_rest_is_told() -> None:
    lines = [
        *MOVED,
        line(30, "RequestSeen", api="offset_commit", client="app"),
        committed(31, 1, cause=30),
    ]
    commits = [CommitSeen({PLACE: 1}, 1, "b", 30, at_ms=300)]
    processed = [("orders", 0, 0), ("orders", 0, 0)]
    early, late = (
        Holders(lines, "g", peers=(), removed=(), starts=(0,), written=[when])
        for when in (EARLY, LATE)
    )
    (found,) = repeats.processed_again(processed, commits, lines, late)
    assert found.name == f.AGAIN
    assert not repeats.processed_again(processed, commits, lines, early)
    (told,) = repeats.processed_again(processed, commits, lines, early, in_hand=True)
    assert "offset 0 was processed again" in told.text


QUICK = {"heartbeat.interval.ms": 100, "statistics.interval.ms": 50, "stats_cb": lambda told: None}


class QuickTwo(TwoConsumers):
    """Right: two consumers that hear of rebalances soon."""

    settings = QUICK


class TwoThatBeginAnew(small.BeginsAnew):
    """Two consumers, each of which seeks to the beginning of whatever it is given."""

    settings = QUICK

    def live(self) -> None:
        threads = [
            Thread(target=small.BeginsAnew.live, args=(self,), daemon=True) for _ in range(2)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def test_two_consumers_that_go_back_are_named(kafka: Emulator) -> None:
    under_test = ApplicationUnderTest(kafka, TwoThatBeginAnew(), patience_s=60.0)
    try:
        with pytest.raises(ApplicationError, match="processed again after its commit") as found:
            ConsumerCases().test_everything_is_processed_and_committed(under_test)
        assert f.AGAIN in {finding.name for finding in found.value.findings}
    finally:
        under_test.close()


def test_two_consumers_without_a_mistake_are_judged_and_not_blamed(kafka: Emulator) -> None:
    under_test = ApplicationUnderTest(kafka, QuickTwo(), patience_s=60.0)
    try:
        ConsumerCases().test_everything_is_processed_and_committed(under_test)
        assert under_test.reservations() == ""
    finally:
        under_test.close()
