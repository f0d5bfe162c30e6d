"""The order of a key and effects that happen once are judged where the application claims them, and
nowhere else."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("kafka")
pytest.importorskip("confluent_kafka")

from coordinator import Emulator
from coordinator.kit.ready_tests import findings as f
from coordinator.kit.ready_tests.cases import ConsumerCases
from coordinator.kit.ready_tests.keys import PER_PARTITION, keys_of, round_the_partitions
from coordinator.kit.ready_tests.under_test import ApplicationError, ApplicationUnderTest
from coordinator.members.partitioners.murmur2 import partition_for_key
from tests.testing import keyed_applications as applications
from tests.testing.applications import LIBRARIES, application_class

EVERYTHING = "test_everything_is_processed_and_committed"
FAILS_ONCE = "test_a_record_fails_once"
HAPPENS_ONCE = "test_an_effect_happens_once"


def play(kafka: Emulator, application: Any, case: str) -> str:
    under_test = ApplicationUnderTest(kafka, application, patience_s=120.0)
    try:
        getattr(ConsumerCases(), case)(under_test)
        return under_test.reservations()
    finally:
        under_test.close()


def named(kafka: Emulator, application: Any, case: str) -> list[str]:
    with pytest.raises(ApplicationError) as found:
        play(kafka, application, case)
    return [finding.name for finding in found.value.findings]


# -- keys


@pytest.mark.parametrize("partitions", [1, 3, 6, 50])
def test_keys_go_round_the_partitions(partitions: int) -> None:
    keys = round_the_partitions(4 * partitions, partitions)
    assert [partition_for_key(key.encode(), partitions) for key in keys] == [
        number % partitions for number in range(4 * partitions)
    ]
    assert all(len(set(there)) == PER_PARTITION for there in keys_of(partitions))


@pytest.mark.parametrize("application", applications.RIGHT)
def test_who_keeps_the_order_or_claims_none_passes(kafka: Emulator, application: Any) -> None:
    assert play(kafka, application(), EVERYTHING) == ""


def test_workers_for_records_break_the_order_of_a_key(kafka: Emulator) -> None:
    assert f.ORDER in named(kafka, applications.WorkerForEachRecord(), EVERYTHING)


def test_a_retry_later_breaks_the_order_of_a_key(kafka: Emulator) -> None:
    assert f.ORDER in named(kafka, applications.RetriesLater(), FAILS_ONCE)


def test_a_retry_in_place_does_not(kafka: Emulator) -> None:
    play(kafka, applications.RetriesInPlace(), FAILS_ONCE)


def test_an_output_topic_of_several_partitions_tells_no_order(kafka: Emulator) -> None:
    class Answers:
        topic, group, output_topic, keeps_key_order = "orders", "billing", "invoices", True
        start = stop = kill = print

    kafka.create_topic("invoices", 2)
    under_test = ApplicationUnderTest(kafka, Answers())
    try:
        assert "invoices has several partitions" in under_test.order_not_judged
        assert under_test.evidence().keys == {}
    finally:
        under_test.close()


# -- effects


def with_effects(library: str, *, idempotent: bool) -> Any:
    """An example application that sends an invoice for each record."""
    sent: list[tuple[str, int, int]] = []

    def invoice(topic: str, partition: int, offset: int, value: bytes) -> None:
        if not (idempotent and (topic, partition, offset) in sent):
            sent.append((topic, partition, offset))

    application = application_class(library)(work=invoice)
    application.effects = lambda: list(sent)
    return application


@pytest.mark.parametrize("library", LIBRARIES)
def test_who_does_nothing_twice_passes(kafka: Emulator, library: str) -> None:
    assert play(kafka, with_effects(library, idempotent=True), HAPPENS_ONCE) == ""


@pytest.mark.parametrize("library", LIBRARIES)
def test_who_does_it_again_is_named(kafka: Emulator, library: str) -> None:
    assert named(kafka, with_effects(library, idempotent=False), HAPPENS_ONCE) == [f.REPEATED]


def test_effects_may_be_ids_and_are_counted() -> None:
    (found,) = f.repeated_effects(["a", "b", "a", "a"])
    assert found.text == "1 effect happened more than once: 'a' 3 times"
    assert f.repeated_effects([("orders", 0, 1), ("orders", 0, 2)]) == []
