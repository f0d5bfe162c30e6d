"""Ready tests of applications that log in: right ones of two libraries pass, and each planted mistake
is found."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

pytest.importorskip("kafka")
pytest.importorskip("confluent_kafka")
pytest.importorskip("trustme")

import kafka
from confluent_kafka import KafkaException
from kafka.errors import KafkaError

from coordinator import Emulator
from coordinator.kit.ready_tests import findings as f
from coordinator.kit.ready_tests.security_cases import SecurityCases
from coordinator.kit.ready_tests.under_test import ApplicationError, ApplicationUnderTest
from tests.testing.small_applications import CommitsEach, KafkaPython

PATIENCE_S = 60.0
PASSWORD, RIGHT, CERTIFICATE = (
    "test_its_password_changes",
    "test_a_right_is_taken_away_and_given_back",
    "test_its_servers_certificate_is_renewed",
)
CASES = (PASSWORD, RIGHT, CERTIFICATE)
ACLS = ["User:billing may Read topic orders", "User:billing may Read group billing"]
QUICK = {
    "confluent-kafka": {
        "heartbeat.interval.ms": 100,
        "reconnect.backoff.max.ms": 500,
        "session.timeout.ms": 6_000,
    },
    "kafka-python": {"session_timeout_ms": 6_000},
}
"""Whose LeaveGroup is refused is missed when its session ends."""


DEFAULTS: tuple[tuple[type[Any], str, dict[str, Any]], ...] = (
    (CommitsEach, "confluent-kafka", {}),
    (CommitsEach, "confluent-kafka", {"group.protocol": "consumer"}),
    (KafkaPython, "kafka-python", {}),
)


class SkipsWhatItMissed(KafkaPython):
    """Once it was refused it lets the first record of each partition pass. Beginning at the end would
    be a mistake, too, whose finding depends on what has been produced by then."""

    def __init__(self) -> None:
        super().__init__()
        self.begun: set[int] = set()

    def work(self, topic: str, partition: int, offset: int) -> None:
        if self.error is None or partition in self.begun:
            super().work(topic, partition, offset)
        self.begun |= {partition} if self.error is not None else set()


class SeeksToBeginning(kafka.ConsumerRebalanceListener):  # type: ignore[misc]
    """Begins anew, whatever is committed."""

    def __init__(self, consumer: Any) -> None:
        self.consumer = consumer

    def on_partitions_assigned(self, assigned: Any) -> None:
        if assigned:
            self.consumer.seek_to_beginning(*assigned)

    def on_partitions_revoked(self, revoked: Any) -> None:
        pass


class WorksTwice(KafkaPython):
    """Once it was refused it begins anew."""

    def subscribe(self, consumer: Any) -> None:
        again = None if self.error is None else SeeksToBeginning(consumer)
        consumer.subscribe([self.topic], listener=again)


class EndsInSilence(KafkaPython):
    """It ends when it is refused, and tells nobody."""

    def _run(self) -> None:
        with suppress(KafkaError):
            self.live()


class BeginsAnew(CommitsEach):
    """Right: when it is refused it closes its consumer and makes another one."""

    def live(self) -> None:
        while not self.ending.is_set():
            with suppress(KafkaException):
                super().live()


def judged(
    application: Any,
    library: str,
    case: str,
    patience_s: float = PATIENCE_S,
    settings: dict[str, Any] | None = None,
) -> None:
    """Play one case. Raises ApplicationError."""
    more = QUICK[library] if settings is None else settings
    with Emulator(
        security="SASL_SSL", users={"billing": "secret"}, acls=ACLS, remember=200_000
    ) as emulator:
        application.settings = emulator.client_config(library, user="billing") | more
        under_test = ApplicationUnderTest(emulator, application, patience_s=patience_s)
        try:
            getattr(SecurityCases(), case)(under_test)
        finally:
            under_test.close()


@pytest.mark.parametrize("case", CASES)
def test_an_application_that_goes_on_or_ends_with_an_error_is_right(case: str) -> None:
    judged(CommitsEach(), "confluent-kafka", case)


@pytest.mark.parametrize("case", CASES)
def test_kafka_python(case: str) -> None:
    judged(KafkaPython(), "kafka-python", case)


@pytest.mark.parametrize(("kind", "library", "settings"), DEFAULTS)
def test_a_session_that_nobody_could_end_is_not_waited_for(
    kind: type[Any], library: str, settings: dict[str, Any]
) -> None:
    """With all defaults: the LeaveGroup of who is refused is refused, too, and its member stays for a
    session of 45 s, longer than this patience."""
    judged(kind(), library, RIGHT, 30.0, settings)


def test_who_makes_a_new_consumer_is_right_too() -> None:
    judged(BeginsAnew(), "confluent-kafka", RIGHT, 30.0, {})


@pytest.mark.parametrize(
    ("kind", "finding"),
    [(SkipsWhatItMissed, f.AHEAD), (WorksTwice, f.AGAIN), (EndsInSilence, f.NO_RECOVERY)],
)
def test_each_mistake_is_found(kind: type[KafkaPython], finding: str) -> None:
    patience_s = 5.0 if finding == f.NO_RECOVERY else PATIENCE_S
    with pytest.raises(ApplicationError) as found:
        judged(kind(), "kafka-python", RIGHT, patience_s)
    assert finding in {each.name for each in found.value.findings}, found.value


@pytest.mark.parametrize(
    ("options", "case", "why"),
    [
        ({}, PASSWORD, "there are no logins here"),
        ({}, RIGHT, "there is no authorizer"),
        ({}, CERTIFICATE, "no listener speaks TLS"),
        ({"super_users": ["User:billing"]}, RIGHT, "no ACL gives User:billing"),
    ],
)
def test_what_an_emulator_does_not_have_is_skipped(
    options: dict[str, Any], case: str, why: str
) -> None:
    with Emulator(**options, remember=10_000) as emulator:
        application = CommitsEach()
        application.settings = {"heartbeat.interval.ms": 100}
        if options:
            emulator.grant("User:ANONYMOUS may All topic *", "User:ANONYMOUS may All group *")
        under_test = ApplicationUnderTest(emulator, application, patience_s=PATIENCE_S)
        try:
            with pytest.raises(pytest.skip.Exception, match=why):
                getattr(SecurityCases(), case)(under_test)
        finally:
            under_test.close()
