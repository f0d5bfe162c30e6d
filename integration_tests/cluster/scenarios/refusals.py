"""What a broker says that does not lead a partition, coordinates no such group, or is asked about
another broker."""

from __future__ import annotations

from integration_tests.cluster.registry import scenario
from integration_tests.cluster.stage import Cluster
from integration_tests.wire.people import protocols
from integration_tests.wire.raw import Plain
from integration_tests.wire.recorder import Link

BROKER, LOGGER = 4, 8


def fetch(
    link: Link,
    name: str,
    topic_id: str,
    offset: int = 0,
    version: int = 17,
    epoch: int = -1,
    rack: str = "",
) -> Plain:
    """A fetch of one partition that does not wait."""
    partition = {
        "partition": 0,
        "current_leader_epoch": epoch,
        "fetch_offset": offset,
        "partition_max_bytes": 1 << 20,
    }
    named: Plain = {"topic": name} if version <= 12 else {"topic_id": topic_id}
    limits: Plain = {
        "max_wait_ms": 0,
        "min_bytes": 0,
        "max_bytes": 1 << 20,
        "session_epoch": -1,
        "rack_id": rack,
    }
    return link.ask("Fetch", version, **limits, topics=[named | {"partitions": [partition]}])


def listed(link: Link, name: str, timestamp: int = -1, version: int = 7) -> Plain:
    """ListOffsets of one partition."""
    entries = [{"partition_index": 0, "timestamp": timestamp}]
    return link.ask(
        "ListOffsets", version, replica_id=-1, topics=[{"name": name, "partitions": entries}]
    )


def epoch_end(link: Link, name: str, epoch: int, current: int = -1) -> Plain:
    """OffsetForLeaderEpoch of one partition."""
    entries = [{"partition": 0, "current_leader_epoch": current, "leader_epoch": epoch}]
    return link.ask(
        "OffsetForLeaderEpoch", 4, replica_id=-1, topics=[{"topic": name, "partitions": entries}]
    )


@scenario
def produce_at_who_does_not_lead(c: Cluster) -> None:
    """NOT_LEADER_OR_FOLLOWER at a follower and at a stranger; from version 10 on with the leader
    and its address (KIP-951)."""
    followed, strange = c.topic("followed", [1, 2, 3]), c.topic("strange", [3])
    for version in (3, 7, 8, 9, 10, 12):
        c.produce(followed, b"a", broker=2, version=version)
        c.produce(strange, b"a", broker=2, version=version)
    c.produce(followed, b"a", broker=2, acks=1)
    c.produce(followed, b"a", broker=1)


@scenario
def fetch_at_who_does_not_lead(c: Cluster) -> None:
    """Up to version 10 only the leader serves, from version 11 on followers do, too (KIP-392);
    strangers never. Epochs come first."""
    followed, strange = c.topic("followed", [1, 2, 3]), c.topic("strange", [3])
    of_followed, of_strange = c.topic_id(followed), c.topic_id(strange)
    for version in (4, 10):
        fetch(c.at(2), followed, of_followed, version=version)
    for version in (11, 12, 13, 16, 17, 18):
        fetch(c.at(2), followed, of_followed, version=version)
        fetch(c.at(2), strange, of_strange, version=version)
    for broker in (1, 2):
        fetch(c.at(broker), followed, of_followed, offset=7)
        fetch(c.at(broker), followed, of_followed, epoch=5)
        fetch(c.at(broker), followed, of_followed, epoch=0)


@scenario
def other_requests_at_who_does_not_lead(c: Cluster) -> None:
    """ListOffsets, OffsetForLeaderEpoch and DeleteRecords want the leader; DescribeProducers any
    replica."""
    followed, strange = c.topic("followed", [1, 2, 3]), c.topic("strange", [3])
    for name in (followed, strange):
        for version in (2, 4, 7, 10):
            listed(c.at(2), name, version=version)
        for current in (-1, 0, 7):
            epoch_end(c.at(2), name, 0, current)
        c.at(2).ask(
            "DeleteRecords",
            2,
            topics=[{"name": name, "partitions": [{"partition_index": 0, "offset": 0}]}],
            timeout_ms=3_000,
        )
        c.at(2).ask("DescribeProducers", 0, topics=[{"name": name, "partition_indexes": [0]}])


