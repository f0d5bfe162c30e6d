"""A peer offers what the group accepts unless it is told otherwise; a refusal names both sides;
topics that are misspelled are not made."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from assignors.registry import BUILT_IN_NAMES
from coordinator import Emulator
from coordinator.members.live import PeerError
from coordinator.server.settings.broker_configs import ConfigError
from tests.testing.applications import application_class

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


@pytest.mark.parametrize(
    "names", ["sticky", "cooperative-sticky", "roundrobin,range", "RoundRobinAssigner"]
)
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


class TestGroupsWithoutMembers:
    """Whoever comes next is let in: a peer offers all assignors, and what the group used last comes
    first."""

    def test_members_of_each_assignor_come_to_a_peer(self, kafka: Emulator) -> None:
        for name in BUILT_IN_NAMES:
            with kafka.peer("g", ["orders"]) as peer:
                peer.wait_stable()
                config = {_STRATEGY: name, "heartbeat.interval.ms": 50}
                with kafka.peer("g", ["orders"], config=config) as other:
                    other.wait_stable(members=2)
                    assert kafka.group("g").snapshot().assignor == name

    @pytest.mark.parametrize("name", BUILT_IN_NAMES)
    def test_the_one_that_the_group_used_last_comes_first(self, kafka: Emulator, name: str) -> None:
        with kafka.peer("g", ["orders"], config={_STRATEGY: name}) as first:
            first.wait_stable()
        with kafka.peer("g", ["orders"]) as peer:
            peer.wait_stable()
            assert kafka.group("g").snapshot().assignor == name

    @pytest.mark.parametrize(
        ("library", "assignor"),
        [("aiokafka", "roundrobin"), ("confluent-kafka", "range"), ("kafka-python", "range")],
    )
    def test_applications_come_to_a_peer_leave_and_come_back(
        self, kafka: Emulator, library: str, assignor: str, request: pytest.FixtureRequest
    ) -> None:
        settings = {}
        if library == "aiokafka":  # its default
            from aiokafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor

            settings = {"partition_assignment_strategy": [RoundRobinPartitionAssignor]}
        application, group = application_class(library)(settings=settings), kafka.group("billing")
        request.addfinalizer(application.stop)
        kafka.produce("orders", ["x"] * 4)
        with kafka.peer("billing", ["orders"], config={"heartbeat.interval.ms": 50}) as peer:
            peer.wait_stable()
            for _ in range(2):
                application.start(kafka.bootstrap_servers)
                seen = group.wait(state="Stable", members=2, assigned="all")
                assert seen.assignor == assignor
                application.stop()
                assert application.error is None
                group.wait(state="Stable", members=1, assigned="all")
        application.start(kafka.bootstrap_servers)
        group.wait(state="Stable", members=1, assigned="all")
        application.stop()
        assert application.error is None
        with kafka.peer("billing", ["orders"]) as peer:
            peer.wait_stable()
            assert group.snapshot().assignor == assignor

    def test_members_of_the_cooperative_protocol_get_a_peer_of_it(self, kafka: Emulator) -> None:
        config = {_STRATEGY: "cooperative-sticky", "heartbeat.interval.ms": 50}
        with kafka.peer("g", ["orders"], config=config) as first:
            first.wait_stable()
            with kafka.peer("g", ["orders"]) as second:
                second.wait_stable(members=2)
                kept = {(tp.topic, tp.partition) for tp in first.owned}
                assert len(kept) == 2
            revoked = [back.partitions for back in first.callbacks if back.kind == "revoked"]
            assert [len(partitions) for partitions in revoked] == [2]  # what moved, not all
