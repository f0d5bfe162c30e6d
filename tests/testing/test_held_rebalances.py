"""A case that passes says for how long a member kept a rebalance waiting, if that is long; one that
is quick, and one that the test held up itself, are not named."""

from __future__ import annotations

import time
import warnings
from typing import Any

import pytest

from coordinator import Emulator
from coordinator.kit.ready_tests.application_cases import HeldRebalanceWarning
from coordinator.kit.ready_tests.cases import ConsumerCases
from coordinator.kit.ready_tests.held_rebalances import longest_hold
from coordinator.kit.ready_tests.under_test import ApplicationUnderTest
from coordinator.wire.consumer_protocol import Assignment
from tests.lines import line_from

BEAT_MS = 100


def line(at_ms: int, kind: str, **fields: Any) -> Any:
    stream = "wire" if kind.startswith("Request") else "group"
    of = {"seq": at_ms, "at_ms": at_ms, "stream": stream, "type": kind, "group": "g", "member": "m"}
    return line_from({**of, **fields})


def told(at_ms: int) -> Any:
    return line(
        at_ms, "RequestRefused", api="heartbeat", peer="here", errors=["REBALANCE_IN_PROGRESS"]
    )


def joins(at_ms: int) -> Any:
    return line(at_ms, "RequestSeen", api="join_group", peer="here")


def stored(at_ms: int, *partitions: int, protocol: str = "cooperative-sticky") -> Any:
    blob = Assignment((("t", partitions),)).encode().hex()
    member = {"member_id": "m", "assignment": blob, "subscription": "", "group_instance_id": None}
    about = {
        "client_id": "c",
        "client_host": "h",
        "session_timeout_ms": 1,
        "rebalance_timeout_ms": 1,
    }
    rest = {"generation": 1, "protocol_type": "consumer", "protocol_name": protocol, "leader": "m"}
    return line(at_ms, "GenerationStored", members=[{**member, **about}], **rest)


def reconciled(at_ms: int, *revoking: int) -> Any:
    held = {"topic": "t", "topic_id": "00" * 16}
    rows = [{**held, "partitions": list(revoking), "epochs": [1] * len(revoking)}]
    return line(
        at_ms,
        "ConsumerMemberReconciled",
        member_epoch=1,
        previous_member_epoch=1,
        state="stable",
        held=[],
        revoking=rows if revoking else [],
    )


MEMBER = line(1, "MemberJoined", rebalance_timeout_ms=60_000)


def hold_ms(*lines: Any, others: Any = (), excused: Any = ()) -> int | None:
    found = longest_hold(lines, "g", others, excused, heartbeat_ms=BEAT_MS)
    return None if found is None else found.took_ms


def test_the_longest_one_counts_from_the_refused_heartbeat_to_the_join() -> None:
    lines = [MEMBER, told(10), told(900), joins(8010), told(9000), joins(9005)]
    found = longest_hold(lines, "g", (), heartbeat_ms=BEAT_MS)
    assert found is not None and found.took_ms == 8000
    assert "m delayed a rebalance by 8.0 s: it was informed (line 10, at 10 ms)" in found.text


def test_a_cooperative_member_that_loses_partitions_holds_until_it_rejoins() -> None:
    synced = line(20, "RequestAnswered", api="sync_group")
    lines = [stored(10, 0, 1), stored(19, 0), synced, joins(3020)]
    assert hold_ms(*lines) == 3000
    assert hold_ms(stored(10, 0), stored(19, 0, 1), synced, joins(3020)) is None
    assert hold_ms(*lines[:3], line(30, "GroupLoaded", state="Stable"), joins(3020)) is None
    eager = [stored(10, 0, 1, protocol="range"), stored(19, 0, protocol="range")]
    assert hold_ms(*eager, synced, joins(3020)) is None


def test_a_member_of_a_consumer_group_holds_until_it_has_revoked_less_a_heartbeat() -> None:
    assert hold_ms(reconciled(10, 0), reconciled(500, 0), reconciled(4110)) == 4000
    assert hold_ms(reconciled(10, 0), reconciled(50)) == 0
    assert hold_ms(reconciled(10), reconciled(4000)) is None


def test_what_the_test_did_itself_is_not_counted() -> None:
    lines = [MEMBER, told(10), joins(8010)]
    assert hold_ms(*lines, others={"m"}) is None
    assert hold_ms(*lines, excused=[(5, 9000)]) is None
    assert hold_ms(*lines, excused=[(11, 9000)]) == 8000


PROTOCOLS = ("eager", "cooperative", "consumer")


def right(protocol: str) -> Any:
    """A small application without a mistake."""
    pytest.importorskip("confluent_kafka")
    pytest.importorskip("kafka")
    from tests.testing import small_applications as small

    kinds = {"eager": small.CommitsEach, "cooperative": small.Cooperative}
    kind = kinds.get(protocol, small.NewProtocol)
    beat = {} if protocol == "consumer" else {"heartbeat.interval.ms": BEAT_MS}
    return type("Right", (kind,), {"settings": kind.settings | beat})


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.kafka(config={"group.consumer.heartbeat.interval.ms": BEAT_MS})
def test_a_slow_listener_is_told_of(kafka: Emulator, protocol: str) -> None:
    class WorksWhenRevoked(right(protocol)):  # type: ignore[misc]
        """Its listener does some of its work, for a second."""

        def subscribe(self, consumer: Any) -> None:
            consumer.subscribe([self.topic], on_revoke=lambda *_: time.sleep(1.0))

    with pytest.warns(HeldRebalanceWarning, match=r"delayed a rebalance .*listener_holds_s is"):
        play(kafka, WorksWhenRevoked(), limit_s=0.5)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.kafka(config={"group.consumer.heartbeat.interval.ms": BEAT_MS})
def test_a_quick_listener_is_not_told_of(kafka: Emulator, protocol: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", HeldRebalanceWarning)
        play(kafka, right(protocol)(), limit_s=120.0)


def play(kafka: Emulator, application: Any, limit_s: float) -> None:
    class Cases(ConsumerCases):
        patience_s = 120.0
        listener_holds_s = limit_s

    cases = Cases()
    running = ConsumerCases.app._get_wrapped_function()(cases, kafka, application)  # type: ignore[attr-defined]
    app: ApplicationUnderTest = next(running)
    case = "test_another_member_comes_and_goes"
    try:
        getattr(cases, case)(app)
    finally:
        next(running, None)