@scenario
def groups_at_another_coordinator(c: Cluster) -> None:
    """NOT_COORDINATOR, and what is refused before anybody looks for the coordinator (GEN rules of
    each request)."""
    name, group, here = c.topic("t", [1, 2, 3]), c.name("g", 2), c.name("h", 1)
    at = c.at(1)
    join: Plain = {
        "group_id": group,
        "session_timeout_ms": 10_000,
        "rebalance_timeout_ms": 10_000,
        "member_id": "",
        "protocol_type": "consumer",
        "protocols": protocols("range"),
    }
    at.ask("JoinGroup", 9, **join)
    at.ask("JoinGroup", 2, **join)
    at.ask("JoinGroup", 9, **join | {"member_id": "ghost"})
    at.ask("JoinGroup", 9, **join | {"group_id": ""})
    at.ask("JoinGroup", 9, **join | {"session_timeout_ms": 1})
    at.ask(
        "SyncGroup",
        5,
        group_id=group,
        generation_id=1,
        member_id="m",
        protocol_type="consumer",
        protocol_name="range",
        assignments=[],
    )
    at.ask("Heartbeat", 4, group_id=group, generation_id=1, member_id="m")
    at.ask("LeaveGroup", 5, group_id=group, members=[{"member_id": "m", "group_instance_id": None}])
    at.ask("LeaveGroup", 1, group_id=group, member_id="m")
    entry = {"partition_index": 0, "committed_offset": 1}
    topics = [
        {"name": c.s.name("nope"), "partitions": [entry]},
        {"name": name, "partitions": [entry]},
    ]
    at.ask(
        "OffsetCommit",
        9,
        group_id=group,
        generation_id_or_member_epoch=-1,
        member_id="",
        topics=topics,
    )
    for version in (1, 5, 7):
        at.ask(
            "OffsetFetch",
            version,
            group_id=group,
            topics=[{"name": name, "partition_indexes": [0]}],
        )
    at.ask(
        "OffsetFetch",
        9,
        groups=[{"group_id": group, "topics": None}, {"group_id": here, "topics": None}],
    )
    at.ask("DescribeGroups", 6, groups=[group, here], shuffled="groups")
    at.ask("DeleteGroups", 2, groups_names=[group, here], shuffled="results")
    at.ask(
        "OffsetDelete",
        0,
        group_id=group,
        topics=[{"name": name, "partitions": [{"partition_index": 0}]}],
    )


@scenario
def groups_are_listed_by_their_coordinators(c: Cluster) -> None:
    """LST-1: each broker lists the groups of the partitions it leads; FindCoordinator says the same
    everywhere."""
    name = c.topic("t", [1, 2, 3])
    groups = [c.name("g", coordinator) for coordinator in (1, 2, 3)]
    for coordinator, group in enumerate(groups, 1):
        topics = [
            {"name": name, "partitions": [{"partition_index": 0, "committed_offset": coordinator}]}
        ]
        c.at(coordinator).ask(
            "OffsetCommit",
            9,
            group_id=group,
            generation_id_or_member_epoch=-1,
            member_id="",
            topics=topics,
        )
    for broker in (1, 2, 3):
        c.at(broker).ask("FindCoordinator", 4, key_type=0, coordinator_keys=groups)
        c.at(broker).ask("ListGroups", 4, only="groups")


@scenario
def transactions_at_another_coordinator(c: Cluster) -> None:
    """NOT_COORDINATOR, and what is refused before."""
    name, tx, group = c.topic("t", [1, 2, 3]), c.name("tx", 2), c.name("g", 2)
    who: Plain = {"transactional_id": tx, "producer_id": 1, "producer_epoch": 0}
    old: Plain = {f"v3_and_below_{key}": value for key, value in who.items()}
    at = c.at(1)
    at.ask("InitProducerId", 4, transactional_id=tx, transaction_timeout_ms=1_000)
    at.ask("AddPartitionsToTxn", 3, **old, v3_and_below_topics=[{"name": name, "partitions": [0]}])
    at.ask("AddPartitionsToTxn", 3, **old, v3_and_below_topics=[{"name": name, "partitions": [9]}])
    at.ask("AddOffsetsToTxn", 3, **who, group_id=group)
    at.ask("EndTxn", 3, **who, committed=True)
    topics = [{"name": name, "partitions": [{"partition_index": 0, "committed_offset": 1}]}]
    at.ask(
        "TxnOffsetCommit",
        3,
        **who,
        group_id=group,
        generation_id_or_member_epoch=-1,
        member_id="",
        topics=topics,
    )
    at.ask("DescribeTransactions", 0, transactional_ids=[tx])


@scenario
def configurations_of_another_broker(c: Cluster) -> None:
    """A broker describes and changes its own, and what is for all; of others it knows nothing."""
    for kind, key in ((BROKER, "broker.id"), (LOGGER, "root")):
        for name in ("2", "9"):
            resource = {"resource_type": kind, "resource_name": name}
            c.at(1).ask("DescribeConfigs", 4, resources=[resource | {"configuration_keys": [key]}])
    for kind, key in ((BROKER, "log.cleaner.threads"), (LOGGER, "root")):
        for name in ("2", "9"):
            resource = {"resource_type": kind, "resource_name": name}
            change = {
                "name": key,
                "config_operation": 0,
                "value": "2" if kind == BROKER else "WARN",
            }
            c.at(1).ask("IncrementalAlterConfigs", 1, resources=[resource | {"configs": [change]}])


@scenario
def directories_of_another_broker(c: Cluster) -> None:
    """DescribeLogDirs and AlterReplicaLogDirs know the replicas of the broker that is asked."""
    strange = c.topic("strange", [3])
    for broker in (1, 3):
        answer = c.quietly(
            "DescribeLogDirs", 4, broker, topics=[{"topic": strange, "partitions": [0]}]
        )
        c.s.say(
            f"in the directories of {broker}",
            [topic for found in answer["results"] for topic in found["topics"]],
        )
    c.at(1).ask(
        "AlterReplicaLogDirs",
        2,
        dirs=[{"path": "/nope", "topics": [{"name": strange, "partitions": [0]}]}],
    )
    c.at(3).ask(
        "AlterReplicaLogDirs",
        2,
        dirs=[{"path": "/nope", "topics": [{"name": strange, "partitions": [0, 5]}]}],
    )
