"""The three ways in which an application tells what it processed, and what is said of others. Peers
stand in for applications."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from assignors import TopicPartition
from coordinator import Emulator
from coordinator.kit.ready_tests import findings
from coordinator.kit.ready_tests.application_cases import NotJudgedWarning
from coordinator.kit.ready_tests.cases import ConsumerCases
from coordinator.kit.ready_tests.under_test import ApplicationError, ApplicationUnderTest
from coordinator.members.effects import Position

RECORDS = 12


class Application:
    """A member that processes and commits when it is told to; it does not tell what it
    processed."""

    topic = "orders"
    group = "billing"

    def __init__(self, kafka: Emulator) -> None:
        self.kafka = kafka
        self.peer: Any = None
        self.done: set[tuple[str, int, int]] = set()

    def start(self, bootstrap_servers: str) -> None:
        self.peer = self.kafka.group(self.group).peer(
            [self.topic], config={"enable.auto.commit": "false"}
        )

    def stop(self) -> None:
        self.peer.stop()

    def kill(self) -> None:
        self.peer.crash()

    def work(self, leave_out: int = 0) -> None:
        """Process all records, but for the first ones of partition 0, and commit their offsets."""
        for record in self.kafka.records(self.topic):
            place = record.topic, record.partition, record.offset
            if place not in self.done and (record.partition or record.offset >= leave_out):
                self.done.add(place)
                self.note(*place)
        ends = self.kafka.end_offsets(self.topic)
        self.peer.wait_commit(
            {TopicPartition(self.topic, index): Position(end) for index, end in ends.items()}
        )

    def note(self, topic: str, partition: int, offset: int) -> None:
        pass


class TellsByTopic(Application):
    output_topic = "invoices"

    def note(self, topic: str, partition: int, offset: int) -> None:
        headers = {"topic": topic, "partition": str(partition), "offset": str(offset)}
        if self.output_topic not in self.kafka.topics():
            self.kafka.create_topic(self.output_topic, 1)
        self.kafka.produce(self.output_topic, ["done"], headers=headers)


class TellsByOtherHeaders(Application):
    output_topic = "invoices"
    output_headers = ("x-source", "x-source-partition", "x-source-offset")

    def note(self, topic: str, partition: int, offset: int) -> None:
        texts = (topic, str(partition), str(offset))
        if self.output_topic not in self.kafka.topics():
            self.kafka.create_topic(self.output_topic, 1)
        headers = dict(zip(self.output_headers, texts, strict=True)) | {"offset": "no number"}
        self.kafka.produce(self.output_topic, ["done"], headers=headers)


class TellsByHand(Application):
    def note(self, topic: str, partition: int, offset: int) -> None:
        self.kafka.processed(topic, partition, offset)


@pytest.fixture(params=[TellsByTopic, TellsByOtherHeaders, TellsByHand])
def app(request: pytest.FixtureRequest, kafka: Emulator) -> Iterator[ApplicationUnderTest]:
    under_test = ApplicationUnderTest(kafka, request.param(kafka), partitions=2)
    under_test.start()
    yield under_test
    under_test.close()


def test_what_was_processed_is_judged(app: ApplicationUnderTest) -> None:
    app.produce(RECORDS)
    app.application.work()
    app.wait_done()
    assert app.processed() == [
        ("orders", index, offset) for index in (0, 1) for offset in range(RECORDS // 2)
    ]
    assert app.not_judged == ""
    app.verify()
    app.produce(RECORDS)
    app.application.work()
    app.verify()


def test_what_another_member_was_given_is_its_own_before_it_knows(kafka: Emulator) -> None:
    app = ApplicationUnderTest(kafka, Application(kafka), partitions=2)
    app.start()
    with (
        kafka.hold("SyncGroup", client_id="other", times=1) as held,
        app.peer(config={"client.id": "other"}) as peer,
    ):
        held.wait_hit()
        app.wait(findings.BLOCKS, "it did not rejoin", state="Stable", peers=1, assigned="all")
        assert peer.owned == ()
        with app.others_own(peer):
            held.release()
        given = frozenset(app.group.member("other").assignment or ())
    assert [handover.partitions for handover in app.told.handovers] == [given]
    assert len(given) == 1
    app.close()


def test_a_record_that_was_left_out_is_found(app: ApplicationUnderTest) -> None:
    app.produce(RECORDS)
    app.application.work(leave_out=2)
    with pytest.raises(ApplicationError) as found:
        app.verify()
    assert {finding.name for finding in found.value.findings} <= {findings.AHEAD, findings.GAP}


def test_records_of_the_output_topic_without_the_headers_are_told(kafka: Emulator) -> None:
    kafka.create_topic("invoices", 1)
    kafka.produce("invoices", ["done"], headers={"topic": "orders"})
    under_test = ApplicationUnderTest(kafka, TellsByTopic(kafka))
    try:
        with pytest.raises(
            TypeError,
            match=r"the headers topic, partition and offset; this one has .* output_headers says other names",
        ):
            under_test.processed()
    finally:
        under_test.close()


@pytest.mark.parametrize("names", ["topic", ("topic", "partition"), ("a", "b", 3), ("a", "", "c")])
def test_header_names_that_are_none_are_refused(kafka: Emulator, names: object) -> None:
    application = TellsByOtherHeaders(kafka)
    application.output_headers = names  # type: ignore[assignment]
    with pytest.raises(TypeError, match="give the names of the headers for topic, partition and"):
        ApplicationUnderTest(kafka, application)


def test_without_any_of_them_the_cases_say_not_judged(kafka: Emulator) -> None:
    cases = ConsumerCases()
    fixture = ConsumerCases.app._get_wrapped_function()  # type: ignore[attr-defined]
    running = fixture(cases, kafka, Application(kafka))
    app = next(running)
    app.start()
    app.produce(RECORDS)
    app.application.work(leave_out=2)
    app.verify()  # nobody knows
    with pytest.warns(
        NotJudgedWarning,
        match="gaps, duplicates and premature commits are not judged: the application does not tell what",
    ):
        next(running, None)
