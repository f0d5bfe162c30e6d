"""Reassignments and elections beyond the plain ones: what interrupts or replaces them; internal
topics and throttles."""

from __future__ import annotations

from integration_tests.cluster.registry import scenario
from integration_tests.cluster.scenarios.reassignments import (
    PREFERRED,
    UNCLEAN,
    elect,
    reassign,
    running,
)
from integration_tests.cluster.stage import OFFSETS, Cluster
from integration_tests.wire.raw import Plain

TOPIC, BROKER = 2, 4
SET, DELETE, APPEND, SUBTRACT = range(4)
RATES = (
    "leader.replication.throttled.rate",
    "follower.replication.throttled.rate",
    "replica.alter.log.dirs.io.max.bytes.per.second",
)


def alter(
    c: Cluster, kind: int, name: str, key: str, value: str | None, how: int = SET, broker: int = 1
) -> Plain:
    """IncrementalAlterConfigs of one configuration."""
    change: Plain = {"name": key, "config_operation": how, "value": value}
    resource: Plain = {"resource_type": kind, "resource_name": name, "configs": [change]}
    return c.at(broker).ask("IncrementalAlterConfigs", 1, resources=[resource], validate_only=False)


def described(
    c: Cluster, kind: int, name: str, key: str, value: str | None, broker: int = 1
) -> None:
    """DescribeConfigs of one configuration, once the broker knows this value; None: it is not
    told."""
    wanted: Plain = {"resource_type": kind, "resource_name": name, "configuration_keys": [key]}

    def known(answer: Plain) -> bool:
        told = [one["value"] for one in answer["results"][0]["configs"]]
        return bool(told == ([] if value is None else [value]))

    c.at(broker).ask_until(known, "DescribeConfigs", 4, resources=[wanted], include_synonyms=True)


@scenario
def many_reassignments_at_once(c: Cluster) -> None:
    """Each partition has its own answer; all that run are listed; a factor that must not change is
    refused with one that runs, too."""
    name, other = c.topic("t", [1, 2], [2, 1], [1, 2]), c.topic("other", [2])
    c.crash(3)
    reassign(c, name, {0: [3, 1], 1: [2, 9], 2: [1, 3], 8: [1]})
    reassign(c, other, {0: [2, 3]})
    for broker in (1, 2):
        c.at(broker).ask(
            "ListPartitionReassignments", 0, timeout_ms=10_000, topics=None, shuffled="topics"
        )
    c.at(1).ask("ListPartitionReassignments", 0, timeout_ms=10_000, topics=[])
    c.at(1).ask(
        "ListPartitionReassignments",
        0,
        timeout_ms=10_000,
        topics=[{"name": name, "partition_indexes": []}],
    )
    for factor in (True, False):
        reassign(
            c,
            name,
            {0: [3, 1, 2], 1: [1, 3], 2: [3]},
            version=1,
            allow_replication_factor_change=factor,
        )
        running(c, name)
    c.show(name, other)
    c.show(name, index=1)
    c.show(name, index=2)
    reassign(c, name, {0: None, 1: None, 2: None})
    c.show(name)
    c.show(name, index=2)


@scenario
def a_topic_deleted_and_made_anew_while_it_is_reassigned(c: Cluster) -> None:
    """The new topic has nothing to do with the reassignment of the old one."""
    name = c.topic("t", [1, 2])
    c.crash(3)
    reassign(c, name, {0: [2, 3]})
    c.at(1).ask("DeleteTopics", 4, topic_names=[name], timeout_ms=10_000)
    c.s.until(lambda: not any(c.partition(name, 0, broker) for broker in c.alive), "it stayed")
    c.topic("t", [2, 1])
    running(c, name)
    c.show(name)
    reassign(c, name, {0: None})
    c.start(3)
    reassign(c, name, {0: [3, 1]})
    c.until(name, 0, replica_nodes=[3, 1], isr_nodes={1, 3})
    c.show(name)


@scenario
def partitions_added_while_others_are_reassigned(c: Cluster) -> None:
    """CreatePartitions wants as many replicas as partition 0 has, those that are added with
    them."""
    name = c.topic("t", [1, 2])
    c.crash(3)
    reassign(c, name, {0: [1, 2, 3]})
    for replicas in ([2, 1], [2, 1, 3]):
        grow = {"name": name, "count": 2, "assignments": [{"broker_ids": replicas}]}
        c.at(1).ask("CreatePartitions", 3, topics=[grow], timeout_ms=10_000, validate_only=True)
    running(c, name)
    c.show(name)


@scenario
def a_partition_without_a_leader_is_reassigned(c: Cluster) -> None:
    """Targets come first; nobody can catch up until the only replica in sync is back."""
    name = c.topic("t", [3])
    c.produce(name, b"a", broker=3)
    c.crash(3)
    c.until(name, 0, leader_id=-1)
    reassign(c, name, {0: [1]})
    running(c, name)
    c.show(name)
    elect(c, name, 0, kind=PREFERRED)
    reassign(c, name, {0: None})
    c.show(name)
    reassign(c, name, {0: [1, 2]})
    c.start(3)
    c.until(name, 0, replica_nodes=[1, 2], isr_nodes={1, 2})
    running(c, name)


