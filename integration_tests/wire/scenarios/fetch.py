"""Fetch 4-18: what a reader gets, how long it waits, and how sessions are kept."""

from __future__ import annotations

import time
from typing import Any

from integration_tests.wire.batches import batch
from integration_tests.wire.people import topic, topic_id
from integration_tests.wire.raw import Plain
from integration_tests.wire.recorder import Link, Session
from integration_tests.wire.registry import scenario


def fill(s: Session, name: str, *batches: str, partition: int = 0) -> None:
    """Append batches, without steps."""
    for records in batches:
        data = [{"name": name, "partition_data": [{"index": partition, "records": records}]}]
        answer = s.stage().ask_quietly(
            "Produce", 9, transactional_id=None, acks=-1, timeout_ms=5000, topic_data=data
        )
        assert answer["responses"][0]["partition_responses"][0]["error_code"] == 0, answer


def wanted(
    name: str, *offsets: int, version: int = 12, partitions: tuple[int, ...] = (), **other: Any
) -> Plain:
    """A topic of a Fetch request; offsets for partitions 0, 1, ... or those named."""
    listed = []
    for i, offset in enumerate(offsets):
        entry: Plain = {
            "partition": partitions[i] if partitions else i,
            "fetch_offset": offset,
            "partition_max_bytes": 1 << 20,
        }
        listed.append(entry | other)
    return {"topic_id" if version >= 13 else "topic": name, "partitions": listed}


def fetch(link: Link, *topics: Plain, version: int = 12, **other: Any) -> Plain:
    """Fetch without waiting and without a session, unless told otherwise; and its answer."""
    fields: Plain = {
        "max_wait_ms": 0,
        "min_bytes": 0,
        "max_bytes": 1 << 20,
        "isolation_level": 0,
        "topics": list(topics),
    }
    if version >= 7:
        fields |= {"session_id": 0, "session_epoch": -1, "forgotten_topics_data": []}
    if version <= 14:
        fields["replica_id"] = -1
    return link.ask("Fetch", version, **(fields | other))


THREE = (batch(b"a", b"b"), batch(b"c"), batch(b"d", b"e", b"f"))


@scenario()
def fetch_in_every_version(s: Session) -> None:
    """Records, the end of the log, unknown topic, bad partition, out of range: each version's
    shape."""
    a = s.connect()
    name = topic(s, "t")
    fill(s, name, *THREE)
    for version in range(4, 19):
        known, unknown = (topic_id(s, name), "f" * 32) if version >= 13 else (name, s.name("nope"))
        fetch(a, wanted(known, 0, version=version), version=version)
        fetch(a, wanted(known, 6, version=version), version=version)
        fetch(a, wanted(unknown, 0, version=version), version=version)
        fetch(a, wanted(known, 0, version=version, partitions=(5,)), version=version)
        fetch(a, wanted(known, 7, version=version), version=version)


@scenario()
def offsets_inside_batches(s: Session) -> None:
    """The batch that holds the offset comes whole, with what follows; before 0 and after the end is
    out of range."""
    a = s.connect()
    name = topic(s, "t")
    fill(s, name, *THREE)
    for offset in (0, 1, 2, 3, 4, 5, 6, 7, -1, -2):
        fetch(a, wanted(name, offset))
    fetch(a, wanted(name, 0, partitions=(-1,)))
    fetch(a)
    fetch(a, wanted(name, 3), isolation_level=1)
    fetch(a, wanted(name, 3), isolation_level=9)
    fetch(a, wanted(name, 3), version=4, isolation_level=1)


