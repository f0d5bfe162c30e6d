"""The journal: what clients asked and were answered, and assertions on it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from coordinator import Emulator
from coordinator.kit.faults import FaultError
from coordinator.kit.in_process_requests import ControlError
from coordinator.wire.messages.offset_commit import OffsetCommitRequest, OffsetCommitResponse


@pytest.fixture
def kafka() -> Iterator[Emulator]:
    with Emulator({"orders": 2}, remember=10_000, seed=5) as running:
        yield running


def commit_once(kafka: Emulator, group: str = "g") -> None:
    with kafka.peer(group, ["orders"], config={"enable.auto.commit": False}) as peer:
        peer.wait_stable()
        peer.seek("orders", 0, 3)
        peer.wait_commit()


def test_requests_and_answers_are_typed(kafka: Emulator) -> None:
    journal = kafka.journal()
    commit_once(kafka)
    (commit,) = journal.requests("OffsetCommit", group="g", topic="orders", partition=0)
    assert isinstance(commit.request, OffsetCommitRequest)
    assert commit.request.topics[0].partitions[0].committed_offset == 3
    assert isinstance(commit.answer, OffsetCommitResponse)
    assert commit.answer.topics[0].partitions[0].error_code == 0
    assert commit.answered_ms is not None
    assert commit.answered_ms >= commit.at_ms
    (join, *_) = journal.requests("JoinGroup", client_id=commit.client_id)
    assert (join.error, join.version >= 0, join.broker) == ("MEMBER_ID_REQUIRED", True, 1)
    assert "answered MEMBER_ID_REQUIRED" in str(join)
    assert kafka.journal().requests() == journal.requests()
    journal.clear()
    assert journal.requests() == []


def test_counts_are_asserted(kafka: Emulator) -> None:
    journal = kafka.journal()
    commit_once(kafka)
    assert len(journal.verify("OffsetCommit", group="g", exactly=1)) == 1
    journal.verify("LeaveGroup", at_least=1, at_most=1)
    journal.verify("OffsetCommit", group="h", exactly=0)


def test_an_offending_request_is_shown_with_those_around_it(kafka: Emulator) -> None:
    journal = kafka.journal()
    commit_once(kafka)
    offending = r"OffsetCommit: 1 came, not at most 0\n(.*\n)+ > \d+: at \d+ ms consumer-g-1 sent OffsetCommitRequest"
    with pytest.raises(AssertionError, match=offending) as said:
        journal.verify("OffsetCommit", at_most=0)
    assert str(said.value).count("\n") >= 3


def test_near_misses_say_what_was_different(kafka: Emulator) -> None:
    journal = kafka.journal()
    commit_once(kafka)
    with pytest.raises(
        AssertionError,
        match=r"0 came, not at least 1\nNearly:\n  not with group h: .*OffsetCommitRequest",
    ):
        journal.verify("OffsetCommit", group="h", at_least=1)
    with pytest.raises(AssertionError, match=r"\nWhat came: .*JoinGroup"):
        journal.verify("DeleteTopics", topic="t", at_least=1)


def test_an_injected_error_is_the_answer_and_a_lost_request_has_none(kafka: Emulator) -> None:
    journal = kafka.journal()
    kafka.fail("OffsetCommit", "GROUP_AUTHORIZATION_FAILED", group="g", times=1)
    with pytest.raises(Exception, match="GROUP_AUTHORIZATION_FAILED"):
        commit_once(kafka)
    (commit,) = journal.requests("OffsetCommit")
    assert isinstance(commit.answer, OffsetCommitResponse)
    assert commit.answer.topics[0].partitions[0].error_code == 30
    lost = kafka.lose_request("JoinGroup", group="lost", times=1)
    with kafka.peer("lost", ["orders"]):
        lost.wait_hit()
        (join,) = journal.requests("JoinGroup", group="lost")
        assert join.answer is None
        assert str(join).endswith("not answered")


def test_a_journal_that_overflowed_does_not_judge(kafka: Emulator) -> None:
    journal = kafka.journal(3)
    commit_once(kafka)
    assert journal.dropped > 0
    assert len(journal.requests()) == 3
    with pytest.raises(
        AssertionError,
        match=r"not judged: \d+ requests were dropped, as only 3 are kept: journal\(most=...\) keeps more",
    ):
        journal.verify("OffsetCommit", at_most=5)


def test_a_broker_that_was_started_anew_is_not_judged() -> None:
    with Emulator({"orders": 1}, brokers=2, remember=1000, seed=3) as kafka:
        journal = kafka.journal()
        journal.verify("Fetch", exactly=0)
        with kafka.stop_broker(2):
            pass
        with pytest.raises(AssertionError, match="not judged: broker 2 was started again"):
            journal.verify("Fetch", exactly=0)


def test_wrong_words(kafka: Emulator) -> None:
    with pytest.raises(ControlError, match="most: 0; a whole number from 1 on"):
        kafka.journal(0)
    journal = kafka.journal(5)
    with pytest.raises(ControlError, match="most=6: the journal is kept already, of 5 requests"):
        kafka.journal(6)
    with pytest.raises(ControlError, match="verify what"):
        journal.verify("Fetch")
    with pytest.raises(FaultError, match="'phase' is no field of the journal"):
        journal.requests("Fetch", phase="stable")
    with pytest.raises(FaultError, match="did you mean OffsetCommit"):
        journal.requests("OffsetComit")


def test_requests_of_the_kit_itself_are_neither_kept_nor_counted() -> None:
    with Emulator({"orders": 1}, brokers=2, remember=1000, seed=3) as kafka:
        journal = kafka.journal(1_000)
        for _ in range(20):
            kafka.group("g").commit({("orders", 0): 1})
        commit_once(kafka)
        kept = journal.requests()
        assert [each.number for each in kept] == list(range(1, len(kept) + 1))
        assert {each.broker for each in kept} == {1, 2}
        assert len(journal.requests("OffsetCommit", group="g")) == 1
        assert journal.dropped == 0
