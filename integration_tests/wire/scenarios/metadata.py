"""Metadata 0-13, DescribeCluster 0-2, DescribeTopicPartitions 0, FindCoordinator 0-6: what brokers
say of topics and themselves."""

from __future__ import annotations

from typing import Any

from integration_tests.wire.people import ZERO_ID, await_topic, topic, topic_id
from integration_tests.wire.raw import Plain
from integration_tests.wire.recorder import Session
from integration_tests.wire.registry import scenario


@scenario()
def metadata_in_every_version(s: Session) -> None:
    """A topic that is there and one that is not, in each version's shape."""
    a = s.connect()
    there = topic(s, "there", 2)
    for version in range(14):
        quiet: Plain = {"allow_auto_topic_creation": False} if version >= 4 else {}
        a.ask("Metadata", version, topics=[{"name": there}], **quiet)
        if version >= 4:
            a.ask("Metadata", version, topics=[{"name": s.name("nope")}], **quiet)


@scenario()
def no_topics_and_all_topics(s: Session) -> None:
    """Version 0: empty means all; from 1 on null means all and empty none."""
    a = s.connect()
    one = topic(s, "one")
    two = topic(s, "two")
    for version in (0, 1, 9, 13):
        a.ask("Metadata", version, topics=[], only="topics")
    for version in (1, 7, 12):
        answer = a.ask("Metadata", version, topics=None, only="topics")
        s.say("both are there", {one, two} <= {t["name"] for t in answer["topics"]})


@scenario()
def odd_topics(s: Session) -> None:
    """Bad names, the same name twice, what is there first. The order of several that are not there
    depends on the hashes of their names (META-44-1)."""
    a = s.connect()
    name = topic(s, "t")
    for asked in (
        [""],
        ["a b"],
        ["."],
        ["x" * 250],
        [name, name],
        [s.name("z"), name],
        ["a b", name],
    ):
        a.ask("Metadata", 12, topics=[{"name": n} for n in asked], allow_auto_topic_creation=False)
    a.ask("Metadata", 1, topics=[{"name": "a b"}])


@scenario()
def automatic_creation(s: Session) -> None:
    """Asked for with leave to create, a topic is made with the broker's defaults; bad names are
    refused."""
    a = s.connect()
    for version in (0, 1, 3):
        name = s.name(f"auto{version}")
        a.ask("Metadata", version, topics=[{"name": name}])
        await_topic(s.stage(), name, 1)
        a.ask("Metadata", version, topics=[{"name": name}])
    for version in (4, 12):
        name = s.name(f"auto{version}")
        a.ask("Metadata", version, topics=[{"name": name}], allow_auto_topic_creation=True)
        await_topic(s.stage(), name, 1)
        a.ask("Metadata", version, topics=[{"name": name}], allow_auto_topic_creation=True)
    a.ask("Metadata", 12, topics=[{"name": "a b"}], allow_auto_topic_creation=True)
    a.ask(
        "Metadata",
        12,
        topics=[{"name": s.name("x.y")}, {"name": s.name("x_y")}],
        shuffled="topics",
        allow_auto_topic_creation=True,
    )


@scenario("limits")
def automatic_creation_switched_off(s: Session) -> None:
    """auto.create.topics.enable=false: leave to create changes nothing."""
    a = s.connect()
    for version in (0, 4, 12):
        leave: Plain = {"allow_auto_topic_creation": True} if version >= 4 else {}
        a.ask("Metadata", version, topics=[{"name": s.name("auto")}], **leave)


@scenario()
def metadata_by_id(s: Session) -> None:
    """Versions 10-13: by id, unknown id, id and name together."""
    a = s.connect()
    name = topic(s, "t")
    identity = topic_id(s, name)
    for version in (10, 11, 12, 13):
        for asked in (
            {"topic_id": identity, "name": None},
            {"topic_id": "f" * 32, "name": None},
            {"topic_id": identity, "name": name},
            {"topic_id": ZERO_ID, "name": None},
        ):
            a.ask("Metadata", version, topics=[asked], allow_auto_topic_creation=False)
    mixed = [{"topic_id": identity, "name": None}, {"topic_id": ZERO_ID, "name": name}]
    a.ask("Metadata", 12, topics=mixed, allow_auto_topic_creation=False)


@scenario()
def authorized_operations(s: Session) -> None:
    """Bit fields when asked for, the smallest number when not."""
    a = s.connect()
    name = topic(s, "t")
    asking: Plain = {"topics": [{"name": name}], "allow_auto_topic_creation": False}
    a.ask(
        "Metadata",
        8,
        **asking,
        include_cluster_authorized_operations=True,
        include_topic_authorized_operations=True,
    )
    a.ask("Metadata", 8, **asking)
    a.ask("Metadata", 12, **asking, include_topic_authorized_operations=True)
    a.ask("DescribeCluster", 2, include_cluster_authorized_operations=True)


