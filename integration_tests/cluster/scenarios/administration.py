"""Topics, replicas and configurations that are changed while a broker is gone, and what each broker
says of them."""

from __future__ import annotations

from integration_tests.cluster.registry import scenario
from integration_tests.cluster.scenarios.assignments import (
    BROKER,
    DELETE,
    SET,
    TOPIC,
    alter,
    described,
)
from integration_tests.cluster.scenarios.reassignments import (
    PREFERRED,
    UNCLEAN,
    elect,
    reassign,
    running,
)
from integration_tests.cluster.scenarios.refusals import fetch, listed
from integration_tests.cluster.stage import Cluster
from integration_tests.wire.raw import Plain


def create(
    c: Cluster,
    label: str,
    *,
    count: int = -1,
    factor: int = -1,
    broker: int = 1,
    validate_only: bool = True,
) -> str:
    """CreateTopics without assignments; its name."""
    name = c.s.name(label)
    topic: Plain = {
        "name": name,
        "num_partitions": count,
        "replication_factor": factor,
        "assignments": [],
        "configs": [],
    }
    c.at(broker).ask(
        "CreateTopics", 7, topics=[topic], timeout_ms=10_000, validate_only=validate_only
    )
    return name


def grow(
    c: Cluster,
    name: str,
    count: int,
    *replicas: list[int],
    broker: int = 1,
    validate_only: bool = True,
) -> None:
    """CreatePartitions."""
    lists = [{"broker_ids": ids} for ids in replicas] if replicas else None
    topic: Plain = {"name": name, "count": count, "assignments": lists}
    c.at(broker).ask(
        "CreatePartitions", 3, topics=[topic], timeout_ms=10_000, validate_only=validate_only
    )


@scenario
def fewer_brokers_than_the_factor(c: Cluster) -> None:
    """A broker that is gone counts as long as it is registered; once it is struck off, three
    replicas are one too many."""
    name = c.topic("t", [1, 2], [2, 1])
    c.crash(3)
    create(c, "three", count=1, factor=3)
    create(c, "four", count=1, factor=4)
    create(c, "none", count=0, factor=3)
    c.at(1).ask("UnregisterBroker", 0, broker_id=3)
    for broker in (1, 2):
        c.s.until(
            lambda broker=broker: (
                len(c.quietly("DescribeCluster", 2, broker, include_fenced_brokers=True)["brokers"])
                == 2
            ),  # type: ignore[misc]
            "it was never struck off",
        )
    for factor in (1, 2, 3, -1):
        create(c, f"of-{factor}", count=1, factor=factor, broker=2)
    reassign(c, name, {0: [1, 2, 3]})
    reassign(c, name, {0: [3]})
    grow(c, name, 3, [3, 1])
    grow(c, name, 3, [1, 2])
    grow(c, name, 3, [1])
    running(c, name)
    c.at(2).ask("DescribeCluster", 2, include_fenced_brokers=True)
    c.start(3)
    create(c, "three", count=1, factor=3)
    grow(c, name, 3, [3, 1], validate_only=False)
    c.until(name, 2, leader_id=3, isr_nodes={1, 3})
    c.show(name, index=2)


@scenario
def configurations_of_a_broker_that_is_gone(c: Cluster) -> None:
    """Only the broker itself takes and describes its own; a topic's are taken meanwhile, and known
    to it when it is back."""
    name = c.topic("t", [3, 1])
    c.crash(3)
    c.until(name, 0, leader_id=1)
    alter(c, BROKER, "3", "log.cleaner.threads", "2")
    alter(c, BROKER, "3", "leader.replication.throttled.rate", "1000", broker=2)
    alter(c, BROKER, "3", "nope", "1")
    alter(c, TOPIC, name, "retention.ms", "x")
    alter(c, TOPIC, name, "retention.ms", "1000000")
    alter(c, TOPIC, name, "leader.replication.throttled.replicas", "0:3")
    wanted: Plain = {
        "resource_type": BROKER,
        "resource_name": "3",
        "configuration_keys": ["leader.replication.throttled.rate"],
    }
    for broker in (1, 2):
        c.at(broker).ask("DescribeConfigs", 4, resources=[wanted])
        described(c, TOPIC, name, "retention.ms", "1000000", broker)
    c.start(3)
    described(c, TOPIC, name, "retention.ms", "1000000", 3)
    c.at(3).ask("DescribeConfigs", 4, resources=[wanted])
    alter(c, BROKER, "2", "leader.replication.throttled.rate", "7", SET, broker=3)
    alter(c, BROKER, "3", "leader.replication.throttled.rate", None, DELETE, broker=3)


