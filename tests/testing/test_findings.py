"""Findings from plain data: each is there where it must be, and not where the application has done
nothing wrong."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from coordinator import Emulator
from coordinator.events.wire import RequestRefused, RequestSeen
from coordinator.kit.ready_tests import findings, identities, losses, repeats
from coordinator.kit.ready_tests.findings import CommitSeen, Line
from coordinator.kit.ready_tests.losses import OthersCommit
from coordinator.kit.ready_tests.record_cases import RecordCases
from coordinator.kit.ready_tests.under_test import ApplicationUnderTest
from tests.lines import event, line, line_from

PLACE = ("orders", 0)
RECORDS = {PLACE: [0, 1, 2]}
DONE = [("orders", 0, offset) for offset in RECORDS[PLACE]]


def commit(offset: int, done: int = 3, *, seq: int = 1, by_member: bool = True) -> CommitSeen:
    return CommitSeen({PLACE: offset}, done, "app", seq, by_member)


def names(found: list[findings.Finding]) -> list[str]:
    return [finding.name for finding in found]


@pytest.mark.parametrize("connected", [True, False])
def test_who_has_no_connection_any_more_did_not_close_its_consumer(connected: bool) -> None:
    """A process that ended is not told that it goes on."""
    member = SimpleNamespace(connected=connected)
    known = {"application": object(), "members": lambda: [member], "processed": list}
    app = cast(ApplicationUnderTest, SimpleNamespace(**known))
    found = RecordCases()._swallowed(app, "commits were refused")
    assert found.name == (findings.SWALLOWED if connected else findings.DOES_NOT_LEAVE)
    assert ("its consumer is not closed" in found.text) is not connected


def test_a_commit_that_is_one_too_far_is_told_as_such() -> None:
    assert findings.ahead(DONE, [commit(3)], RECORDS) == []
    (found,) = findings.ahead(DONE, [commit(3, done=2)], RECORDS)
    assert (
        found.text
        == "app committed 3 for orders-0 while offset 2 was still to be processed; 2 is the offset to commit after 1"
    )


def test_a_commit_over_a_record_that_was_left_out_is_told_as_such() -> None:
    later = [("orders", 0, offset) for offset in (0, 2, 3, 4)]
    (found,) = findings.ahead(later, [commit(5, done=4)], {PLACE: [0, 1, 2, 3, 4]})
    assert found.text.endswith(
        "while offset 1 was still to be processed; it had processed later records of the partition"
    )


def test_a_commit_beyond_the_end_is_found() -> None:
    assert findings.beyond([commit(3)], {PLACE: 3}) == []
    assert names(findings.beyond([commit(4), commit(5)], {PLACE: 3})) == [findings.BEYOND]


def test_what_keeps_the_committed_offset_below_the_end_is_told() -> None:
    assert findings.unfinished(DONE, {PLACE: 3}, RECORDS) == []
    (found,) = findings.unfinished(DONE, {PLACE: 2}, RECORDS)
    assert found.name == findings.BEHIND
    assert found.text.endswith("that is the offset of the last record; commit the next offset, 3")
    two = {**RECORDS, ("orders", 1): [0, 1]}
    (found,) = findings.unfinished([*DONE, ("orders", 1, 0)], {PLACE: 3}, two)
    assert (found.name, "orders-1" in found.text) == (findings.STOPS_READING, True)
    assert (
        findings.unfinished(DONE[:1], {PLACE: 1}, RECORDS) == []
    )  # it is only slow, as far as one can see


def test_what_was_processed_and_not_committed_at_a_stop_is_found() -> None:
    assert findings.not_committed(DONE, {PLACE: 3}, {}) == []
    (found,) = findings.not_committed(DONE, {PLACE: 1}, {})
    assert (
        found.text
        == "orders-0 was committed at 1 when it had stopped; it had processed offsets 1, 2"
    )
    assert names(findings.not_committed(DONE, {}, {PLACE: 0})) == [findings.NOT_COMMITTED]


def test_what_others_had_committed_is_not_processed() -> None:
    assert losses.began_below(DONE, [OthersCommit(PLACE, 3, first=3)]) == []
    assert names(losses.began_below(DONE, [OthersCommit(PLACE, 3, first=2)])) == [
        findings.IGNORES_COMMITTED
    ]


def test_records_before_a_commit_come_again_only_if_the_library_misread_a_refusal() -> None:
    taken = [line_from({"type": "OffsetsCommitted", "cause": 1, "seq": 2})]
    again = [*DONE, ("orders", 0, 2)]
    assert names(repeats.processed_again(again, [commit(3)], taken)) == [findings.AGAIN]

    def asked(seq: int, version: int) -> list[Line]:
        of = {"stream": "wire", "api": "offset_fetch"}
        return [
            line_from({**of, "type": "RequestSeen", "version": version, "seq": seq}),
            line_from({**of, "type": "RequestRefused", "cause": seq, "seq": seq + 1}),
        ]

    assert repeats.processed_again(again, [commit(3)], [*taken, *asked(5, version=3)]) == []
    assert names(repeats.processed_again(again, [commit(3)], [*taken, *asked(5, version=8)])) == [
        findings.AGAIN
    ]
    assert names(repeats.processed_again(again, [commit(3)], [*asked(-5, version=3), *taken])) == [
        findings.AGAIN
    ]


def test_rebalances_are_counted_from_a_mark_on() -> None:
    lines = [
        line_from({"type": "RebalanceStarted", "group": "g", "seq": seq, "reason": "it asked"})
        for seq in range(5)
    ]
    assert findings.restless(lines, "g", since=1, at_most=4) == []
    assert names(findings.restless(lines, "g", since=0, at_most=4)) == [findings.RESTLESS]
    assert findings.restless(lines, "another", since=0, at_most=0) == []


def test_commits_without_a_member_id_are_those_of_who_assigns_partitions_itself() -> None:
    refused = line(event(RequestRefused, api="offset_commit"), cause=1)
    joined = line(event(RequestSeen, api="join_group", client="app"))
    alone = commit(3, by_member=False)
    assert names(identities.without_membership([alone], [], ever=True)) == [findings.NO_MEMBER]
    assert (
        identities.without_membership([alone], [], ever=False) == []
    )  # the group is empty: a tool may do so
    assert names(identities.without_membership([alone], [refused], ever=False)) == [
        findings.NO_MEMBER
    ]
    assert (
        identities.without_membership([alone], [joined, refused], ever=False) == []
    )  # it is about to join again
    assert (
        identities.without_membership([alone] * 100, [joined, refused], ever=False) == []
    )  # a commit for each record in hand
    (forgetful,) = identities.without_membership([alone] * 101, [joined, refused], ever=False)
    assert (forgetful.name, "has lost its membership" in forgetful.text) == (
        findings.AFTER_LOSING,
        True,
    )
    assert identities.without_membership([commit(3)], [refused], ever=False) == []


class Dies:
    """Commits once more while it is being killed, what it no longer processes."""

    topic, group = "orders", "billing"

    def __init__(self, kafka: Emulator) -> None:
        self.kafka = kafka

    def start(self, bootstrap_servers: str) -> None:
        self.peer = self.kafka.group(self.group).peer(
            [self.topic], config={"enable.auto.commit": "false"}, keep_going=True
        )

    def stop(self) -> None:
        self.peer.crash()

    def kill(self) -> None:
        self.peer.seek("orders", 0, 1)
        with pytest.raises(Exception, match="UNKNOWN_MEMBER_ID"):
            self.peer.wait_commit()
        self.peer.crash()

    def processed(self) -> list[tuple[str, int, int]]:
        return []


def test_what_a_killed_process_still_sends_is_not_its_fault(kafka: Emulator) -> None:
    under_test = ApplicationUnderTest(kafka, Dies(kafka), partitions=1)
    try:
        under_test.start()
        under_test.produce(1)
        under_test.kill()
        assert under_test.findings() == []
    finally:
        under_test.close()


class JoinsAnew(Dies):
    """Its library joins once more while it dies, as a new member."""

    def kill(self) -> None:
        mark = self.kafka.mark()
        with self.kafka.group("billing").peer(
            ["orders"], config={"client.id": self.peer.client_id}
        ) as another:
            self.refused, *_ = self.kafka.wait_for("RequestRefused", api="join_group", since=mark)
            another.crash()
        super().kill()


def test_a_killed_process_does_not_wait_for_its_own_former_session(kafka: Emulator) -> None:
    application = JoinsAnew(kafka)
    under_test = ApplicationUnderTest(kafka, application, partitions=1)
    try:
        under_test.start()
        under_test.produce(1)
        under_test.kill()
        assert application.refused["errors"] == ["COORDINATOR_LOAD_IN_PROGRESS"]
        assert under_test.findings() == []
    finally:
        under_test.close()


class EndsOnceItHasJoined(Dies):
    """Its library does not let it end before it has joined, as aiokafka's `getmany()`."""

    def kill(self) -> None:
        self.peer.crash()
        with self.kafka.group("billing").peer(
            ["orders"], config={"client.id": self.peer.client_id}, keep_going=True
        ) as another:
            another.wait_stable(members=1)
            another.crash()


