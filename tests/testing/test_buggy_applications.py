"""Every planted mistake of the example applications is found by the ready tests, and named."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator import Emulator
from coordinator.kit.ready_tests import findings
from coordinator.kit.ready_tests.cases import ConsumerCases
from coordinator.kit.ready_tests.under_test import ApplicationError, ApplicationUnderTest
from examples.consumers import bugs
from tests.testing.applications import LIBRARIES, application_class

CASES: dict[Any, tuple[str, set[str]]] = {
    bugs.CommitsAhead: ("test_it_dies_without_leaving", {findings.AHEAD}),
    bugs.IgnoresRevocation: (
        "test_another_member_comes_and_goes",
        {findings.FOREIGN, findings.AFTER_LOSING, findings.AGAIN},
    ),
    bugs.CommitsAfterLosing: (
        "test_its_session_expires",
        {findings.AFTER_LOSING, findings.NO_RECOVERY, findings.BLOCKS},
    ),
    bugs.DoesNotSeekBack: ("test_a_record_fails_once", {findings.GAP, findings.AHEAD}),
    bugs.BlocksInListener: ("test_members_come_and_go_quickly", {findings.BLOCKS}),
    bugs.SwallowsErrors: ("test_commits_are_refused_for_good", {findings.SWALLOWED}),
    bugs.CommitsTheLastOffset: ("test_everything_is_processed_and_committed", {findings.BEHIND}),
    bugs.StopsWithoutCommitting: (
        "test_it_stops_in_the_middle_of_its_work",
        {findings.NOT_COMMITTED},
    ),
    bugs.ResumesFromMemory: (
        "test_another_member_does_some_of_the_work",
        {findings.IGNORES_COMMITTED},
    ),
}
"""For each mistake the case that finds it, and the names that it may get. aiokafka itself refuses
commits for lost partitions: there an application that goes on trying never commits again.
librdkafka that is told UNKNOWN_MEMBER_ID for such a commit while it joins was seen to give that
join up until its session is over: its group waits for it."""
PATIENCE_S = {
    bugs.BlocksInListener: 1.5,
    bugs.SwallowsErrors: 1.5,
    bugs.CommitsAfterLosing: 30.0,
    bugs.CommitsTheLastOffset: 1.0,
}
"""Where the finding is that something never happens: how long it is awaited, once the application
has started; a commit, once it has processed everything."""
QUICK = {
    (bugs.CommitsAhead, "kafka-python"),
    (bugs.SwallowsErrors, "kafka-python"),
    (bugs.IgnoresRevocation, "aiokafka"),
    (bugs.DoesNotSeekBack, "aiokafka"),
    (bugs.CommitsAfterLosing, "confluent-kafka"),
    (bugs.BlocksInListener, "confluent-kafka"),
    (bugs.CommitsTheLastOffset, "kafka-python"),
    (bugs.StopsWithoutCommitting, "aiokafka"),
    (bugs.ResumesFromMemory, "confluent-kafka"),
}
"""The others are for `make fuzz`."""


class _Watched(ApplicationUnderTest):
    def start(self) -> None:
        super().start()
        if not isinstance(self.application, bugs.CommitsTheLastOffset):
            self._hurry()

    def wait_done(self) -> None:
        if isinstance(self.application, bugs.CommitsTheLastOffset):
            done = lambda: self._processed_below(self.ends())  # noqa: E731
            self.wait_until(done, "it did not process everything")
            self._hurry()
        super().wait_done()

    def _hurry(self) -> None:
        self.patience_s = PATIENCE_S.get(type(self.application).__mro__[1], self.patience_s)


@pytest.mark.parametrize(
    ("bug", "library"),
    [
        pytest.param(
            bug,
            library,
            id=f"{bug.__name__}-{library}",
            marks=() if (bug, library) in QUICK else pytest.mark.thorough,
        )
        for bug in CASES
        for library in LIBRARIES
    ],
)
def test_a_planted_mistake_is_found(kafka: Emulator, bug: Any, library: str) -> None:
    case, names = CASES[bug]
    under_test = _Watched(kafka, bugs.buggy(bug, application_class(library))(), patience_s=120.0)
    try:
        with pytest.raises(ApplicationError) as found:
            getattr(ConsumerCases(), case)(under_test)
        assert names & {finding.name for finding in found.value.findings}, found.value
    finally:
        under_test.close()