@scenario
def topics_change_while_a_broker_is_gone(c: Cluster) -> None:
    """Partitions added, a topic deleted, another moved off the broker; it knows once it is back,
    and keeps no other logs."""
    grown, deleted, moved = (
        c.topic("a-grown", [1, 3]),
        c.topic("b-deleted", [3, 1]),
        c.topic("c-moved", [3, 2]),
    )
    names = (grown, deleted, moved)
    ids = [c.topic_id(name) for name in names]
    for name, broker in zip(names, (1, 3, 3), strict=True):
        c.produce(name, b"a", broker=broker)
    c.committed_at(deleted, 1, 1)
    c.committed_at(moved, 2, 1)
    c.crash(3)
    grow(c, grown, 2, [3, 2], validate_only=False)
    c.until(grown, 1, leader_id=2)
    reassign(c, moved, {0: [2, 1]})
    c.until(moved, 0, replica_nodes=[2, 1], isr_nodes={1, 2})
    running(c, moved)
    c.at(2).ask("DeleteTopics", 6, topics=[{"name": None, "topic_id": ids[1]}], timeout_ms=10_000)
    c.s.until(lambda: not any(c.partition(deleted, 0, broker) for broker in c.alive), "it stayed")

    def told(*brokers: int) -> None:
        for broker in brokers:
            topics: list[Plain] = [{"name": name} for name in names]
            c.at(broker).ask(
                "Metadata", 12, topics=topics, allow_auto_topic_creation=False, shuffled="topics"
            )
            c.at(broker).ask(
                "DescribeTopicPartitions", 0, topics=topics, response_partition_limit=2, cursor=None
            )
            after = {"topic_name": moved, "partition_index": 0}
            c.at(broker).ask(
                "DescribeTopicPartitions",
                0,
                topics=topics,
                response_partition_limit=9,
                cursor=after,
            )
            c.at(broker).ask("DescribeCluster", 2, include_fenced_brokers=True)
            asked = [{"topic": name, "partitions": [0, 1]} for name in names]
            logs = c.quietly("DescribeLogDirs", 4, broker, topics=asked)["results"][0]["topics"]
            held = [
                [c.s.names.text(log["name"]), partition]
                for log in logs
                for partition in log["partitions"]
            ]
            held.sort(key=lambda one: (one[0], one[1]["partition_index"]))
            c.s.say(f"logs at {broker}", held)
            for name, topic_id in zip(names, ids, strict=True):
                fetch(c.at(broker), name, topic_id)
                fetch(c.at(broker), name, topic_id, version=12)

    told(1, 2)
    c.start(3)
    c.until(grown, 0, isr_nodes={1, 3})
    c.until(grown, 1, isr_nodes={2, 3})
    c.committed_at(grown, 3, 1)
    told(3)
    c.produce(deleted, b"b", broker=3)
    listed(c.at(3), moved)
    elect(c, grown, 0, 1)
    c.until(grown, 1, leader_id=3)
    c.show(grown)
    c.show(grown, index=1)


@scenario
def elections_while_the_preferred_leader_is_gone(c: Cluster) -> None:
    """PREFERRED_LEADER_NOT_AVAILABLE, ELECTION_NOT_NEEDED, ELIGIBLE_LEADERS_NOT_AVAILABLE by
    partition; of a broker that is paused."""
    led, alone = c.topic("led", [3, 1, 2], [1, 3, 2]), c.topic("alone", [3])
    c.pause(3)
    c.until(led, 0, leader_id=1)
    c.until(alone, 0, leader_id=-1)
    for kind in (PREFERRED, UNCLEAN):
        elect(c, led, 0, 1, 7, kind=kind)
        elect(c, alone, 0, kind=kind)
    c.at(2).ask(
        "ElectLeaders",
        2,
        election_type=PREFERRED,
        topic_partitions=[{"topic": led, "partitions": [0]}],
        timeout_ms=10_000,
    )
    reassign(c, led, {0: [2, 3, 1]})
    c.until(led, 0, replica_nodes=[2, 3, 1])
    elect(c, led, 0, 1)
    c.until(led, 0, leader_id=2)
    c.show(led, alone)
    reassign(c, alone, {0: [3, 1]})
    running(c, alone)
    c.show(alone)
    c.resume(3)
    c.until(alone, 0, replica_nodes=[3, 1], isr_nodes={1, 3}, leader_id=3)
    c.until(led, 0, isr_nodes={1, 2, 3})
    c.show(led, alone)


@scenario
def without_a_majority(c: Cluster) -> None:
    """The last of three brokers serves what it led and coordinated, and hears of nothing: the
    others are in sync for it."""
    led, followed, group = c.topic("led", [3, 1, 2]), c.topic("followed", [1, 3]), c.name("g", 3)
    of_led, of_followed = c.topic_id(led), c.topic_id(followed)
    c.produce(led, b"a", broker=3)
    c.produce(followed, b"a", broker=1)
    for broker in (1, 2):
        c.committed_at(led, broker, 1)
    c.committed_at(followed, 3, 1)
    topics = [{"name": led, "partitions": [{"partition_index": 0, "committed_offset": 1}]}]
    c.at(3).ask(
        "OffsetCommit",
        9,
        group_id=group,
        generation_id_or_member_epoch=-1,
        member_id="",
        topics=topics,
    )
    c.pause(1, 2)
    c.at(3).ask(
        "Metadata",
        12,
        topics=[{"name": led}, {"name": followed}],
        allow_auto_topic_creation=False,
        shuffled="topics",
    )
    c.at(3).ask("DescribeCluster", 2, include_fenced_brokers=True)
    c.at(3).ask("FindCoordinator", 4, key_type=0, coordinator_keys=[group, c.name("h", 1)])
    c.at(3).ask(
        "DescribeTopicPartitions",
        0,
        topics=[{"name": led}, {"name": followed}],
        response_partition_limit=9,
        cursor=None,
    )
    fetch(c.at(3), led, of_led)
    fetch(c.at(3), followed, of_followed)
    fetch(c.at(3), followed, of_followed, version=10)
    listed(c.at(3), led)
    listed(c.at(3), followed)
    c.produce(led, b"b", broker=3, acks=1)
    c.produce(followed, b"b", broker=3, acks=1)
    listed(c.at(3), led)
    c.at(3).ask("DescribeGroups", 6, groups=[group])
    c.at(3).ask("OffsetFetch", 9, groups=[{"group_id": group, "topics": None}])
    c.at(3).ask("ListGroups", 5, only="groups")
    c.resume(1, 2)
    c.until(led, 0, isr_nodes={1, 2, 3})
    c.until(followed, 0, isr_nodes={1, 3})
    c.committed_at(led, 1, 2)
