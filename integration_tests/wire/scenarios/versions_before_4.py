"""Versions of requests that went with Kafka 4.0 (KIP-896): 3.9 answers them, later releases close the
connection. Each is asked on a connection of its own."""

from __future__ import annotations

from typing import Any

from integration_tests.wire.batches import batch
from integration_tests.wire.people import topic
from integration_tests.wire.raw import Plain
from integration_tests.wire.recorder import Session, Stop
from integration_tests.wire.registry import scenario
from integration_tests.wire.scenarios.produce import produce

TOPIC, BROKER = 2, 4
LITERAL_ANY = 1


def _asked(s: Session, label: str, api: str, version: int, **fields: Any) -> Plain | None:
    """Ask on a new connection; None: it was closed."""
    try:
        return s.connect(label).ask(api, version, **fields)
    except Stop:
        return None


@scenario()
def topics_made_and_deleted(s: Session) -> None:
    """CreateTopics 0 and 1, DeleteTopics 0: no throttle time, and no words before 1."""
    for version in (0, 1):
        new = {"name": s.name(f"new{version}"), "num_partitions": 1, "replication_factor": 1}
        bad = {"name": s.name(f"bad{version}"), "num_partitions": 0, "replication_factor": 1}
        wrong = new | {
            "name": s.name(f"wrong{version}"),
            "configs": [{"name": "retention.ms", "value": "x"}],
        }
        label = f"create{version}"
        _asked(s, label, "CreateTopics", version, topics=[new, bad, wrong], timeout_ms=10_000)
        _asked(s, f"again{version}", "CreateTopics", version, topics=[new], timeout_ms=10_000)
    checked = {"name": s.name("checked"), "num_partitions": 1, "replication_factor": 1}
    _asked(s, "only", "CreateTopics", 1, topics=[checked], timeout_ms=10_000, validate_only=True)
    for label, name in (("gone", s.name("new0")), ("nobody", s.name("nobody"))):
        _asked(s, label, "DeleteTopics", 0, topic_names=[name], timeout_ms=10_000)


@scenario()
def settings_described(s: Session) -> None:
    """DescribeConfigs 0 says of each value whether it is the default, and not where it is from."""
    name = topic(s, "t", 1, retention_ms="77")
    for label, kind, whose, key in (
        ("own", TOPIC, name, "retention.ms"),
        ("default", TOPIC, name, "cleanup.policy"),
        ("given", BROKER, "1", "offsets.topic.num.partitions"),
        ("default of a broker", BROKER, "1", "num.partitions"),
        ("nobody", TOPIC, s.name("no"), "retention.ms"),
    ):
        asked = {"resource_type": kind, "resource_name": whose, "configuration_keys": [key]}
        _asked(s, label, "DescribeConfigs", 0, resources=[asked])


@scenario()
def ends_of_logs(s: Session) -> None:
    """ListOffsets 0 answers several offsets, OffsetForLeaderEpoch 0 and 1 no epoch, or no throttle
    time."""
    name = topic(s, "t", 2)
    produce(s.connect("writer"), name, batch(b"a", b"b", b"c"), version=11)
    for label, timestamp, most in (
        ("end", -1, 1),
        ("ends", -1, 5),
        ("start", -2, 1),
        ("starts", -2, 5),
        ("none", -1, 0),
    ):
        asked = {"partition_index": 0, "timestamp": timestamp, "max_num_offsets": most}
        topics: list[Plain] = [{"name": name, "partitions": [asked]}]
        _asked(s, label, "ListOffsets", 0, replica_id=-1, topics=topics)
    gone = {"partition_index": 7, "timestamp": -1, "max_num_offsets": 1}
    topics = [{"name": name, "partitions": [gone]}]
    _asked(s, "unknown", "ListOffsets", 0, replica_id=-1, topics=topics)
    for version in (0, 1):
        partitions = [
            {"partition": index, "leader_epoch": epoch}
            for index, epoch in ((0, 0), (1, 0), (0, 5), (7, 0))
        ]
        for number, partition in enumerate(partitions):
            topics = [{"topic": name, "partitions": [partition]}]
            _asked(s, f"epoch{version}{number}", "OffsetForLeaderEpoch", version, topics=topics)


@scenario()
def offsets_of_groups(s: Session) -> None:
    """OffsetCommit 0 and OffsetFetch 0 went to ZooKeeper; OffsetCommit 1 has an instant for each
    partition."""
    name, group = topic(s, "t", 2), s.name("g")
    entry = {"partition_index": 0, "committed_offset": 5, "committed_metadata": "m"}
    topics: list[Plain] = [{"name": name, "partitions": [entry]}]
    _asked(s, "commit0", "OffsetCommit", 0, group_id=group, topics=topics)
    _asked(s, "commit1", "OffsetCommit", 1, group_id=group, topics=topics)
    stale: list[Plain] = [{"name": name, "partitions": [entry | {"partition_index": 9}]}]
    _asked(s, "unknown", "OffsetCommit", 1, group_id=group, topics=stale)
    member = {"generation_id_or_member_epoch": 3, "member_id": "x"}
    _asked(s, "member", "OffsetCommit", 1, group_id=group, topics=topics, **member)
    wanted: list[Plain] = [{"name": name, "partition_indexes": [0, 1]}]
    for version in (0, 1):
        _asked(s, f"fetch{version}", "OffsetFetch", version, group_id=group, topics=wanted)


@scenario()
def the_others(s: Session) -> None:
    """ACLs 0 without kinds of patterns, directories of logs, tokens, markers."""
    name = topic(s, "t", 2)
    anything = {"resource_type_filter": LITERAL_ANY, "operation": 1, "permission_type": 1}
    _asked(s, "acls", "DescribeAcls", 0, **anything)
    acl = {
        "resource_type": TOPIC,
        "resource_name": name,
        "principal": "User:u",
        "host": "*",
        "operation": 3,
        "permission_type": 3,
    }
    _asked(s, "create", "CreateAcls", 0, creations=[acl])
    _asked(s, "delete", "DeleteAcls", 0, filters=[anything])
    moved = {"path": "/nowhere", "topics": [{"name": name, "partitions": [0]}]}
    _asked(s, "move", "AlterReplicaLogDirs", 0, dirs=[moved])
    _asked(s, "token", "CreateDelegationToken", 0, renewers=[], max_lifetime_ms=-1)
    _asked(s, "renew", "RenewDelegationToken", 0, hmac="00", renew_period_ms=1)
    _asked(s, "expire", "ExpireDelegationToken", 0, hmac="00", expiry_time_period_ms=1)
    _asked(s, "tokens", "DescribeDelegationToken", 0, owners=None)
    marker = {
        "producer_id": 1 << 40,
        "producer_epoch": 0,
        "transaction_result": True,
        "topics": [{"name": name, "partition_indexes": [7]}],
    }
    _asked(s, "marker", "WriteTxnMarkers", 0, markers=[marker])
