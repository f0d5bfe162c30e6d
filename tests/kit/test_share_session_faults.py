"""Errors of a ShareFetch beside one topic or partition: those of its share session, which an incremental
request does not name (SH-SES-1)."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator.kit import faults as f
from coordinator.kit.injection.fault_board import Active, FaultBoard
from tests.server.broker.shares import Member, ShareDriver, given, initialize, partitions

ACCEPT = 1
NOT_LEADER, UNKNOWN_TOPIC_ID = 6, 100


class Stage:
    """A share group with two records in each of the partitions 0 and 1, and faults."""

    def __init__(self) -> None:
        self.driver = ShareDriver()
        initialize(self.driver)
        for index in (0, 1):
            self.driver.records(2, index=index)
        self.board = FaultBoard(lambda: [self.driver.broker], 1)
        self.a = self.driver.member("a")

    def fail(self, error: str, **words: Any) -> Active:
        """A fault of ShareFetch, once unless `times` says otherwise."""
        given = {"action": "fail", "error": error, "api": "ShareFetch", "times": 1, **words}
        return self.board.add(f.from_plain(given))


def errors(member: Member, *indexes: int, **words: Any) -> dict[int, int]:
    """The errors of an answer, by partition; what was acquired beside them is dropped."""
    answer = member.ask(member.request(*indexes, **words))
    assert not answer.error_code
    return {index: data.error_code for index, data in partitions(answer).items()}


def test_a_partition_of_the_session_fails_and_nothing_is_taken_from_it() -> None:
    stage = Stage()
    stage.a.ask(stage.a.request(0, 1, most=0))
    fault = stage.fail("UNKNOWN_TOPIC_ID", topic="t", partition=1)
    answer = stage.a.ask(stage.a.request())  # names none
    assert given(answer) == {0: [(0, 1, 1)]}
    assert partitions(answer)[1].error_code == UNKNOWN_TOPIC_ID
    assert (fault.hits, fault.spent) == (1, True)
    assert given(stage.a.ask(stage.a.request())) == {1: [(0, 1, 1)]}


def test_a_whole_topic_fails_in_a_request_that_names_its_partitions() -> None:
    """They come into the session all the same."""
    stage = Stage()
    stage.fail("NOT_LEADER_OR_FOLLOWER", topic="t")
    assert errors(stage.a, 0, 1) == {0: NOT_LEADER, 1: NOT_LEADER}
    assert given(stage.a.ask(stage.a.request())) == {0: [(0, 1, 1)], 1: [(0, 1, 1)]}


def test_a_request_that_would_wait_is_answered_at_once() -> None:
    stage = Stage()
    stage.a.fetch(0, 1)
    stage.fail("NOT_LEADER_OR_FOLLOWER", topic="t", partition=0)
    assert errors(stage.a, wait=60_000) == {0: NOT_LEADER}


def test_acknowledgements_that_come_with_it_are_taken() -> None:
    stage = Stage()
    stage.a.fetch(0)
    stage.fail("NOT_LEADER_OR_FOLLOWER", topic="t", partition=0)
    answer = stage.a.ask(stage.a.request(acks=((0, 1, ACCEPT),)))
    data = partitions(answer)[0]
    assert (data.error_code, data.acknowledge_error_code) == (NOT_LEADER, 0)
    (one,) = stage.driver.broker.services.shares.partitions.open_ones.values()
    assert one.start_offset == 2


def test_a_partition_that_the_request_forgets_or_does_not_read_does_not_meet_it() -> None:
    stage = Stage()
    stage.a.fetch(0, 1)
    fault = stage.fail("NOT_LEADER_OR_FOLLOWER", topic="t", partition=1)
    assert errors(stage.a, forget=(1,)) == {}
    assert errors(stage.a) == {}
    other = stage.driver.member("b")
    assert errors(other, 0) == {0: 0}
    stage.a.epoch = -1
    stage.a.ask(stage.a.request())  # ends its session
    assert fault.hits == 0
    assert errors(other, 1)[1] == NOT_LEADER


def test_of_two_faults_the_first_one_says_which_error_it_is() -> None:
    stage = Stage()
    first = stage.fail("UNKNOWN_TOPIC_ID", topic="t", partition=0)
    second = stage.fail("NOT_LEADER_OR_FOLLOWER", topic="t")
    assert errors(stage.a, 0, 1) == {0: UNKNOWN_TOPIC_ID, 1: NOT_LEADER}
    assert (first.hits, second.hits) == (1, 1)


@pytest.mark.parametrize("epoch", [7, 3])
def test_a_session_that_is_refused_is_refused_as_a_whole(epoch: int) -> None:
    """SH-SES-1: 122 and 123 stand at the top."""
    stage = Stage()
    stage.a.epoch = epoch
    stage.fail("NOT_LEADER_OR_FOLLOWER", topic="t")
    answer = stage.a.ask(stage.a.request(0))
    assert answer.error_code == 122 and not answer.responses
