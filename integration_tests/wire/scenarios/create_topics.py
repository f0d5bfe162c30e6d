"""CreateTopics 2-7, DeleteTopics 1-6, CreatePartitions 0-3: what is refused, and in what words."""

from __future__ import annotations

from typing import Any

from integration_tests.wire.people import ZERO_ID, await_topic, topic, topic_id
from integration_tests.wire.raw import Plain
from integration_tests.wire.recorder import Link, Session
from integration_tests.wire.registry import scenario

LONG = "x" * 250


def new(
    name: str,
    partitions: int = 1,
    replicas: int = 1,
    assignments: dict[int, list[int]] | None = None,
    **configs: str | None,
) -> Plain:
    """One topic of a CreateTopics request."""
    return {
        "name": name,
        "num_partitions": partitions,
        "replication_factor": replicas,
        "assignments": [
            {"partition_index": p, "broker_ids": b} for p, b in (assignments or {}).items()
        ],
        "configs": [{"name": k.replace("_", "."), "value": v} for k, v in configs.items()],
    }


def create(
    link: Link,
    *topics: Plain,
    version: int = 7,
    validate_only: bool = False,
    timeout_ms: int = 5_000,
) -> Plain:
    """CreateTopics and its answer."""
    return link.ask(
        "CreateTopics",
        version,
        topics=list(topics),
        timeout_ms=timeout_ms,
        validate_only=validate_only,
        brief=True,
        shuffled="topics",
    )


def more(name: str, count: int, assignments: list[list[int]] | None = None) -> Plain:
    """One topic of a CreatePartitions request."""
    return {
        "name": name,
        "count": count,
        "assignments": None if assignments is None else [{"broker_ids": b} for b in assignments],
    }


@scenario()
def create_in_every_version(s: Session) -> None:
    """The answer's shape, version by version; from 5 on it carries the topic's configs, from 7 its
    id."""
    a = s.connect()
    for version in range(2, 8):
        create(a, new(s.name(f"t{version}"), 2, segment_ms="60000"), version=version)
        create(a, new(s.name(f"t{version}"), 2), version=version)
    a.ask("CreateTopics", 7, topics=[new(s.name("all-configs"))], timeout_ms=5000)


@scenario()
def create_with_defaults(s: Session) -> None:
    """-1 partitions and replicas mean the broker's own (versions 4 on)."""
    a = s.connect()
    create(a, new(s.name("both"), -1, -1))
    create(a, new(s.name("partitions"), 3, -1))
    create(a, new(s.name("replicas"), -1, 1))
    create(a, new(s.name("old"), -1, -1), version=2)
    a.ask("Metadata", 12, topics=[{"name": s.name("both")}], allow_auto_topic_creation=False)


@scenario()
def create_refused(s: Session) -> None:
    """Names, counts, replicas, assignments: code and message."""
    a = s.connect()
    for name in ("", ".", "..", LONG, "a b", "ü", "a/b", "a:b"):
        create(a, new(name))
    for partitions in (0, -2, -1):
        create(a, new(s.name(f"p{partitions}"), partitions, 1), validate_only=True)
    for replicas in (0, -2, 2, 3, 32767):
        create(a, new(s.name(f"r{replicas}"), 1, replicas))
    create(a, new(s.name("huge"), 10_001), validate_only=True)
    create(a, new(s.name("both-bad"), 0, 0))
    create(a, new("a b", 0, 0, segment_ms="x"))


@scenario()
def create_by_hand(s: Session) -> None:
    """Manual assignments: good ones, gaps, unknown brokers, doubled replicas, with counts beside
    them."""
    a = s.connect()
    create(a, new(s.name("good"), -1, -1, {0: [1], 1: [1]}))
    create(a, new(s.name("gap"), -1, -1, {0: [1], 2: [1]}))
    create(a, new(s.name("from1"), -1, -1, {1: [1]}))
    create(a, new(s.name("unknown"), -1, -1, {0: [7]}))
    create(a, new(s.name("negative"), -1, -1, {0: [-1]}))
    create(a, new(s.name("twice"), -1, -1, {0: [1, 1]}))
    create(a, new(s.name("none"), -1, -1, {0: []}))
    create(a, new(s.name("uneven"), -1, -1, {0: [1], 1: [1, 2]}))
    create(a, new(s.name("count"), 1, -1, {0: [1]}))
    create(a, new(s.name("count1"), -1, 1, {0: [1]}))
    create(a, new(s.name("count2"), 2, 1, {0: [1]}))
    doubled = new(s.name("doubled"), -1, -1)
    doubled["assignments"] = [
        {"partition_index": 0, "broker_ids": [1]},
        {"partition_index": 0, "broker_ids": [1]},
    ]
    create(a, doubled)


@scenario()
def create_with_configs(s: Session) -> None:
    """Configs shown in the answer, unknown and bad ones refused with 40."""
    a = s.connect()
    some = new(s.name("some"), cleanup_policy="compact", max_message_bytes="5000")
    answer = a.ask_quietly("CreateTopics", 7, topics=[some], timeout_ms=5000)
    configs = {c["name"]: c for c in answer["topics"][0]["configs"]}
    s.say("configs shown", len(configs))
    s.say(
        "set", [configs["cleanup.policy"], configs["max.message.bytes"], configs["segment.bytes"]]
    )
    create(a, new(s.name("c"), nope="1"))
    create(a, new(s.name("c"), segment_ms="abc"))
    create(a, new(s.name("c"), segment_ms="0"))
    create(a, new(s.name("c"), segment_ms=None))
    create(a, new(s.name("c"), cleanup_policy="bad"))
    create(a, new(s.name("c"), message_timestamp_type="sometimes"))
    create(a, new(s.name("c"), compression_type="rar"))
    create(a, new(s.name("c"), min_insync_replicas="0"))
    create(a, new(s.name("c"), max_message_bytes="-1"))
    create(a, new(s.name("c"), message_format_version="3.0"))
    create(a, new(s.name("c"), unclean_leader_election_enable="maybe"))


