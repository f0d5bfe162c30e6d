"""Applications that put records which fail aside: a record that can never be processed may be left
out of what was processed; one that would succeed the next time may not."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("kafka")
pytest.importorskip("confluent_kafka")

from coordinator import Emulator
from coordinator.kit.ready_tests import findings as f
from coordinator.kit.ready_tests.cases import ConsumerCases
from coordinator.kit.ready_tests.under_test import ApplicationError, ApplicationUnderTest
from tests.testing.small_applications import CommitsEach

PATIENCE_S = 120.0


class PutsAside(CommitsEach):
    """Puts aside every record that fails, at once, and commits behind it. It has processed the
    others."""

    poison, flaky = b"fails always", b"fails once"

    def work(self, topic: str, partition: int, offset: int) -> None:
        if self.value not in (self.poison, self.flaky):
            super().work(topic, partition, offset)

    def handle(self, consumer: Any, message: Any) -> None:
        self.value = message.value()
        super().handle(consumer, message)


def play(kafka: Emulator, case: str) -> None:
    under_test = ApplicationUnderTest(kafka, PutsAside(), patience_s=PATIENCE_S)
    try:
        getattr(ConsumerCases(), case)(under_test)
    finally:
        under_test.close()


def test_a_record_that_can_never_be_processed_may_be_put_aside(kafka: Emulator) -> None:
    play(kafka, "test_a_record_can_never_be_processed")


def test_a_record_that_would_succeed_the_next_time_may_not(kafka: Emulator) -> None:
    with pytest.raises(ApplicationError) as found:
        play(kafka, "test_a_record_fails_once")
    assert found.value.findings[0].name == f.AHEAD, found.value
