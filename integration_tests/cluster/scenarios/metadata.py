"""What brokers say of the cluster: brokers, placement, the quorum; and of a broker that is gone."""

from __future__ import annotations

from typing import Any

from integration_tests.cluster.registry import scenario
from integration_tests.cluster.stage import BROKERS, OFFSETS, TRANSACTIONS, Cluster
from integration_tests.wire.raw import Plain


def quorum(c: Cluster, broker: int) -> dict[str, Any]:
    """What is no chance in DescribeQuorum."""
    topics = [{"topic_name": "__cluster_metadata", "partitions": [{"partition_index": 0}]}]
    answer = c.quietly("DescribeQuorum", 2, broker, topics=topics)
    partition = answer["topics"][0]["partitions"][0]
    return {
        "leader is a voter": partition["leader_id"] in BROKERS,
        "voters": [voter["replica_id"] for voter in partition["current_voters"]],
        "observers": partition["observers"],
        "messages": [answer["error_message"], partition["error_message"]],
        "nodes": [
            [node["node_id"], [listener["name"] for listener in node["listeners"]]]
            for node in answer["nodes"]
        ],
    }


@scenario
def a_cluster_that_is_whole(c: Cluster) -> None:
    """DescribeCluster in its versions, both kinds of endpoint; Metadata of topics with replicas;
    the same at every broker."""
    name = c.topic("t", [2, 3, 1], [3, 2, 1])
    for broker in BROKERS:
        c.at(broker).ask("DescribeCluster", 2, include_fenced_brokers=True)
        c.at(broker).ask("Metadata", 12, topics=[{"name": name}], allow_auto_topic_creation=False)
        c.s.say(f"the quorum as {broker} says", quorum(c, broker))
    c.at(1).ask("DescribeCluster", 0)
    c.at(1).ask("DescribeCluster", 1, endpoint_type=1)
    c.at(2).ask("DescribeCluster", 2, endpoint_type=2)
    c.at(2).ask("DescribeCluster", 2, endpoint_type=3)
    c.at(3).ask("Metadata", 1, topics=[{"name": name}])
    c.at(3).ask(
        "DescribeTopicPartitions",
        0,
        topics=[{"name": name}],
        response_partition_limit=2,
        cursor=None,
    )


@scenario
def internal_topics(c: Cluster) -> None:
    """With three brokers they have Kafka's own factors: three replicas each, two of them in sync at
    least for transactions."""
    for name in (OFFSETS, TRANSACTIONS):
        for index in range(4):
            partition = c.partition(name, index)
            c.s.say(
                f"{name}-{index}",
                [
                    partition["leader_id"],
                    partition["replica_nodes"],
                    sorted(partition["isr_nodes"]),
                ],
            )
        wanted: Plain = {
            "resource_type": 2,
            "resource_name": name,
            "configuration_keys": ["min.insync.replicas"],
        }
        c.at(1).ask("DescribeConfigs", 4, resources=[wanted])


def _create(
    c: Cluster, label: str, *replicas: list[int], factor: int = -1, count: int = -1
) -> None:
    name = c.s.name(label)
    assignments = [
        {"partition_index": index, "broker_ids": ids} for index, ids in enumerate(replicas)
    ]
    topic = {
        "name": name,
        "num_partitions": count,
        "replication_factor": factor,
        "assignments": assignments,
        "configs": [],
    }
    c.at(1).ask(
        "CreateTopics", 7, topics=[topic], timeout_ms=10_000, validate_only=True, brief=True
    )


@scenario
def topics_that_cannot_be_placed(c: Cluster) -> None:
    """REPL-1, REPL-6: too many replicas; brokers that are not there, twice, none, and not as many
    everywhere."""
    _create(c, "many", factor=4, count=1)
    _create(c, "unknown", [1, 9])
    _create(c, "twice", [1, 1])
    _create(c, "none", [])
    _create(c, "unequal", [1, 2], [3])
    _create(c, "right", [3, 1], [1, 2])


