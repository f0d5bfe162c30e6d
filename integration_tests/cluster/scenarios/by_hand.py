"""Topics placed by hand, topics asked for by id, and where each broker keeps its replicas."""

from __future__ import annotations

import re
from typing import Any

from integration_tests.cluster.registry import scenario
from integration_tests.cluster.scenarios.reassignments import reassign
from integration_tests.cluster.stage import BROKERS, OFFSETS, Cluster
from integration_tests.wire.people import ZERO_ID
from integration_tests.wire.raw import Plain


def make(
    c: Cluster, label: str, *assignments: tuple[int, list[int]], version: int = 7, **other: Any
) -> Plain:
    """CreateTopics of one topic with these (partition, replicas), checked only."""
    entries = [{"partition_index": index, "broker_ids": ids} for index, ids in assignments]
    topic: Plain = {
        "name": c.s.name(label),
        "num_partitions": -1,
        "replication_factor": -1,
        "assignments": entries,
        "configs": [],
    }
    fields: Plain = {"topics": [topic | other], "timeout_ms": 10_000, "validate_only": True}
    return c.at(2).ask("CreateTopics", version, **fields, brief=True)


@scenario
def topics_by_hand(c: Cluster) -> None:
    """REPL-6: partitions that are missing, come twice or are negative; counts beside assignments;
    replicas on brokers that are gone."""
    for version in (4, 5, 7):
        make(c, "right", (0, [1, 2]), (1, [2, 3]), version=version)
        make(c, "gap", (0, [1, 2]), (2, [2, 3]), version=version)
        make(c, "twice", (0, [1, 2]), (0, [2, 3]), version=version)
        make(c, "negative", (-1, [1, 2]), (0, [2, 3]), version=version)
        make(c, "not from zero", (1, [1, 2]), version=version)
    make(c, "in another order", (1, [1, 2]), (0, [2, 3]))
    make(c, "a count", (0, [1, 2]), num_partitions=1)
    make(c, "a factor", (0, [1, 2]), replication_factor=2)
    make(c, "both", (0, [1, 2]), num_partitions=1, replication_factor=2)
    make(c, "a negative broker", (0, [-1, 2]))
    make(c, "unknown brokers", (0, [7, 8]), (1, [9, 1]))
    make(c, "unequal", (0, [1]), (1, [1, 2]), (2, [1, 2, 3]))
    make(c, "none of some", (0, [1]), (1, []))
    make(c, "no count", num_partitions=0, replication_factor=1)
    make(c, "no factor", num_partitions=1, replication_factor=0)
    make(c, "negative", num_partitions=-2, replication_factor=-2)
    make(c, "many", num_partitions=1, replication_factor=4)
    make(
        c,
        "wrong configuration",
        (0, [1, 2]),
        configs=[{"name": "min.insync.replicas", "value": "0"}],
    )
    make(c, "wrong both", (0, [1, 1]), configs=[{"name": "nope", "value": "0"}])
    c.crash(3)
    make(c, "gone", (0, [3]))
    make(c, "one gone", (0, [3, 1]))
    make(c, "some gone", (0, [1, 2]), (1, [3]))
    make(c, "by factor", num_partitions=2, replication_factor=3)


@scenario
def topics_by_id(c: Cluster) -> None:
    """Metadata by topic id: of one that was deleted and made anew, of none, beside names;
    DeleteTopics by id at any broker."""
    name, other = c.topic("t", [1, 2]), c.topic("other", [2, 3])
    old, kept = c.topic_id(name), c.topic_id(other)
    for broker in BROKERS:
        for version in (10, 12, 13):
            c.at(broker).ask(
                "Metadata",
                version,
                topics=[{"topic_id": kept, "name": None}],
                allow_auto_topic_creation=False,
            )
    c.at(1).ask(
        "Metadata",
        12,
        topics=[{"topic_id": old, "name": None}, {"topic_id": "f" * 32, "name": None}],
        shuffled="topics",
    )
    c.at(1).ask("Metadata", 12, topics=[{"topic_id": ZERO_ID, "name": None}])
    c.at(1).ask("Metadata", 12, topics=[{"topic_id": old, "name": name}])
    c.at(3).ask("DeleteTopics", 6, topics=[{"name": None, "topic_id": "f" * 32}], timeout_ms=10_000)
    c.at(3).ask("DeleteTopics", 6, topics=[{"name": name, "topic_id": old}], timeout_ms=10_000)
    c.at(3).ask("DeleteTopics", 6, topics=[{"name": None, "topic_id": ZERO_ID}], timeout_ms=10_000)
    c.at(3).ask("DeleteTopics", 6, topics=[{"name": None, "topic_id": old}], timeout_ms=10_000)
    c.s.until(lambda: not any(c.partition(name, 0, broker) for broker in c.alive), "it stayed")
    assert c.topic("t", [2, 1]) == name
    for broker in BROKERS:
        c.at(broker).ask("Metadata", 12, topics=[{"topic_id": old, "name": None}])
        c.at(broker).ask("Metadata", 12, topics=[{"topic_id": c.topic_id(name), "name": None}])
    c.at(1).ask("DeleteTopics", 6, topics=[{"name": None, "topic_id": old}], timeout_ms=10_000)
    c.crash(3)
    c.until(other, 0, isr_nodes={2})
    c.at(1).ask("Metadata", 13, topics=[{"topic_id": kept, "name": None}])


