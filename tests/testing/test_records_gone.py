"""Records that retention or compaction took while an application was away: who goes on with what is
left passes, who does not is told what became of it."""

from __future__ import annotations

import threading
from typing import Any

import pytest

pytest.importorskip("kafka")

from kafka import KafkaConsumer

from coordinator import Emulator
from coordinator.kit.ready_tests import findings as f
from coordinator.kit.ready_tests.cases import ConsumerCases
from coordinator.kit.ready_tests.under_test import ApplicationError, ApplicationUnderTest


class Application:
    """A consumer that commits what it has processed."""

    topic, group = "orders", "billing"

    def __init__(self, reset: str) -> None:
        self.reset = reset
        self.done: list[tuple[str, int, int]] = []
        self.error: BaseException | None = None

    def start(self, bootstrap_servers: str) -> None:
        self.ending = threading.Event()
        self.thread = threading.Thread(target=self.run, args=(bootstrap_servers,), daemon=True)
        self.thread.start()

    def stop(self) -> None:
        self.ending.set()
        self.thread.join()

    kill = stop

    def processed(self) -> list[tuple[str, int, int]]:
        return list(self.done)

    def run(self, bootstrap_servers: str) -> None:
        consumer: Any = KafkaConsumer(
            self.topic,
            bootstrap_servers=bootstrap_servers,
            group_id=self.group,
            enable_auto_commit=False,
            auto_offset_reset=self.reset,
            heartbeat_interval_ms=100,
        )
        try:
            consumer.partitions_for_topic(self.topic)
            while not self.ending.is_set():
                polled = consumer.poll(timeout_ms=50)
                for records in polled.values():
                    self.done += [(each.topic, each.partition, each.offset) for each in records]
                if polled:
                    consumer.commit()
        except Exception as error:
            self.error = error
        finally:
            consumer.close(autocommit=False)


class ChangesItsMind(Application):
    """It begins at the start of its topic, and goes on with another setting."""

    def start(self, bootstrap_servers: str) -> None:
        now, self.reset = self.reset, "earliest" if not self.done else self.reset
        super().start(bootstrap_servers)
        self.reset = now


def play(kafka: Emulator, application: Application, case: str) -> None:
    under_test = ApplicationUnderTest(kafka, application, patience_s=30.0)
    try:
        getattr(ConsumerCases(), case)(under_test)
    finally:
        under_test.close()


def test_who_goes_on_with_what_is_left_passes(kafka: Emulator) -> None:
    play(kafka, Application("earliest"), "test_records_that_are_gone")
    assert kafka.events("SegmentsDeleted")


def test_gaps_of_compaction_are_no_gaps_of_the_application(kafka: Emulator) -> None:
    play(kafka, Application("earliest"), "test_a_key_is_compacted")
    assert kafka.events("LogCompacted")


@pytest.mark.parametrize(("reset", "name"), [("latest", f.AHEAD), ("none", f.ENDED)])
def test_who_does_not_is_told_so(kafka: Emulator, reset: str, name: str) -> None:
    """Who begins at the end of the log commits beyond records that it never had; who has no way to
    go on ends."""
    with pytest.raises(ApplicationError) as told:
        play(kafka, ChangesItsMind(reset), "test_records_that_are_gone")
    assert told.value.findings[0].name == name
