"""What is set for all at one broker and known at the others: configurations of brokers and groups,
quotas, features; who the quorum is."""

from __future__ import annotations

from typing import Any

from integration_tests.cluster.registry import scenario
from integration_tests.cluster.scenarios.assignments import (
    BROKER,
    DELETE,
    SET,
    TOPIC,
    alter,
    described,
)
from integration_tests.cluster.scenarios.consumers import Consumer
from integration_tests.cluster.scenarios.refusals import fetch
from integration_tests.cluster.stage import OFFSETS, Cluster
from integration_tests.wire.raw import Plain
from integration_tests.wire.scenarios.cluster_admin import METADATA_LOG, quorum
from integration_tests.wire.scenarios.quotas import quotas, set_quotas

GROUP = 32


@scenario
def defaults_of_all_brokers(c: Cluster) -> None:
    """A default that is set at one broker holds at all; one broker's own value hides it; both are
    there after a restart."""
    key = "message.max.bytes"
    alter(c, BROKER, "", key, "2000000", broker=2)
    for broker in (1, 2, 3):
        described(c, BROKER, str(broker), key, "2000000", broker)
    alter(c, BROKER, "3", key, "3000000", broker=3)
    described(c, BROKER, "3", key, "3000000", 3)
    described(c, BROKER, "1", key, "2000000", 1)
    described(c, BROKER, "", key, "2000000", 1)
    c.crash(3)
    alter(c, BROKER, "", key, "2500000", broker=1)
    described(c, BROKER, "2", key, "2500000", 2)
    c.start(3)
    described(c, BROKER, "3", key, "3000000", 3)
    alter(c, BROKER, "3", key, None, DELETE, broker=3)
    described(c, BROKER, "3", key, "2500000", 3)
    alter(c, BROKER, "", key, None, DELETE, broker=3)
    for broker in (1, 3):
        described(c, BROKER, str(broker), key, "1048588", broker)
    described(c, BROKER, "", key, None, 1)


@scenario
def configurations_of_a_group_that_moves(c: Cluster) -> None:
    """Set at any broker, they hold where the group is coordinated, and at the next coordinator."""
    name, group = c.topic("t", [1, 2]), c.name("g", 3)
    c.s.names.topic_id(c.topic_id(name))
    session, beat = "consumer.session.timeout.ms", "consumer.heartbeat.interval.ms"
    alter(c, GROUP, group, beat, "9000", broker=1)
    alter(c, GROUP, group, session, "50000", broker=2)
    alter(c, GROUP, group, session, "1", broker=2)
    alter(c, GROUP, group, "nope", "1", broker=2)
    for broker in (1, 2, 3):
        described(c, GROUP, group, beat, "9000", broker)
    one = Consumer(c, "one", group)
    one.join(3, name)
    c.lead(OFFSETS, 2, 1)
    asked: Any = [group]
    c.s.until(
        lambda: (
            c.quietly("DescribeGroups", 5, 1, groups=asked)["groups"][0]["error_code"]
            not in (14, 16)
        ),
        "1 never coordinated it",
    )
    one.ack(1)
    alter(c, GROUP, group, beat, None, DELETE, broker=3)
    described(c, GROUP, group, beat, "5000", 1)
    one.beat(1)
    alter(c, GROUP, group, session, None, DELETE, broker=3)


@scenario
def quotas_are_known_everywhere(c: Cluster) -> None:
    """KIP-546: set at one broker, told by each; also what was set while a broker was gone."""
    user = c.s.name("somebody")
    asked = ("user", 0, user)

    def entry(**values: float | None) -> Plain:
        ops = [
            {"key": key, "value": value or 0, "remove": value is None}
            for key, value in values.items()
        ]
        return {"entity": [{"entity_type": "user", "entity_name": user}], "ops": ops}

    def known(value: float | None, *brokers: int) -> None:
        def told(broker: int) -> bool:
            found = c.quietly(
                "DescribeClientQuotas",
                1,
                broker,
                strict=True,
                components=[{"entity_type": "user", "match_type": 0, "match": user}],
            )["entries"]
            return bool(
                [row["value"] for one in found for row in one["values"]]
                == ([] if value is None else [value])
            )

        c.s.until(lambda: all(told(broker) for broker in brokers), f"the quota was never {value}")

    set_quotas(c.at(2), entry(producer_byte_rate=1000.0))
    known(1000.0, 1, 2, 3)
    for broker in (1, 3):
        quotas(c.at(broker), asked)
    c.crash(3)
    set_quotas(c.at(1), entry(producer_byte_rate=2000.0))
    known(2000.0, 1, 2)
    c.start(3)
    known(2000.0, 3)
    quotas(c.at(3), asked, strict=True)
    set_quotas(c.at(3), entry(producer_byte_rate=None))
    known(None, 1, 2, 3)
    quotas(c.at(1), asked)


@scenario
def the_quorum_of_three(c: Cluster) -> None:
    """DescribeQuorum at each broker, of the metadata log and of what is none."""
    name = c.topic("t", [1, 2, 3])
    for broker in (1, 2, 3):
        quorum(c.at(broker), 2, (name, [0]))
        quorum(c.at(broker), 2, (METADATA_LOG, [1]))
        found = c.quietly(
            "DescribeQuorum",
            2,
            broker,
            topics=[{"topic_name": METADATA_LOG, "partitions": [{"partition_index": 0}]}],
        )
        part = found["topics"][0]["partitions"][0]
        c.s.say(
            f"quorum at {broker}",
            {
                "error": [found["error_code"], part["error_code"]],
                "leader is a voter": part["leader_id"] in (1, 2, 3),
                "voters": sorted(voter["replica_id"] for voter in part["current_voters"]),
                "observers": part["observers"],
                "nodes": sorted(node["node_id"] for node in found["nodes"]),
            },
        )


@scenario
def limits_of_a_topic_at_every_leader(c: Cluster) -> None:
    """max.message.bytes and min.insync.replicas as changed hold at each partition's leader, and at
    who leads next."""
    name = c.topic("t", [1, 2], [2, 3], max_message_bytes="200")
    for index, leader in ((0, 1), (1, 2)):
        c.produce(name, b"x" * 300, broker=leader, index=index)
        c.produce(name, b"x", broker=leader, index=index)
    alter(c, TOPIC, name, "max.message.bytes", "1000", SET, broker=3)
    for broker in (1, 2, 3):
        described(c, TOPIC, name, "max.message.bytes", "1000", broker)
    for index, leader in ((0, 1), (1, 2)):
        c.produce(name, b"x" * 300, broker=leader, index=index)
    alter(c, TOPIC, name, "max.message.bytes", None, DELETE, broker=2)
    c.stop(2)
    c.until(name, 1, leader_id=3)
    described(c, TOPIC, name, "max.message.bytes", "1048588", 3)
    c.produce(name, b"x" * 1_200, broker=3, index=1)
    c.produce(name, b"x" * 1_200, broker=1, index=0)
    fetch(c.at(1), name, c.topic_id(name), offset=1)
    c.start(2)
    c.until(name, 1, isr_nodes={2, 3})
    c.until(name, 0, isr_nodes={1, 2})
