"""A member that finds out that it lost its partitions: what `GroupHandle.lose` does to peers and to
real clients."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import Consumer

with warnings.catch_warnings():
    warnings.simplefilter(
        "ignore", DeprecationWarning
    )  # it reads its schemas in a way that Python is giving up
    from kafka import KafkaConsumer
    from kafka.consumer.subscription_state import ConsumerRebalanceListener

from coordinator import Emulator
from coordinator.kit.in_process_requests import ControlError
from tests.lost_joins import join_again_if_lost

_FAST = {"heartbeat.interval.ms": "50"}


@pytest.fixture
def emulator() -> Iterator[Emulator]:
    config = {
        "group.consumer.min.heartbeat.interval.ms": 100,
        "group.consumer.heartbeat.interval.ms": 100,
    }
    with Emulator({"orders": 2}, config=config, remember=10_000, seed=5) as running:
        yield running


@pytest.mark.parametrize(
    ("protocol", "api", "error"),
    [
        ("classic", "Heartbeat", "ILLEGAL_GENERATION"),
        ("consumer", "ConsumerGroupHeartbeat", "FENCED_MEMBER_EPOCH"),
    ],
)
def test_a_peer_loses_what_it_had_once_and_joins_again(
    emulator: Emulator, protocol: str, api: str, error: str
) -> None:
    group = emulator.group("g")
    with group.peer(
        ["orders"], config=_FAST if protocol == "classic" else {}, protocol=protocol
    ) as peer:
        before = group.wait(state="Stable", members=1, assigned="all", acted=True)
        mark = emulator.mark()
        lost = group.lose(peer.client_id).wait_hit()
        assert (lost.fault.selector.api, getattr(lost.fault.action, "error").name) == (api, error)  # noqa: B009  of a Fail
        emulator.wait_for("PartitionsAssigned", group="g", since=mark)
        told = [line["type"] for line in emulator.events(stream="member", group="g", since=mark)]
        assert [kind for kind in told if kind.startswith("Partitions")] == [
            "PartitionsLost",
            "PartitionsAssigned",
        ]
        after = group.wait(state="Stable", members=1, assigned="all")
        assert after.members[0].member_id == before.members[0].member_id
    assert (
        f": {error}, because of an injected fault ({api} of group g, member "
        in emulator.explain("g")
    )


def test_who_has_nothing_cannot_lose_it(emulator: Emulator) -> None:
    group = emulator.group("g")
    held = emulator.hold("SyncGroup", group="g")  # before the peer is on its way
    with group.peer(["orders"], config=_FAST) as peer, held:
        group.wait(state="CompletingRebalance")
        with pytest.raises(ControlError, match="has no partitions to lose"):
            group.lose(peer.client_id)


def test_who_leads_makes_the_group_rebalance_and_another_one_gets_back_what_it_had(
    emulator: Emulator,
) -> None:
    """JOIN-4: an unchanged follower of a Stable group is answered its generation at once."""
    group = emulator.group("g")
    with group.peer(["orders"], config=_FAST), group.peer(["orders"], config=_FAST):
        seen = group.wait(state="Stable", members=2, assigned="all", acted=True)
        (other,) = [member for member in seen.members if member.member_id != seen.leader]
        mark = emulator.mark()
        group.lose(other.member_id)
        emulator.wait_for("PartitionsAssigned", group="g", since=mark)
        assert group.snapshot().generation == seen.generation
        group.lose(str(seen.leader)).wait_hit()
        group.wait(state="Stable", members=2, generation_above=seen.generation)


def test_kafka_python_is_told_that_they_are_lost(emulator: Emulator) -> None:
    calls: list[str] = []

    class Told(ConsumerRebalanceListener):
        def on_partitions_revoked(self, revoked: Any) -> None:
            calls.append("revoked") if revoked else None

        def on_partitions_assigned(self, assigned: Any) -> None:
            calls.append("assigned") if assigned else None

        def on_partitions_lost(self, lost: Any) -> None:
            calls.append("lost") if lost else None

    consumer = KafkaConsumer(
        bootstrap_servers=emulator.bootstrap_servers,
        group_id="g",
        client_id="app",
        heartbeat_interval_ms=100,
    )
    consumer.subscribe(["orders"], listener=Told())
    consumer.partitions_for_topic(
        "orders"
    )  # else it may learn its topic while it joins, and lose that join

    def poll() -> None:
        join_again_if_lost(consumer)
        consumer.poll(100)

    _lose(emulator, calls, poll, consumer.close)


def test_librdkafka_is_told_that_they_are_lost(emulator: Emulator) -> None:
    calls: list[str] = []
    settings = {
        "bootstrap.servers": emulator.bootstrap_servers,
        "group.id": "g",
        "client.id": "app",
        "heartbeat.interval.ms": 100,
    }
    consumer = Consumer(settings)
    consumer.subscribe(
        ["orders"],
        on_assign=lambda *_: calls.append("assigned"),
        on_revoke=lambda *_: calls.append("revoked"),
        on_lost=lambda *_: calls.append("lost"),
    )
    _lose(emulator, calls, lambda: consumer.poll(0.1), consumer.close)


def _lose(emulator: Emulator, calls: list[str], poll: Any, close: Any) -> None:
    try:
        while "assigned" not in calls:
            poll()
        generation = emulator.group("g").wait(state="Stable", assigned="all").generation
        calls.clear()
        lost = emulator.group("g").lose("app")
        while "assigned" not in calls:
            poll()
        assert calls == ["lost", "assigned"]
        assert lost.hits == 1
        assert emulator.group("g").wait(state="Stable", assigned="all").generation > generation
    finally:
        close()