@scenario
def placement_goes_round(c: Cluster) -> None:
    """REPL-6: leaders of three partitions in a row are three brokers, and no two replicas of one
    partition are on one."""
    name = c.s.name("t")
    c._topics.append(name)
    topic = {
        "name": name,
        "num_partitions": 6,
        "replication_factor": 2,
        "assignments": [],
        "configs": [],
    }
    c.quietly("CreateTopics", 7, topics=[topic], timeout_ms=10_000, validate_only=False)
    c.s.until(lambda: bool(c.partition(name, 5)), "it was never made")
    placed = [c.partition(name, index)["replica_nodes"] for index in range(6)]
    c.s.say(
        "different leaders of three in a row",
        [len({replicas[0] for replicas in placed[at : at + 3]}) for at in (0, 3)],
    )
    c.s.say("different brokers of a partition", [len(set(replicas)) for replicas in placed])


@scenario
def a_broker_crashes(c: Cluster) -> None:
    """It is fenced: gone from Metadata, shown as fenced to who asks for it; its partitions have
    other leaders, or none."""
    led, followed, alone = (
        c.topic("led", [3, 1, 2]),
        c.topic("followed", [1, 3]),
        c.topic("alone", [3]),
    )
    c.show(led, followed, alone)
    c.crash(3)
    c.until(alone, 0, leader_id=-1)
    c.until(led, 0, leader_id=1)
    c.show(led, followed, alone)
    c.at(1).ask("DescribeCluster", 2, include_fenced_brokers=True)
    c.at(1).ask("DescribeCluster", 2, include_fenced_brokers=False)
    c.at(1).ask("DescribeCluster", 1)
    for version in (1, 5, 9, 12):
        topics: list[Plain] = [{"name": name} for name in (led, followed, alone)]
        c.at(2).ask("Metadata", version, topics=topics, shuffled="topics")
    c.s.say("the quorum", quorum(c, 1)["voters"])
    c.start(3)
    for name, isr in ((led, {1, 2, 3}), (followed, {1, 3}), (alone, {3})):
        c.until(name, 0, isr_nodes=isr)
        c.show(name)


@scenario
def a_broker_shuts_down(c: Cluster) -> None:
    """A controlled shutdown: its leaders have moved, and it is out of the replicas in sync."""
    led, followed, strange = (
        c.topic("led", [3, 1, 2]),
        c.topic("followed", [1, 3]),
        c.topic("strange", [2, 1]),
    )
    c.stop(3)
    c.show(led, followed, strange)
    c.at(1).ask("DescribeCluster", 2, include_fenced_brokers=True)
    c.start(3)
    c.until(led, 0, isr_nodes={1, 2, 3})
    c.until(followed, 0, isr_nodes={1, 3})
    c.show(led, followed, strange)


@scenario
def topics_made_while_a_broker_is_gone(c: Cluster) -> None:
    """A fenced broker gets replicas, if there are enough others, but leads nothing and is not in
    sync."""
    c.crash(3)
    mixed = c.topic("mixed", [3, 1])
    c.show(mixed)
    _create(c, "lost", [3])
    _create(c, "three", factor=3, count=1)
    grow: Plain = {"name": mixed, "count": 2, "assignments": [{"broker_ids": [3, 2]}]}
    c.at(1).ask("CreatePartitions", 3, topics=[grow], timeout_ms=10_000, validate_only=False)
    c.until(mixed, 1, leader_id=2)
    c.show(mixed, index=1)
    grow = {"name": mixed, "count": 3, "assignments": [{"broker_ids": [3]}]}
    c.at(1).ask("CreatePartitions", 3, topics=[grow], timeout_ms=10_000, validate_only=False)
    c.start(3)
    c.until(mixed, 0, isr_nodes={1, 3})
    c.show(mixed)