@scenario()
def create_many(s: Session) -> None:
    """One request, several fates; a name twice is refused for both; validation leaves nothing
    behind."""
    a = s.connect()
    create(a, new(s.name("x")), new(s.name("y"), 0), new("a b"))
    create(a, new(s.name("twin")), new(s.name("twin"), 2), new(s.name("other")))
    create(a, new(s.name("dry"), 2), validate_only=True)
    create(a, new(s.name("x"), 2), validate_only=True)
    create(a, new(s.name("dry"), 2))
    create(a)
    create(a, new(s.name("hasty")), timeout_ms=0)
    create(a, new(s.name("hastier")), timeout_ms=-1)


@scenario()
def names_that_collide(s: Session) -> None:
    """A dot and an underscore are the same in metric names."""
    a = s.connect()
    create(a, new(s.name("a.b")))
    create(a, new(s.name("a_b")))
    create(a, new(s.name("c_d")), new(s.name("c.d")))


@scenario()
def internal_topics(s: Session) -> None:
    """__consumer_offsets is there from the start, and is not for creating or deleting."""
    a = s.connect()
    create(a, new("__consumer_offsets"))
    answer = a.ask_quietly(
        "Metadata", 12, topics=[{"name": "__consumer_offsets"}], allow_auto_topic_creation=False
    )
    found = answer["topics"][0]
    s.say("internal", [found["error_code"], found["is_internal"], len(found["partitions"])])


@scenario()
def delete_in_every_version(s: Session) -> None:
    """Delete by name, then again; version 5 adds messages, 6 ids."""
    a = s.connect()
    for version in range(1, 6):
        name = topic(s, f"t{version}", 2)
        a.ask(
            "DeleteTopics",
            version,
            shuffled="responses",
            topic_names=[name, s.name("nope")],
            timeout_ms=5000,
        )
        await_topic(s.stage(), name, None)
        a.ask("DeleteTopics", version, shuffled="responses", topic_names=[name], timeout_ms=5000)
    name = topic(s, "t6")
    a.ask("DeleteTopics", 6, topics=[{"name": name, "topic_id": ZERO_ID}], timeout_ms=5000)
    await_topic(s.stage(), name, None)
    a.ask("DeleteTopics", 6, topics=[{"name": name, "topic_id": ZERO_ID}], timeout_ms=5000)


@scenario()
def delete_by_id(s: Session) -> None:
    """Version 6: ids, unknown ids, a name and an id at once, neither, doubled."""
    a = s.connect()
    one, two, three = topic(s, "one"), topic(s, "two"), topic(s, "three")
    id_one, id_two = topic_id(s, one), topic_id(s, two)

    def delete(*topics: tuple[str | None, str]) -> None:
        listed = [{"name": name, "topic_id": identity} for name, identity in topics]
        a.ask("DeleteTopics", 6, shuffled="responses", topics=listed, timeout_ms=5000)

    delete((None, "f" * 32))
    delete((None, ZERO_ID))
    delete((one, id_one))
    delete(("", ZERO_ID))
    delete((three, ZERO_ID), (three, ZERO_ID))
    await_topic(s.stage(), three, 1)
    delete((None, id_two), (None, id_two))
    await_topic(s.stage(), two, 1)
    delete((two, ZERO_ID), (None, id_two))
    delete((None, id_one), (s.name("nope"), ZERO_ID))
    await_topic(s.stage(), one, None)
    a.ask("DeleteTopics", 6, topics=[], timeout_ms=5000)
    a.ask("DeleteTopics", 1, shuffled="responses", topic_names=["", "a b"], timeout_ms=5000)


@scenario()
def grow_in_every_version(s: Session) -> None:
    """CreatePartitions: bigger, same, smaller, unknown, twice in a request, by hand, only
    asking."""
    a = s.connect()
    name = topic(s, "t", 1)

    def grow(version: int, *topics: Plain, **other: Any) -> None:
        fields: Plain = {"topics": list(topics), "timeout_ms": 5000, "validate_only": False}
        a.ask("CreatePartitions", version, shuffled="results", **(fields | other))

    for version in range(4):
        grow(version, more(name, 2 + version))
        await_topic(s.stage(), name, 2 + version)
    for count in (5, 4, 0, -1):
        grow(3, more(name, count))
    grow(3, more(s.name("nope"), 3))
    grow(3, more("a b", 3))
    grow(3, more("", 3))
    grow(3, more(name, 9), more(name, 9))
    grow(3, more(name, 6, [[1]]), validate_only=True)
    grow(3, more(name, 6, [[1], [1]]))
    grow(3, more(name, 7, [[1]]))
    grow(3, more(name, 6, [[7]]))
    grow(3, more(name, 6, [[1, 1]]))
    grow(3, more(name, 6, [[]]))
    grow(3, more(name, 6, []))
    grow(3, more(name, 6, [[1]]))
    grow(3, more(name, 8), more(s.name("nope"), 3))
    grow(3, more(name, 20_000), validate_only=True)
    grow(3)
    await_topic(s.stage(), name, 8)


@scenario("limits")
def partitions_by_default(s: Session) -> None:
    """num.partitions stands in for -1."""
    a = s.connect()
    answer = create(a, new(s.name("t"), -1, -1))
    s.say("partitions", answer["topics"][0]["num_partitions"])