@scenario
def where_replicas_lie(c: Cluster) -> None:
    """DescribeLogDirs in each version: bytes and lag of each replica, of a topic that moves away,
    and of what is not there."""
    name, gone = c.topic("t", [1, 2], [2, 3]), c.topic("gone", [3, 1])
    for broker in (1, 2):
        c.produce(name, b"a", b"b", broker=broker, index=broker - 1)
    c.produce(gone, b"c", broker=3)
    c.committed_at(name, 2, 2)
    c.committed_at(gone, 1, 1)

    def lies(version: int, wanted: list[Plain]) -> None:
        for broker in BROKERS:
            answer = c.quietly("DescribeLogDirs", version, broker, topics=wanted)
            found = [
                [one["error_code"], sorted(one["topics"], key=lambda topic: str(topic["name"]))]
                for one in answer["results"]
            ]
            for _, topics in found:
                for topic in topics:
                    topic["partitions"].sort(key=lambda each: each["partition_index"])
            c.s.say(f"at {broker}", [answer.get("error_code"), found])

    for version in (1, 2, 3, 4):
        lies(
            version, [{"topic": name, "partitions": [0, 1, 9]}, {"topic": gone, "partitions": [0]}]
        )
    lies(4, [{"topic": name, "partitions": []}, {"topic": c.s.name("nope"), "partitions": [0]}])
    lies(4, [])
    reassign(c, gone, {0: [1]})
    c.until(gone, 0, replica_nodes=[1], isr_nodes={1})
    asked = [{"topic": gone, "partitions": [0]}]
    c.s.until(
        lambda: not c.quietly("DescribeLogDirs", 4, 3, topics=asked)["results"][0]["topics"],
        "it stayed",
    )
    lies(4, [{"topic": gone, "partitions": [0]}])
    for broker in (1, 3):
        for path in ("/nope", "nope", ""):
            topics = [
                {"name": gone, "partitions": [0, 4]},
                {"name": c.s.name("nope"), "partitions": [0]},
            ]
            for version in (1, 2):
                c.at(broker).ask(
                    "AlterReplicaLogDirs",
                    version,
                    dirs=[{"path": path, "topics": topics}],
                    shuffled="results",
                )
    c.at(1).ask("AlterReplicaLogDirs", 2, dirs=[])
    c.at(1).ask(
        "AlterReplicaLogDirs",
        2,
        dirs=[{"path": "/nope", "topics": [{"name": OFFSETS, "partitions": []}]}],
    )


@scenario
def features_that_cannot_change(c: Cluster) -> None:
    """UpdateFeatures, checked only: unknown features and levels, too high, too low, down without
    leave; at each broker."""

    def asked(broker: int, version: int, *updates: tuple[str, int, int]) -> None:
        """Ask, and tell what is no chance in the answer: errors name the controller."""
        listed = [
            dict(zip(("feature", "max_version_level", "upgrade_type"), update, strict=True))
            for update in updates
        ]
        answer = c.quietly(
            "UpdateFeatures",
            version,
            broker,
            timeout_ms=10_000,
            feature_updates=listed,
            validate_only=True,
        )
        c.s.say(
            f"{updates} at {broker}",
            [
                answer["error_code"],
                re.sub("controller [123]", "controller N", answer["error_message"] or ""),
            ],
        )

    for broker in BROKERS:
        for feature, level, kind in (
            ("nope", 1, 1),
            ("metadata.version", 99, 1),
            ("metadata.version", 1, 1),
            ("metadata.version", 1, 2),
            ("metadata.version", 0, 3),
            ("metadata.version", 29, 9),
            ("transaction.version", 2, 1),
            ("transaction.version", 3, 1),
            ("transaction.version", -1, 1),
            ("group.version", 1, 1),
            ("group.version", 2, 1),
            ("group.version", 1, 2),
            ("kraft.version", 7, 1),
            ("share.version", 7, 1),
            ("eligible.leader.replicas.version", 1, 1),
            ("eligible.leader.replicas.version", 2, 1),
            ("streams.version", 7, 1),
            ("", 1, 1),
        ):
            asked(broker, 2, (feature, level, kind))
    for version in (1, 2):
        asked(1, version, ("nope", 9, 1), ("group.version", 9, 1))
        asked(
            1,
            version,
            ("group.version", 9, 1),
            ("nope", 9, 1),
            ("metadata.version", 99, 1),
            ("transaction.version", 9, 1),
        )
        asked(1, version, ("nope", 9, 1), ("nope", 0, 1))
        asked(1, version)
