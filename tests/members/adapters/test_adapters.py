"""The adapters without a network: both directions, and what they refuse."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from assignors import (
    Assignment,
    AssignorError,
    RebalanceProtocol,
    Subscription,
    TopicPartition,
    by_name,
)
from assignors.user_data import decode_sticky, encode_sticky, java_form

pytest.importorskip("kafka")
pytest.importorskip("aiokafka")
import aiokafka.coordinator.assignors.range as aio_range
import aiokafka.coordinator.assignors.sticky.sticky_assignor as aio_sticky
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor

from coordinator.members.adapters import aiokafka as for_aiokafka
from coordinator.members.adapters import kafka_python as for_kafka_python
from coordinator.members.adapters.shared import PlainCluster

TWO = {"a": Subscription(("t",)), "b": Subscription(("t",))}
GIVEN = Assignment((TopicPartition("t", 0), TopicPartition("t", 2)))


def test_kafka_python_gets_metadata_with_owned_partitions_and_generation() -> None:
    """STK-2, UD-3: v2 and later tell the generation in a field, and the user data has it too."""
    made: Any = for_kafka_python.assignor_class("cooperative-sticky", rack="r1")()
    plan = made.assign(
        PlainCluster({"t": 3}),
        [SimpleNamespace(member_id="m", group_instance_id=None, metadata=made.metadata({"t"}))],
    )
    made.on_assignment(plan["m"], 7)
    told = made.metadata({"t"})
    assert (told.topics, told.user_data, told.generation_id, told.rack_id) == (
        ["t"],
        b"\0\0\0\7",
        7,
        "r1",
    )
    assert [(part.topic, part.partitions) for part in told.owned_partitions] == [("t", [0, 1, 2])]
    assert {int(protocol) for protocol in made.supported_protocols()} == {0, 1}


def test_an_eager_member_of_kafka_python_owns_nothing_when_it_joins() -> None:
    made: Any = for_kafka_python.assignor_class("sticky")()
    made.on_assignment(SimpleNamespace(assigned_partitions=[("t", [2, 0])], user_data=None), 3)
    told = made.metadata({"t"})
    assert told.owned_partitions == []
    assert decode_sticky(told.user_data) == ({"t": [2, 0]}, 3)


def test_racks_are_found_in_kafka_pythons_cluster() -> None:
    """KIP-881 through the adapter: V3."""
    made: Any = for_kafka_python.assignor_class("range")
    members = [
        SimpleNamespace(
            member_id=f"c{i}",
            metadata=for_kafka_python.assignor_class("range", rack=rack)().metadata({"t"}),
        )
        for i, rack in enumerate("bca", 1)
    ]
    cluster: Any = PlainCluster({"t": 3})
    cluster._partitions = {"t": {p: SimpleNamespace(replica_nodes=[p]) for p in range(3)}}
    cluster.partitions_for_topic = lambda topic: {0, 1, 2}
    cluster.broker_metadata = lambda node: SimpleNamespace(rack="abc"[node])
    plan = made().assign(cluster, members)
    assert {member: given.partitions()[0].partition for member, given in plan.items()} == {
        "c1": 1,
        "c2": 2,
        "c3": 0,
    }


def test_aiokafka_refuses_cooperative_rebalancing_clearly() -> None:
    with pytest.raises(
        AssignorError,
        match=r"cooperative-sticky is for cooperative rebalancing, and aiokafka is eager only",
    ):
        for_aiokafka.assignor_class("cooperative-sticky")


def test_each_aiokafka_consumer_has_a_memory_of_its_own() -> None:
    one, other = (for_aiokafka.assignor_class("sticky") for _ in range(2))
    plan = one.assign(PlainCluster({"t": 2}), {"m": one.metadata(["t"])})  # type: ignore[arg-type]
    one.on_assignment(plan["m"])
    assert decode_sticky(one.metadata(["t"]).user_data).owned == {"t": [0, 1]}
    assert other.metadata(["t"]).user_data is None


@pytest.mark.parametrize(
    "made",
    [
        for_kafka_python.TheirAssignor(RangePartitionAssignor),
        for_aiokafka.TheirAssignor(aio_range.RangePartitionAssignor),
    ],
    ids=["kafka-python", "aiokafka"],
)
def test_their_range_is_one_of_ours(made: Any) -> None:
    assert made.name == "range"
    assert tuple(made.rebalance_protocols) == (RebalanceProtocol.EAGER,)
    plan = made.assign({"t": 3}, TWO)
    assert {m: a.partitions for m, a in plan.items()} == {
        m: a.partitions for m, a in by_name("range").assign({"t": 3}, TWO).items()
    }
    made.on_assignment(plan["a"], 1)


def test_their_sticky_remembers_through_ours() -> None:
    of_the_class = aio_sticky.StickyPartitionAssignor.member_assignment  # shared by a process
    for made in (
        for_kafka_python.TheirAssignor(StickyPartitionAssignor),
        for_aiokafka.TheirAssignor(aio_sticky.StickyPartitionAssignor),
    ):
        made.on_assignment(GIVEN, 4)
        data = java_form(made.subscription_user_data(["t"]))
        assert decode_sticky(data) == ({"t": [0, 2]}, 4)
        assert len(made.assign({"t": 4}, {"m": Subscription(("t",), data)})["m"].partitions) == 4
    assert aio_sticky.StickyPartitionAssignor.member_assignment is of_the_class


def test_only_kafka_pythons_form_is_turned_into_javas() -> None:
    """UD-1, UD-2: what Java can read is left alone, and so is noise."""
    v1, v0 = encode_sticky({"t": [1]}, 5), encode_sticky({"t": [1]}, 5)[:-4]
    assert java_form(b"\0\1" + v1) == v1
    for data in (
        None,
        b"",
        v1,
        v0,
        b"\0\1",
        b"\0\0" + v1,
        b"\0\1" + v0,
        b"\0\1" + v1 + b"\0",
        b"\0\2" + v1,
    ):
        assert java_form(data) == data