@scenario()
def byte_limits(s: Session) -> None:
    """The first batch always comes whole; then partition and request limits cut, between batches or
    within."""
    a = s.connect()
    name = topic(s, "t", 2)
    fill(s, name, *THREE)
    fill(s, name, *THREE, partition=1)
    sizes = [len(x) // 2 for x in THREE]
    s.say("sizes", sizes)
    for limit in (0, 1, sizes[0] - 1, sizes[0], sizes[0] + 1, sizes[0] + sizes[1], 10_000):
        fetch(a, wanted(name, 0, partition_max_bytes=limit))
        fetch(a, wanted(name, 0, 0), max_bytes=limit)
    fetch(a, wanted(name, 0, 0, partition_max_bytes=1))
    fetch(a, wanted(name, 0, 0), max_bytes=-1)
    fetch(a, wanted(name, 0, partition_max_bytes=-1))
    fetch(a, wanted(name, 6, 0, partition_max_bytes=1), max_bytes=1)


@scenario()
def leader_epochs(s: Session) -> None:
    """Current epochs: older 74, newer 76 (75), -1 unchecked; last fetched epochs may diverge."""
    a = s.connect()
    name = topic(s, "t")
    fill(s, name, *THREE)
    for epoch in (-1, 0, 1, -2):
        fetch(a, wanted(name, 0, current_leader_epoch=epoch), version=11)
        fetch(a, wanted(name, 0, current_leader_epoch=epoch))
    for last in (-1, 0, 1):
        fetch(a, wanted(name, 2, last_fetched_epoch=last))
    fetch(a, wanted(name, 9, last_fetched_epoch=0))


@scenario()
def waiting_for_bytes(s: Session) -> None:
    """A fetch with too little to give waits for more bytes or for its time; errors do not wait."""
    a, b = s.connect("a"), s.connect("b")
    name = topic(s, "t", 2)
    long: Plain = {"max_wait_ms": 10_000, "min_bytes": 1, "max_bytes": 1 << 20, "session_epoch": -1}
    a.send("Fetch", 12, topics=[wanted(name, 0)], **long)
    a.silent(100)
    fill(s, name, THREE[0])
    a.expect()
    a.send("Fetch", 12, topics=[wanted(name, 2, 0)], **(long | {"min_bytes": 100}))
    a.silent(60)
    fill(s, name, THREE[1])
    a.silent(60)
    fill(s, name, THREE[0], partition=1)
    a.expect()
    for topics in (
        [wanted(name, 99)],
        [wanted(s.name("nope"), 0)],
        [wanted(name, 3, partitions=(9,))],
        [],
    ):
        began = time.monotonic()
        b.ask("Fetch", 12, topics=topics, **long)
        s.say("waited", time.monotonic() - began > 5)
    for min_bytes in (1, 0, -1):
        b.ask(
            "Fetch",
            12,
            topics=[wanted(name, 3)],
            **(long | {"max_wait_ms": 100, "min_bytes": min_bytes}),
        )
    b.ask("Fetch", 12, topics=[wanted(name, 3)], **(long | {"max_wait_ms": 0}))
    b.ask("Fetch", 12, topics=[wanted(name, 3)], **(long | {"max_wait_ms": -1}))


@scenario()
def a_waiting_fetch_and_a_deleted_topic(s: Session) -> None:
    """The wait ends when the topic goes."""
    a = s.connect()
    name = topic(s, "t")
    a.send(
        "Fetch",
        12,
        topics=[wanted(name, 0)],
        max_wait_ms=10_000,
        min_bytes=1,
        max_bytes=1 << 20,
        session_epoch=-1,
    )
    a.silent(60)
    s.stage().ask_quietly("DeleteTopics", 5, topic_names=[name], timeout_ms=5000)
    a.expect()


def _session(
    link: Link,
    session: int,
    epoch: int,
    *topics: Plain,
    forget: list[Plain] | None = None,
    version: int = 12,
) -> Plain:
    return fetch(
        link,
        *topics,
        version=version,
        session_id=session,
        session_epoch=epoch,
        forgotten_topics_data=forget or [],
    )


@scenario()
def sessions(s: Session) -> None:
    """Made by epoch 0, then only what changed is told, both ways; forgotten partitions; closed by
    -1."""
    a = s.connect()
    name, other = topic(s, "t", 2), topic(s, "other")
    fill(s, name, THREE[0])
    session = int(_session(a, 0, 0, wanted(name, 0, 0))["session_id"])
    s.say("made", session > 0)
    _session(a, session, 1)
    _session(a, session, 2, wanted(name, 2))
    _session(a, session, 3)
    fill(s, name, THREE[1], partition=1)
    _session(a, session, 4)
    _session(a, session, 5, wanted(name, 2, 1))
    fill(s, name, THREE[1])
    _session(a, session, 6, wanted(other, 0), forget=[{"topic": name, "partitions": [0]}])
    fill(s, other, THREE[1])
    _session(a, session, 7)
    _session(a, session, 8, wanted(name, 99))
    _session(a, session, 9)
    _session(a, session, 10, wanted(s.name("nope"), 0))
    _session(a, session, 11)
    _session(a, session, 12, forget=[{"topic": s.name("nope"), "partitions": [0]}])
    _session(a, session, -1, wanted(name, 0))
    _session(a, session, 1)


@scenario()
def session_errors(s: Session) -> None:
    """Unknown sessions 70, wrong epochs 71; and what starts anew."""
    a = s.connect()
    name = topic(s, "t")
    _session(a, 12345, 1, wanted(name, 0))
    _session(a, 12345, 1, wanted(name, 0), version=7)
    _session(a, 12345, 0, wanted(name, 0))
    _session(a, 12345, -1, wanted(name, 0))
    _session(a, 0, 1, wanted(name, 0))
    session = int(_session(a, 0, 0, wanted(name, 0))["session_id"])
    _session(a, session, 2)
    _session(a, session, 1)
    _session(a, session, 1)
    _session(a, session, 2)
    _session(a, session, 0, wanted(name, 0))
    _session(a, session, 1)
    _session(a, 0, 0)


@scenario()
def sessions_by_topic_id(s: Session) -> None:
    """From version 13 on ids; an unknown id is told once a topic by error 100; 103 when a name's id
    has changed."""
    a = s.connect()
    name = topic(s, "t")
    identity = topic_id(s, name)
    fill(s, name, THREE[0])
    session = int(
        _session(
            a, 0, 0, wanted(identity, 0, version=13), wanted("f" * 32, 0, version=13), version=13
        )["session_id"]
    )
    _session(a, session, 1, version=13)
    _session(a, session, 2, forget=[{"topic_id": "f" * 32, "partitions": [0]}], version=13)
    _session(a, session, 3, version=13)
    _session(a, session, 4, version=12)


@scenario()
def replica_ids(s: Session) -> None:
    """Consumers have no replica id; ids that claim to be a broker."""
    a = s.connect()
    name = topic(s, "t")
    fill(s, name, THREE[0])
    for replica in (-1, -2, 1, 7):
        fetch(a, wanted(name, 0), version=11, replica_id=replica)


@scenario(since="4.3")
def replicas_that_the_leader_does_not_know(s: Session) -> None:
    """A broker that holds no replica is told 75 if it names the leader's epoch, else 6."""
    a = s.connect()
    name = topic(s, "t")
    fill(s, name, THREE[0])
    for epoch in (-1, 0, 1):
        for replica in (1, 7):
            asked = wanted(name, 0, current_leader_epoch=epoch)
            fetch(a, asked, version=12, replica_id=replica)


@scenario()
def segments_that_times_begin(s: Session) -> None:
    """SEG-1: a fetch ends where a segment does, and one begins where a batch's time is more than
    segment.ms after that of the first batch of the last one."""
    week_ms, began_ms = 604_800_000, 1_700_000_000_000
    name = topic(s, "t", 1)
    times = (began_ms, began_ms + week_ms, began_ms + week_ms + 1, began_ms, began_ms + 3 * week_ms)
    fill(s, name, *(batch(b"a", b"b", timestamp_ms=at) for at in times))
    a = s.connect()
    for offset in range(11):
        fetch(a, wanted(name, offset))
    hours = topic(s, "h", 1, segment_ms="3600000")
    fill(s, hours, *(batch(b"a", timestamp_ms=began_ms + i * 1_800_000) for i in range(6)))
    for offset in range(6):
        fetch(a, wanted(hours, offset))


@scenario(since="4.3")
def an_isolation_level_that_there_is_not(s: Session) -> None:
    """-1 for all of it; since topics have ids no partition is in the answer."""
    a, name = s.connect(), topic(s, "t")
    for version in (4, 12, 13, 18):
        named = {"topic": name} if version < 13 else {"topic_id": topic_id(s, name)}
        a.ask(
            "Fetch",
            version,
            replica_id=-1,
            max_wait_ms=0,
            min_bytes=0,
            max_bytes=1000,
            isolation_level=3,
            topics=[
                {
                    **named,
                    "partitions": [
                        {"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1000}
                    ],
                }
            ],
        )
