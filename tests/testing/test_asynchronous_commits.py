"""A refused asynchronous commit has a consequence in an application that is told of it; of one that
has no callback for that nothing can be told."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("kafka")
pytest.importorskip("confluent_kafka")

from coordinator import Emulator
from coordinator.kit.ready_tests import findings as f
from coordinator.kit.ready_tests.cases import ConsumerCases
from coordinator.kit.ready_tests.under_test import ApplicationError, ApplicationUnderTest
from tests.testing import asynchronous_commits as applications
from tests.testing import small_applications as small

CASE = "test_commits_are_refused_for_good"
QUICK = pytest.mark.kafka(config={"group.consumer.heartbeat.interval.ms": 100})


def play(kafka: Emulator, application: Any, patience_s: float) -> str:
    under_test = ApplicationUnderTest(kafka, application, patience_s=patience_s)
    try:
        getattr(ConsumerCases(), CASE)(under_test)
        return under_test.reservations()
    finally:
        under_test.close()


@QUICK
@pytest.mark.parametrize("application", applications.RIGHT)
def test_who_ends_when_its_callback_is_told_passes(kafka: Emulator, application: Any) -> None:
    assert play(kafka, application(), 120.0) == ""


@QUICK
@pytest.mark.parametrize("application", applications.WRONG)
def test_who_goes_on_is_named(kafka: Emulator, application: Any) -> None:
    wrong = application()
    with pytest.raises(ApplicationError) as found:
        play(kafka, wrong, 8.0)
    assert found.value.findings[0].name == f.SWALLOWED, found.value
    assert "refused with GROUP_AUTHORIZATION_FAILED" in found.value.findings[0].text
    assert wrong.refusals > 0  # it was told


@pytest.mark.parametrize("application", [small.CommitsWithoutWaiting, small.StoresOffsets])
def test_of_who_has_no_callback_nothing_is_said(kafka: Emulator, application: Any) -> None:
    said = play(kafka, application(), 120.0)
    assert "whether it looks at the errors of its commits could not be told" in said


def test_who_ends_needs_not_say_that_it_looks(kafka: Emulator) -> None:
    play(kafka, applications.LooksAndDoesNotSay(), 120.0)


def test_who_waits_for_its_commits_is_told_nothing_new(kafka: Emulator) -> None:
    assert play(kafka, small.CommitsEach(), 120.0) == ""
