"""An application that works in transactions passes the cases for such, and three mistakes of such
applications are found and named."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator import Emulator
from coordinator.events.wire import RequestSeen
from coordinator.kit.ready_tests import findings
from coordinator.kit.ready_tests.cases import ConsumerCases
from coordinator.kit.ready_tests.under_test import ApplicationError, ApplicationUnderTest

pytest.importorskip("kafka")
pytest.importorskip("confluent_kafka")

from examples.consumers.transactional_application import TransactionalApplication
from tests.lines import event, line
from tests.testing import small_transactions as small

FENCED, REFUSED, ABORTED = (
    "test_its_transaction_is_fenced_midway",
    "test_the_offsets_of_a_transaction_are_refused",
    "test_what_others_aborted_is_not_answered",
)


class ReadsUncommitted(TransactionalApplication):
    """Reads whatever stands in its topic."""

    def reading(self) -> dict[str, Any]:
        return {"isolation.level": "read_uncommitted"}


class NeverAborts(TransactionalApplication):
    """Goes on after an error as if nothing had happened."""

    def failed(self, consumer: Any, producer: Any) -> None:
        pass


class DoesNotGoBack(TransactionalApplication):
    """Aborts, and reads on behind the records whose answers it has aborted."""

    def failed(self, consumer: Any, producer: Any) -> None:
        producer.abort_transaction(30)


def play(kafka: Emulator, application: Any, case: str, patience_s: float = 120.0) -> None:
    kafka.create_topic(application.output_topic, 1)
    under_test = ApplicationUnderTest(kafka, application, patience_s=patience_s)
    try:
        getattr(ConsumerCases(), case)(under_test)
    finally:
        under_test.close()


@pytest.mark.parametrize("case", [FENCED, REFUSED, ABORTED])
def test_a_right_application_passes(kafka: Emulator, case: str) -> None:
    play(kafka, TransactionalApplication(), case)


@pytest.mark.parametrize(
    ("application", "case", "name", "patience_s"),
    [
        pytest.param(ReadsUncommitted, ABORTED, findings.ABORTED, 120.0, id="ReadsUncommitted"),
        pytest.param(DoesNotGoBack, REFUSED, findings.GAP, 120.0, id="DoesNotGoBack"),
        pytest.param(
            NeverAborts,
            REFUSED,
            findings.LEFT_OPEN,
            30.0,
            id="NeverAborts",
            marks=pytest.mark.thorough,
        ),
    ],
)
def test_a_planted_mistake_is_found(
    kafka: Emulator, application: Any, case: str, name: str, patience_s: float
) -> None:
    with pytest.raises(ApplicationError) as found:
        play(kafka, application(), case, patience_s)
    assert name in {finding.name for finding in found.value.findings}, found.value


GETS = "test_another_member_gets_what_waits"
BEAT = pytest.mark.kafka(config={"group.consumer.heartbeat.interval.ms": 100})


@BEAT
@pytest.mark.parametrize("application", [small.KeepsItsBuffer, small.KeepsItsBufferInNewProtocol])
def test_who_ignores_revocation_is_named(kafka: Emulator, application: Any) -> None:
    """Brokers accept its transactions: they do not ask who has the partition."""
    with pytest.raises(ApplicationError) as found:
        play(kafka, application(), GETS)
    assert found.value.findings[0].name == findings.AFTER_LOSING, found.value


@BEAT
@pytest.mark.parametrize("case", [GETS, "test_members_come_and_go_quickly"])
@pytest.mark.parametrize("application", [small.Answers, small.Buffers, small.BuffersInNewProtocol])
def test_who_drops_what_it_loses_is_not(kafka: Emulator, application: Any, case: str) -> None:
    play(kafka, application(), case)


def test_commits_in_no_transaction_and_second_answers_are_found() -> None:
    place = ("orders", 0)
    lines = [line(event(RequestSeen, api="offset_commit"), seq=7)]
    commit = findings.CommitSeen({place: 1}, 1, "app", 7)
    once = findings.exactly_once([(*place, 0)], {place: [0]}, [], lines)
    assert once == []
    found = findings.exactly_once(
        [(*place, 0), (*place, 0), (*place, 1)], {place: [0]}, [commit], lines
    )
    assert [finding.name for finding in found] == [
        findings.OUTSIDE,
        findings.TWICE,
        findings.ABORTED,
    ]
    assert "KIP-447" not in found[1].text


def test_second_answers_are_told_whose_offsets_name_no_member() -> None:
    place = ("orders", 0)
    asked = event(RequestSeen, api="txn_offset_commit")
    by_none, by_member = line(asked, seq=7), line(asked, seq=7, member="m")
    twice = [(*place, 0), (*place, 0), (*place, 1), (*place, 1)]
    first, second = findings.exactly_once(twice, {place: [0, 1]}, [], [by_none])
    assert "name no member, and a broker accepts such offsets also for partitions" in first.text
    assert "KIP-447" not in second.text  # once is enough
    (named, _) = findings.exactly_once(twice, {place: [0, 1]}, [], [by_member])
    assert "KIP-447" not in named.text
