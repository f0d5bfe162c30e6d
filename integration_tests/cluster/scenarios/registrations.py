"""Brokers that are gone, in every version of what tells of brokers; and brokers that are struck
off."""

from __future__ import annotations

from integration_tests.cluster.registry import scenario
from integration_tests.cluster.stage import Cluster
from integration_tests.wire.raw import Plain


@scenario
def metadata_in_every_version(c: Cluster) -> None:
    """LEADER_NOT_AVAILABLE, offline replicas from version 5 on, topic ids from version 10 on."""
    led, alone = c.topic("led", [3, 1]), c.topic("alone", [3])
    c.crash(3)
    c.until(led, 0, leader_id=1)
    c.until(alone, 0, leader_id=-1)
    topics: list[Plain] = [{"name": name} for name in (led, alone)]
    for version in range(14):
        fields: Plain = {"topics": topics} | (
            {"allow_auto_topic_creation": False} if version >= 4 else {}
        )
        c.at(1).ask("Metadata", version, **fields, shuffled="topics")
    for version in (10, 12, 13):
        c.at(2).ask(
            "Metadata",
            version,
            topics=[{"topic_id": c.topic_id(alone), "name": None}],
            allow_auto_topic_creation=False,
        )
    c.at(2).ask(
        "DescribeTopicPartitions",
        0,
        topics=[{"name": alone}, {"name": led}],
        response_partition_limit=1,
        cursor=None,
    )
    cursor = {"topic_name": led, "partition_index": 0}
    c.at(2).ask(
        "DescribeTopicPartitions",
        0,
        topics=[{"name": alone}, {"name": led}],
        response_partition_limit=1,
        cursor=cursor,
    )


@scenario
def coordinators_in_every_version(c: Cluster) -> None:
    """FindCoordinator at each broker that is left: another broker coordinates what the lost one
    did."""
    group, tx = c.name("g", 3), c.name("tx", 3)
    for broker in (1, 2, 3):
        c.at(broker).ask("FindCoordinator", 3, key=group, key_type=0)
    c.crash(3)
    for index in range(4):
        c.until("__consumer_offsets", index, isr_nodes={1, 2})
        c.until("__transaction_state", index, isr_nodes={1, 2})
    for broker in (1, 2):
        for version in range(7):
            for kind, key in ((0, group), (1, tx)) if version else ((0, group),):
                fields: Plain = {"key": key} if version < 4 else {"coordinator_keys": [key]}
                fields |= {"key_type": kind} if version else {}
                c.at(broker).ask("FindCoordinator", version, **fields)
    c.at(1).ask("FindCoordinator", 4, key_type=0, coordinator_keys=["", group])
    c.at(1).ask("FindCoordinator", 4, key_type=7, coordinator_keys=[group])


@scenario
def brokers_struck_off(c: Cluster) -> None:
    """UnregisterBroker: of one that is not there, of one that is gone; one that starts again is
    registered again."""
    name = c.topic("t", [1, 3])
    c.at(1).ask("UnregisterBroker", 0, broker_id=9)
    c.at(1).ask("UnregisterBroker", 0, broker_id=-1)
    c.crash(3)
    c.until(name, 0, isr_nodes={1})
    c.at(1).ask("UnregisterBroker", 0, broker_id=3)
    c.s.until(
        lambda: (
            3
            not in {
                one["broker_id"]
                for one in c.quietly("DescribeCluster", 2, 2, include_fenced_brokers=True)[
                    "brokers"
                ]
            }
        ),
        "3 stayed",
    )
    c.at(2).ask("DescribeCluster", 2, include_fenced_brokers=True)
    c.show(name)
    c.at(1).ask("UnregisterBroker", 0, broker_id=3)
    entry = {"partition_index": 0, "replicas": [1, 3]}
    c.at(1).ask(
        "AlterPartitionReassignments",
        0,
        topics=[{"name": name, "partitions": [entry]}],
        timeout_ms=10_000,
    )
    c.start(3)
    c.until(name, 0, isr_nodes={1, 3})
    c.show(name)
    c.at(1).ask("DescribeCluster", 2, include_fenced_brokers=True)


@scenario
def partitions_that_cannot_be_added(c: Cluster) -> None:
    """CreatePartitions: fewer, as many, of brokers that are not there, twice, of another factor,
    too many or too few lists."""
    name = c.topic("t", [1, 2], [2, 3])

    def grow(count: int, *replicas: list[int], validate_only: bool = True) -> None:
        assignments = [{"broker_ids": ids} for ids in replicas] if replicas else None
        topics = [{"name": name, "count": count, "assignments": assignments}]
        c.at(2).ask(
            "CreatePartitions", 3, topics=topics, timeout_ms=10_000, validate_only=validate_only
        )

    for count in (-1, 0, 1, 2, 3):
        grow(count)
    for replicas in ([1, 9], [1, 1], [1], [], [-1, 1], [1, 2, 3], [3, 1]):
        grow(3, replicas)
    grow(3, [1, 2], [2, 3])
    grow(4, [3, 1])
    grow(4, [3, 1], [1, 2, 3])
    grow(4, [3, 1], [1, 2], validate_only=False)
    c.until(name, 3, leader_id=1)
    for index in (2, 3):
        c.show(name, index=index)
