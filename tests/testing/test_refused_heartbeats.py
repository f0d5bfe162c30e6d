"""A member of a consumer group (KIP-848) whose heartbeat is refused for good: it ends, or it is
named."""

from __future__ import annotations

from contextlib import suppress
from threading import Event
from typing import Any

import pytest

pytest.importorskip("kafka")
pytest.importorskip("confluent_kafka")

from confluent_kafka import KafkaException

from coordinator import Emulator
from coordinator.events.line import Line
from coordinator.events.wire import RequestRefused, RequestSeen
from coordinator.kit.ready_tests import findings as f
from coordinator.kit.ready_tests.cases import ConsumerCases
from coordinator.kit.ready_tests.refused_heartbeats import FATAL, could_not_leave, goes_on, sits
from coordinator.kit.ready_tests.under_test import ApplicationError, ApplicationUnderTest
from tests.lines import event, line
from tests.testing import small_applications as small

pytestmark = pytest.mark.kafka(config={"group.consumer.heartbeat.interval.ms": 100})


def refused(error: str = "INVALID_REQUEST", api: str = "consumer_group_heartbeat") -> Line:
    of = event(RequestRefused, api=api, peer="here", errors=(error,))
    return line(of, seq=7, at_ms=40, group="billing", member="m")


class Stores(small.StoresOffsets):
    """Right: the library commits what was processed."""

    settings = {**small.StoresOffsets.settings, **small.NewProtocol.settings}  # noqa: RUF012 - replaced, not changed


class BeginsAgain(Stores):
    """Right: makes a new consumer when one was refused for good."""

    def live(self) -> None:
        while not self.ending.is_set():
            with suppress(KafkaException):
                super().live()


class LooksAway(Stores):
    """Does not look at the errors that its poll gives. `told`: there was one."""

    def __init__(self) -> None:
        super().__init__()
        self.told = Event()

    def failed(self, error: Any) -> None:
        self.told.set()


class LooksAtFatal(Stores):
    """Looks at `fatal()` only, which says False of the message that tells of a fatal error."""

    def failed(self, error: Any) -> None:
        if error.fatal():
            raise KafkaException(error)


@pytest.mark.parametrize("application", [Stores, BeginsAgain, small.NewProtocol])
def test_who_ends_is_not_blamed(kafka: Emulator, application: type[small.Small]) -> None:
    under_test = ApplicationUnderTest(kafka, application(), patience_s=60.0)
    try:
        ConsumerCases().test_commits_are_refused_for_good(under_test)
    finally:
        under_test.close()


@pytest.mark.parametrize("application", [LooksAway, LooksAtFatal])
def test_who_goes_on_is_named(kafka: Emulator, application: type[small.Small]) -> None:
    under_test = ApplicationUnderTest(kafka, application(), patience_s=60.0)
    try:
        under_test.start()
        under_test.patience_s = 5.0
        with pytest.raises(
            ApplicationError, match=r"GROUP_AUTHORIZATION_FAILED .*its consumer is still open"
        ) as found:
            ConsumerCases()._refused_everything(under_test)
        assert found.value.findings[0].name == f.SWALLOWED
    finally:
        under_test.close()


@pytest.mark.parametrize("error", ["UNRELEASED_INSTANCE_ID", "INVALID_REQUEST"])
def test_it_is_told_with_what_did_not_come(kafka: Emulator, error: str) -> None:
    application = LooksAway()
    under_test = ApplicationUnderTest(kafka, application, patience_s=60.0)
    try:
        under_test.start()
        # more than once: librdkafka gives up a heartbeat whose answer takes a second or so
        with kafka.fail("ConsumerGroupHeartbeat", error, group="billing"):
            assert application.told.wait(60.0)  # it reads nothing from now on
        under_test.patience_s = 0.5
        under_test.produce(6)
        with pytest.raises(ApplicationError, match=f"was refused with {error}") as found:
            under_test.wait_done()
        assert found.value.findings[0].name == f.SWALLOWED
    finally:
        under_test.close()


def test_only_a_member_that_is_connected_and_was_refused_for_good_goes_on() -> None:
    assert [finding.name for finding in goes_on([refused()], "billing", {"m"}, {"here"})] == [
        f.SWALLOWED
    ]
    assert not goes_on([refused()], "billing", {"m"}, {"there"})
    assert not goes_on([refused()], "billing", {"n"}, {"here"})
    assert not goes_on([refused()], "another", {"m"}, {"here"})
    assert not goes_on([refused(api="heartbeat")], "billing", {"m"}, {"here"})
    for error in (
        "FENCED_MEMBER_EPOCH",
        "UNKNOWN_MEMBER_ID",
        "NOT_COORDINATOR",
        "COORDINATOR_LOAD_IN_PROGRESS",
    ):
        assert error not in FATAL
        assert not goes_on([refused(error)], "billing", {"m"}, {"here"})


def test_who_asks_for_nothing_after_an_error_for_good_is_told_to_sit() -> None:
    def said(seq: int, kind: type, **fields: Any) -> Line:
        return line(event(kind, **fields), seq=seq, at_ms=seq, group="g", member="app")

    error = ("GROUP_AUTHORIZATION_FAILED",)
    lasting = said(1, RequestRefused, api="offset_commit", errors=error)
    (found,) = sits([lasting], "g", {"app"}, ())
    assert (found.name, "offset_commit of app" in found.text) == (f.SWALLOWED, True)
    assert sits([lasting, said(2, RequestSeen, api="join_group")], "g", {"app"}, ()) == []
    assert sits([lasting], "g", {"peer"}, ()) == []
    passing = said(1, RequestRefused, api="offset_commit", errors=("REBALANCE_IN_PROGRESS",))
    assert sits([passing], "g", {"app"}, ()) == []


def test_who_could_not_leave_does_not_sit() -> None:
    """Its consumer was closed, by its last request or by its connection."""

    def refused_to(api: str, peer: str | None = None) -> Line:
        error = ("GROUP_AUTHORIZATION_FAILED",)
        told = event(RequestRefused, api=api, errors=error, peer=peer)
        return line(told, seq=1, at_ms=1, group="g", member="app")

    leaves, beats = refused_to("leave_group"), refused_to("consumer_group_heartbeat", "here")
    for lines, connected, gone in (
        ([leaves], {"here"}, {"app"}),
        ([beats], (), {"app"}),
        ([beats], {"here"}, set()),
        ([refused_to("offset_commit"), leaves], (), {"app"}),
        ([leaves, beats], {"here"}, set()),
    ):
        assert could_not_leave(lines, "g", {"app"}, connected) == gone
        assert bool(sits(lines, "g", {"app"}, connected)) == (not gone)
