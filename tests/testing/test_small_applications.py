"""Applications of strangers: each mistake is found and named first, and those without one are never
blamed. It is for `make fuzz`."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("kafka")
pytest.importorskip("aiokafka")
pytest.importorskip("confluent_kafka")

from coordinator import Emulator
from coordinator.kit.ready_tests import findings as f
from coordinator.kit.ready_tests.cases import ConsumerCases
from coordinator.kit.ready_tests.under_test import ApplicationError, ApplicationUnderTest
from tests.testing import (
    batches_in_kafka_python,
    left_over,
    ownership_in_confluent,
    slow_applications,
    tasks_in_aiokafka,
    threads_in_confluent,
)
from tests.testing import small_applications as small
from tests.testing import small_transactions as transactions

PATIENCE_S = 120.0
QUICK_HEARTBEATS = {"group.consumer.heartbeat.interval.ms": 100}
EVERYTHING, STOPS, COMES = (
    "test_everything_is_processed_and_committed",
    "test_it_stops_in_the_middle_of_its_work",
    "test_another_member_comes_and_goes",
)
FORGOTTEN = "test_a_refused_commit_is_made_again"
WAITS = "test_another_member_gets_what_waits"
OVERTAKEN, SHARED_WORK = (
    "test_a_rebalance_overtakes_a_commit",
    "test_another_member_does_some_of_the_work",
)
CASES: dict[type[small.Small], tuple[str, set[str], float]] = {
    small.CommitsFirst: (EVERYTHING, {f.AHEAD}, PATIENCE_S),
    small.CommitsFirstInNewProtocol: (EVERYTHING, {f.AHEAD}, PATIENCE_S),
    small.WorksOnThreads: (EVERYTHING, {f.AHEAD}, PATIENCE_S),
    small.CommitsTheHighest: (EVERYTHING, {f.AHEAD}, PATIENCE_S),
    small.CommitsTheOffset: (EVERYTHING, {f.BEHIND}, 5.0),
    small.CommitsOneTooMany: (EVERYTHING, {f.AHEAD, f.BEYOND}, 5.0),
    small.NeverCommits: (EVERYTHING, {f.BEHIND}, 5.0),
    small.AssignsItself: (EVERYTHING, {f.NO_MEMBER}, 5.0),
    small.DrawsItsGroup: (EVERYTHING, {f.ELSEWHERE}, 5.0),
    small.BeginsAnew: (SHARED_WORK, {f.AGAIN, f.IGNORES_COMMITTED, f.AFTER_LOSING}, PATIENCE_S),
    small.CommitsWhatItIsGiven: (EVERYTHING, {f.AHEAD}, PATIENCE_S),
    small.KeepsItsBuffer: (COMES, {f.AFTER_LOSING, f.FOREIGN, f.AGAIN}, PATIENCE_S),
    small.NewConsumerForEachError: (OVERTAKEN, {f.LEAVES}, PATIENCE_S),
    small.DoesNotClose: (STOPS, {f.DOES_NOT_LEAVE}, 5.0),
    small.SharesItsInstance: (EVERYTHING, {f.SHARED}, 20.0),
    small.SwallowsErrors: ("test_commits_are_refused_for_good", {f.SWALLOWED}, 8.0),
    small.ForgetsRefusedCommits: (FORGOTTEN, {f.FORGETS}, PATIENCE_S),
    small.ForgetsRefusedCooperatively: (FORGOTTEN, {f.FORGETS}, PATIENCE_S),
    small.CommitsThePoll: (EVERYTHING, {f.AHEAD}, PATIENCE_S),
    transactions.AnswersWithoutOffsets: (EVERYTHING, {f.OUTSIDE}, PATIENCE_S),
    transactions.DrawsItsTransactionalId: (EVERYTHING, {f.OTHER_ID}, PATIENCE_S),
    transactions.AnswersWhatWasAborted: (
        "test_what_others_aborted_is_not_answered",
        {f.ABORTED},
        PATIENCE_S,
    ),
    transactions.GoesOnBehindAnAbort: (
        "test_the_offsets_of_a_transaction_are_refused",
        {f.GAP},
        PATIENCE_S,
    ),
    threads_in_confluent.NeverResumes: (COMES, {f.STOPS_READING}, 8.0),
    threads_in_confluent.CommitsPositions: (COMES, {f.AHEAD}, PATIENCE_S),
    batches_in_kafka_python.StoresAhead: (EVERYTHING, {f.GAP}, 8.0),
    batches_in_kafka_python.OneOffsetForAll: (EVERYTHING, {f.AHEAD, f.BEYOND}, 8.0),
    batches_in_kafka_python.BeginsAtTheEnd: (EVERYTHING, {f.READS_NOTHING}, 5.0),
    batches_in_kafka_python.QueuesWhatItPolls: (EVERYTHING, {f.AHEAD}, PATIENCE_S),
    batches_in_kafka_python.SubscribesAnew: (EVERYTHING, {f.RESTLESS}, PATIENCE_S),
    batches_in_kafka_python.SkipsWhatFailed: (EVERYTHING, {f.AHEAD}, PATIENCE_S),
    tasks_in_aiokafka.CommitsInATask: (EVERYTHING, {f.AHEAD}, PATIENCE_S),
    tasks_in_aiokafka.WorksInTasks: (EVERYTHING, {f.AHEAD}, PATIENCE_S),
    tasks_in_aiokafka.WorksTooLong: (EVERYTHING, {f.BLOCKS}, 8.0),
    tasks_in_aiokafka.HidesRefusals: ("test_commits_are_refused_for_good", {f.SWALLOWED}, 8.0),
    threads_in_confluent.BufferInNewProtocol: (
        COMES,
        {f.AFTER_LOSING, f.FOREIGN, f.AGAIN},
        PATIENCE_S,
    ),
    threads_in_confluent.AnswersTheLastAgain: (EVERYTHING, {f.BEHIND}, 8.0),
    threads_in_confluent.AnswersBeforeItsTransaction: (EVERYTHING, {f.GAP}, PATIENCE_S),
    ownership_in_confluent.CommitsForItsNeighbour: (EVERYTHING, {f.AHEAD}, 5.0),
    ownership_in_confluent.FlushesByTheClock: (WAITS, {f.AFTER_LOSING, f.FOREIGN}, PATIENCE_S),
    ownership_in_confluent.FlushesInNewProtocol: (WAITS, {f.AFTER_LOSING, f.FOREIGN}, PATIENCE_S),
    ownership_in_confluent.DrawsItsInstance: (EVERYTHING, {f.OTHER_INSTANCE}, 5.0),
    ownership_in_confluent.PausesWhatItIsGiven: (COMES, {f.STOPS_READING}, 8.0),
    ownership_in_confluent.TakesTooLong: (EVERYTHING, {f.RESTLESS}, 20.0),
    ownership_in_confluent.KeepsTheLast: (EVERYTHING, {f.KEEPS_BACK}, 5.0),
    # What its worker does while the consumer closes is done in time, and never committed.
    left_over.LeavesItsWorker: (STOPS, {f.WORKS_ON, f.NOT_COMMITTED}, PATIENCE_S),
    left_over.CommitsWhereItBegan: (COMES, {f.GOES_BACK}, PATIENCE_S),
    left_over.EndsByItsOwnError: (EVERYTHING, {f.ENDED}, PATIENCE_S),
    left_over.GivesUpInSilence: (FORGOTTEN, {f.NO_RECOVERY}, PATIENCE_S),
    slow_applications.FillsItsBatch: (EVERYTHING, {f.AHEAD}, PATIENCE_S),
    slow_applications.BlocksWhenRevoked: (COMES, {f.BLOCKS}, PATIENCE_S),
    slow_applications.BlocksInNewProtocol: (COMES, {f.BLOCKS}, PATIENCE_S),
    slow_applications.LooksAtNoError: ("test_commits_are_refused_for_good", {f.SWALLOWED}, 8.0),
    slow_applications.HidesRefusedCommits: (
        "test_commits_are_refused_for_good",
        {f.SWALLOWED},
        8.0,
    ),
}
"""For each mistake a case that finds it, the names that its first finding may have, and how long
what never happens is awaited."""
RIGHT = (
    *small.RIGHT,
    transactions.Answers,
    *threads_in_confluent.RIGHT,
    *batches_in_kafka_python.RIGHT,
    *tasks_in_aiokafka.RIGHT,
    *ownership_in_confluent.RIGHT,
)


class Hopeless(ApplicationUnderTest):
    """Sees to it that an application that gives up has done so when the case goes on; what never
    comes then is awaited for a moment."""

    def produce(self, count: int, value: bytes = b"record") -> None:
        super().produce(count, value)
        if count == 1:  # the one record of FORGOTTEN, whose commit is refused
            assert self.application.given_up.wait(self.patience_s)
            self.patience_s = 1.0


def play(kafka: Emulator, application: Any, case: str, patience_s: float) -> None:
    if hasattr(application, "output_topic"):
        kafka.create_topic(application.output_topic, 1)
    kind = Hopeless if hasattr(application, "given_up") else ApplicationUnderTest
    under_test = kind(kafka, application, patience_s=patience_s)
    try:
        getattr(ConsumerCases(), case)(under_test)
    finally:
        under_test.close()


QUICK = (
    left_over.LeavesItsWorker,
    left_over.CommitsWhereItBegan,
    left_over.EndsByItsOwnError,
    left_over.GivesUpInSilence,
)
"""Names that no other test has; the others are for `make fuzz`."""


@pytest.mark.kafka(config=QUICK_HEARTBEATS)
@pytest.mark.parametrize(
    "application",
    [pytest.param(each, marks=() if each in QUICK else pytest.mark.thorough) for each in CASES],
)
def test_a_mistake_is_named_first(kafka: Emulator, application: type[small.Small]) -> None:
    case, names, patience_s = CASES[application]
    with pytest.raises(ApplicationError) as found:
        play(kafka, application(), case, patience_s)
    assert found.value.findings[0].name in names, found.value


def test_a_position_that_is_taken_back_at_the_stop_is_named(kafka: Emulator) -> None:
    with pytest.raises(ApplicationError) as found:
        play(kafka, left_over.CommitsWhereItBegan(), STOPS, PATIENCE_S)
    assert found.value.findings[0].name == f.GOES_BACK, found.value


def test_every_name_has_an_application() -> None:
    """Here, or in test_buggy_applications, test_explained_repeats, test_transactional_application,
    test_later_topics, test_keys_and_effects."""
    names = {name for _, named, _ in CASES.values() for name in named}
    others = {f.NOT_COMMITTED, f.DUPLICATES, f.TWICE, f.LEFT_OPEN, f.MISSES, f.ORDER, f.REPEATED}
    known = {value for name, value in vars(f).items() if name.isupper() and isinstance(value, str)}
    assert known - names - others == set()


@pytest.mark.thorough
@pytest.mark.kafka(config=QUICK_HEARTBEATS)
@pytest.mark.parametrize(
    "case",
    [
        EVERYTHING,
        STOPS,
        COMES,
        WAITS,
        OVERTAKEN,
        SHARED_WORK,
        "test_its_session_expires",
        "test_it_dies_without_leaving",
    ],
)
@pytest.mark.parametrize("application", RIGHT)
def test_who_makes_none_is_not_blamed(
    kafka: Emulator, application: type[small.Small], case: str
) -> None:
    play(kafka, application(), case, PATIENCE_S)