@scenario
def elections_in_every_version(c: Cluster) -> None:
    """Partitions named twice, none, negative ones, of several topics; with a leader that is not
    preferred, and with none."""
    led, alone, gone = c.topic("led", [1, 2]), c.topic("alone", [3]), c.topic("gone", [3, 1])
    c.lead(led, 0, 2)
    reassign(c, led, {0: [1, 2]})
    c.until(led, 0, replica_nodes=[1, 2])
    c.crash(3)
    c.until(alone, 0, leader_id=-1)
    c.until(gone, 0, leader_id=1)
    for version in (0, 1, 2):
        elect(c, alone, 0, version=version)
        elect(c, gone, 0, version=version)
        elect(c, gone, -1, version=version)
        elect(c, gone, version=version)
    for version in (1, 2):
        elect(c, alone, 0, kind=UNCLEAN, version=version)
        elect(c, led, 0, kind=UNCLEAN, version=version)
        elect(c, led, 0, kind=-1, version=version)
    c.at(1).ask("ElectLeaders", 2, election_type=PREFERRED, topic_partitions=[], timeout_ms=10_000)
    elect(c, gone, 0, 0)
    elect(c, led, 0, version=0)
    elect(c, led, 0, version=1)
    c.until(led, 0, leader_id=1)
    c.show(led, alone, gone)


@scenario
def throttles_are_configurations(c: Cluster) -> None:
    """REPL throttles: what may stand in the lists of replicas and as rates, at which level, and who
    tells of them."""
    name = c.topic("t", [1, 2])
    for key in ("leader.replication.throttled.replicas", "follower.replication.throttled.replicas"):
        for value in ("none", "0", "x:y", "", "0:1,", " 0:1", "0:-1", "*,0:1", "*", "0:1,0:2"):
            alter(c, TOPIC, name, key, value)
        described(c, TOPIC, name, key, "0:1,0:2")
        alter(c, TOPIC, name, key, "1:2", APPEND)
        alter(c, TOPIC, name, key, "0:2", SUBTRACT)
        described(c, TOPIC, name, key, "0:1,1:2")
        alter(c, TOPIC, name, key, None, DELETE)
        described(c, TOPIC, name, key, "")
    for key in RATES:
        for value in ("-1", "x", "1.5", "0", "1000"):
            alter(c, BROKER, "2", key, value, broker=2)
        described(c, BROKER, "2", key, "1000", broker=2)
        alter(c, BROKER, "2", key, None, DELETE, broker=2)
        alter(c, TOPIC, name, key, "1")


@scenario
def nobody_can_coordinate(c: Cluster) -> None:
    """FC rules: the only replica of a group's partition is gone: COORDINATOR_NOT_AVAILABLE, until
    it is back."""
    group = c.name("g", 3)
    reassign(c, OFFSETS, {2: [3]})
    c.until(OFFSETS, 2, replica_nodes=[3], isr_nodes={3})
    name = c.topic("t", [1])
    topics = [{"name": name, "partitions": [{"partition_index": 0, "committed_offset": 5}]}]
    c.at(3).ask(
        "OffsetCommit",
        9,
        group_id=group,
        generation_id_or_member_epoch=-1,
        member_id="",
        topics=topics,
    )
    c.crash(3)
    c.until(OFFSETS, 2, leader_id=-1)
    for version in (0, 1, 3, 4):
        fields: Plain = (
            {"key": group} if version < 4 else {"coordinator_keys": [group, c.name("g", 1)]}
        )
        c.at(1).ask("FindCoordinator", version, **fields | ({"key_type": 0} if version else {}))
    c.at(1).ask("OffsetFetch", 9, groups=[{"group_id": group, "topics": None}])
    c.at(1).ask("DescribeGroups", 6, groups=[group])
    c.start(3)
    c.until(OFFSETS, 2, leader_id=3)
    c.s.until(
        lambda: not c.quietly("DescribeGroups", 5, 3, groups=[group])["groups"][0]["error_code"],
        "3 never coordinated it again",
    )
    c.at(1).ask("FindCoordinator", 4, key_type=0, coordinator_keys=[group])
    c.at(3).ask("OffsetFetch", 9, groups=[{"group_id": group, "topics": None}])


@scenario
def min_insync_replicas_at_each_level(c: Cluster) -> None:
    """KIP-966: it cannot be set for one broker, and its default for all cannot be taken away."""
    name = c.topic("t", [1, 2])
    for value in ("0", "x", "-1", "2"):
        alter(c, TOPIC, name, "min.insync.replicas", value)
    described(c, TOPIC, name, "min.insync.replicas", "2")
    for broker in ("1", "2", "9"):
        alter(c, BROKER, broker, "min.insync.replicas", "2")
        alter(c, BROKER, broker, "min.insync.replicas", None, DELETE)
    for value in ("0", "x"):
        alter(c, BROKER, "", "min.insync.replicas", value)
    alter(c, BROKER, "", "min.insync.replicas", None, DELETE)
    alter(c, BROKER, "", "min.insync.replicas", "1")