@scenario()
def describe_cluster(s: Session) -> None:
    """Brokers in versions 0-2; controllers and unknown endpoints refused."""
    a = s.connect()
    for version in range(3):
        a.ask("DescribeCluster", version)
    for endpoint in (0, 1, 2, 3):
        a.ask("DescribeCluster", 1, endpoint_type=endpoint)
    a.ask("DescribeCluster", 2, include_fenced_brokers=True)


def _pages(s: Session, names: list[str], **other: Any) -> Plain:
    return s.connect().ask(
        "DescribeTopicPartitions", 0, **({"topics": [{"name": n} for n in names]} | other)
    )


@scenario()
def describe_topic_partitions(s: Session) -> None:
    """Several topics come sorted, unknown ones with 3, bad names with 17."""
    b, a = topic(s, "b", 2), topic(s, "a", 1)
    _pages(s, [b, a])
    _pages(s, [a, s.name("nope"), b])
    _pages(s, [a, a])
    _pages(s, ["a b"])
    _pages(s, [""])
    _pages(s, ["__nope"])


@scenario()
def describe_topic_partitions_in_pages(s: Session) -> None:
    """The limit counts partitions over all topics; the cursor says where to go on."""
    b, a = topic(s, "b", 3), topic(s, "a", 3)
    for limit in (1, 2, 3, 4, 6, 0, -1):
        _pages(s, [a, b], response_partition_limit=limit)
    cursor: Plain | None = None
    for _ in range(4):
        answer = _pages(s, [a, b], response_partition_limit=2, cursor=cursor)
        cursor = answer["next_cursor"]
        if cursor is None:
            break
    _pages(s, [a, b], cursor={"topic_name": a, "partition_index": 2})
    _pages(s, [a, b], cursor={"topic_name": b, "partition_index": 0})
    _pages(s, [a, b], cursor={"topic_name": b, "partition_index": 3})
    _pages(s, [a, b], cursor={"topic_name": b, "partition_index": -1})
    _pages(s, [a, b], cursor={"topic_name": s.name("aa"), "partition_index": 0})
    _pages(s, [a, b], cursor={"topic_name": s.name("zz"), "partition_index": 0})
    _pages(s, [a], cursor={"topic_name": "", "partition_index": 0})


@scenario()
def find_coordinator(s: Session) -> None:
    """FC-1, FC-4, FC-5, VER-7: each version's shape, odd keys, bad types, batches."""
    a = s.connect()
    group = s.name("g")
    a.ask("FindCoordinator", 0, key=group)
    for version in (1, 2, 3):
        a.ask("FindCoordinator", version, key=group, key_type=0)
        a.ask("FindCoordinator", version, key=group, key_type=7)
        a.ask("FindCoordinator", version, key=group, key_type=-1)
        a.ask("FindCoordinator", version, key="", key_type=0)
        a.ask("FindCoordinator", version, key=group, key_type=2)
    for version in (4, 5, 6):
        a.ask("FindCoordinator", version, coordinator_keys=[group, "", group], key_type=0)
        a.ask("FindCoordinator", version, coordinator_keys=[], key_type=0)
        a.ask("FindCoordinator", version, coordinator_keys=[group, "x"], key_type=7)
    for version in (4, 5):
        a.ask("FindCoordinator", version, coordinator_keys=[group], key_type=2)


@scenario()
def api_versions(s: Session) -> None:
    """VER-16: versions 0-4, software names, and the answer to a version from the future."""
    a = s.connect()
    for version in (0, 1, 2, 3, 4):
        told = (
            {"client_software_name": "raw", "client_software_version": "1.0"}
            if version >= 3
            else {}
        )
        answer = a.ask_quietly("ApiVersions", version, **told)
        served = {k["api_key"]: [k["min_version"], k["max_version"]] for k in answer["api_keys"]}
        s.say("served", {str(key): served.get(key) for key in SERVED})
        s.say("rest", {k: v for k, v in answer.items() if k in ("error_code", "throttle_time_ms")})
    for name, version_text in (
        ("", "1"),
        ("x", ""),
        ("a b", "1"),
        ("x", "-"),
        ("a.b-c", "1.0-x"),
        ("ü", "1"),
        ("x.", "1"),
    ):
        answer = a.ask_quietly(
            "ApiVersions", 3, client_software_name=name, client_software_version=version_text
        )
        s.say("named", [name, version_text, answer["error_code"], bool(answer["api_keys"])])
    for future in (5, 127, 32767, -1):
        a.connection.send_bytes(_frame(18, future))
        a.frame()


def _frame(key: int, version: int) -> bytes:
    body = (
        key.to_bytes(2, "big")
        + version.to_bytes(2, "big", signed=True)
        + (77).to_bytes(4, "big")
        + b"\x00\x01x\x00\x02a\x02b\x00"
    )
    return len(body).to_bytes(4, "big") + body


SERVED = (
    0,
    1,
    2,
    3,
    8,
    9,
    10,
    11,
    12,
    13,
    14,
    15,
    16,
    18,
    19,
    20,
    21,
    22,
    23,
    32,
    33,
    37,
    42,
    44,
    47,
    60,
    75,
)
