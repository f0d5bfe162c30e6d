"""A peer offers what the group accepts unless it is told otherwise; a refusal names both sides;
topics that are misspelled are not made."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from coordinator import Emulator
from coordinator.configs.broker_configs import ConfigError
from coordinator.members.live import PeerError

_STRATEGY = "partition.assignment.strategy"


@pytest.fixture
def kafka() -> Iterator[Emulator]:
    with Emulator(
        {"orders": 4},
        {
            "group.consumer.min.heartbeat.interval.ms": 50,
            "group.consumer.heartbeat.interval.ms": 50,
        },
        remember=10_000,
        seed=5,
    ) as running:
        yield running


@pytest.mark.parametrize("names", ["sticky", "cooperative-sticky", "roundrobin,range"])
def test_a_peer_offers_what_the_members_have_in_common(kafka: Emulator, names: str) -> None:
    with kafka.peer(
        "g", ["orders"], config={_STRATEGY: names, "heartbeat.interval.ms": 50}
    ) as first:
        first.wait_stable()
        with kafka.peer("g", ["orders"]) as second:
            seen = kafka.group("g").wait(state="Stable", members=2, assigned="all")
            assert seen.assignor == names.split(",")[0]
            assert second.client_id in [member.client_id for member in seen.members]


def test_what_is_said_is_offered_and_a_refusal_names_both_sides_and_the_setting(
    kafka: Emulator,
) -> None:
    with kafka.peer("g", ["orders"], config={_STRATEGY: "sticky", "client.id": "app"}) as first:
        first.wait_stable()
        other = kafka.peer("g", ["orders"], config={_STRATEGY: "range"})
        said = "the peer offers range; in group 'g' app offers sticky: set partition.assignment.strategy to what all of them have"
        with pytest.raises(PeerError, match=said):
            other.wait_stable(members=2)


def test_a_peer_of_a_consumer_group_speaks_its_protocol(kafka: Emulator) -> None:
    with kafka.peer("g", ["orders"], protocol="consumer") as first:
        first.wait_stable()
        with kafka.peer("g", ["orders"]):
            seen = kafka.group("g").wait(members=2, state="Stable")
            assert seen.type == "consumer"


def test_a_topic_that_a_client_misspells_is_not_made() -> None:
    with Emulator({"orders": 1}, auto_create_topics=False, remember=1000) as kafka:
        with kafka.peer("g", ["ordrs"]) as peer:
            peer.wait_stable()
            assert peer.owned == ()
        assert kafka.topics() == {"orders": 1}
    with Emulator({"orders": 1}, auto_create_topics=True, remember=1000) as kafka:
        with kafka.peer("g", ["ordrs"]):
            kafka.wait_for("TopicCreated", topic="ordrs", since=0)
    with pytest.raises(
        ConfigError,
        match=r"auto_create_topics=False: .* auto.create.topics.enable is; give one of them",
    ):
        Emulator(config={"auto.create.topics.enable": True}, auto_create_topics=False)