def test_a_killed_application_that_has_to_join_before_it_ends_is_let_in(kafka: Emulator) -> None:
    under_test = ApplicationUnderTest(kafka, EndsOnceItHasJoined(kafka), partitions=1)
    try:
        under_test.start()
        under_test.produce(1)
        under_test.kill()
        assert under_test.group.snapshot().members == ()
        assert under_test.findings() == []
    finally:
        under_test.close()


def test_a_peer_of_the_kit_fits_into_a_group_of_the_consumer_protocol(kafka: Emulator) -> None:
    kafka.create_topic("orders", 2)
    with kafka.peer("billing", topics=["orders"], protocol="consumer"):
        kafka.group("billing").wait(state="Stable", members=1)
        with kafka.group("billing").peer(["orders"]):
            kafka.group("billing").wait(members=2)


def test_a_commit_that_goes_back_and_is_made_up_for_is_a_client_that_sent_it_again() -> None:
    def committed(seq: int, member: str, offset: int) -> Line:
        return line_from(
            {
                "seq": seq,
                "at_ms": seq,
                "type": "OffsetsCommitted",
                "group": "g",
                "member": member,
                "generation": 1,
                "offsets": [{"topic": "t", "partition": 0, "offset": offset}],
            }
        )

    def told(*lines: Line) -> list[str]:
        return [
            finding.text
            for finding in losses.after_losing(lines, "g")
            if "back from" in finding.text
        ]

    first, back = committed(1, "a", 30), committed(2, "a", 10)
    assert told(first, back) == ["a committed t-0 back from 30 to 10 (line 2, at 2 ms)"]
    assert told(first, back, committed(3, "a", 20)) == [
        "a committed t-0 back from 30 to 10 (line 2, at 2 ms)"
    ]
    assert told(first, back, committed(3, "a", 31)) == []
    assert told(first, committed(2, "b", 10), committed(3, "b", 31)) == [
        "b committed t-0 back from 30 to 10 (line 2, at 2 ms)"
    ]
