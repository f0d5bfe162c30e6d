"""ListOffsets 1-11, DeleteRecords 0-2, OffsetForLeaderEpoch 2-4: what is known of a log without
reading it."""

from __future__ import annotations

from typing import Any

from integration_tests.wire.batches import TIMESTAMP_MS, batch
from integration_tests.wire.people import topic
from integration_tests.wire.raw import Plain
from integration_tests.wire.recorder import Link, Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.scenarios.fetch import fetch, fill, wanted

SPECIALS = (-1, -2, -3, -4, -5, -6, -7)


def listed(name: str, *timestamps: int, partitions: tuple[int, ...] = (), **other: Any) -> Plain:
    """A topic of a ListOffsets request."""
    entries = [
        {"partition_index": partitions[i] if partitions else i, "timestamp": t} | other
        for i, t in enumerate(timestamps)
    ]
    return {"name": name, "partitions": entries}


def list_offsets(link: Link, *topics: Plain, version: int = 11, **other: Any) -> Plain:
    """ListOffsets and its answer."""
    fields: Plain = {"replica_id": -1, "topics": list(topics)}
    if version >= 2:
        fields["isolation_level"] = 0
    if version >= 10:
        fields["timeout_ms"] = 5_000
    return link.ask("ListOffsets", version, **(fields | other))


def log(s: Session) -> str:
    """A log of six records with times: 0, 10, 20 (one batch), 5 (alone), 40, 50."""
    name = topic(s, "t", 2)
    fill(s, name, batch(b"a", b"b", b"c", step_ms=10), batch(b"d", timestamp_ms=TIMESTAMP_MS + 5))
    fill(s, name, batch(b"e", b"f", timestamp_ms=TIMESTAMP_MS + 40, step_ms=10))
    return name


@scenario()
def specials_in_every_version(s: Session) -> None:
    """-1 to -6, each from its first version on; before that, and for others, refused."""
    a = s.connect()
    name = log(s)
    for version in range(1, 12):
        for special in SPECIALS:
            list_offsets(a, listed(name, special), version=version)


@scenario()
def specials_of_an_empty_log(s: Session) -> None:
    """Nothing has been written: every special in the newest version."""
    a = s.connect()
    name = topic(s, "t")
    for special in SPECIALS:
        list_offsets(a, listed(name, special))
    list_offsets(a, listed(name, TIMESTAMP_MS))
    list_offsets(a, listed(name, 0))


@scenario()
def by_timestamp(s: Session) -> None:
    """The first offset whose time is the given or later, with its own time; -1 beyond the last."""
    a = s.connect()
    name = log(s)
    for delta in (-1000, 0, 1, 5, 6, 10, 11, 20, 21, 40, 41, 50, 51):
        list_offsets(a, listed(name, TIMESTAMP_MS + delta), version=7)
    list_offsets(a, listed(name, 0))
    list_offsets(a, listed(name, 9_000_000_000_000_000))
    list_offsets(a, listed(name, TIMESTAMP_MS + 7), version=1)


@scenario()
def errors_of_list_offsets(s: Session) -> None:
    """Unknown topics and partitions, epochs, doubled partitions, bad isolation."""
    a = s.connect()
    name = log(s)
    for version in (1, 4, 7, 11):
        list_offsets(a, listed(s.name("nope"), -1), version=version)
        list_offsets(a, listed(name, -1, partitions=(7,)), version=version)
        list_offsets(a, listed("a b", -1), version=version)
    for epoch in (-1, 0, 1, -2):
        list_offsets(a, listed(name, -1, current_leader_epoch=epoch))
    list_offsets(a, listed(name, -1, -2, partitions=(0, 0)))
    list_offsets(a)
    list_offsets(a, listed(name))
    list_offsets(a, listed(name, -1), isolation_level=1)
    list_offsets(a, listed(name, -1), isolation_level=9)
    list_offsets(a, listed(name, -1), replica_id=1)
    list_offsets(a, listed(name, -1), replica_id=-2)


@scenario()
def delete_records(s: Session) -> None:
    """The log starts later; -1 is its end; what lies outside is refused."""
    a = s.connect()
    name = log(s)

    def delete(version: int, offset: int, partition: int = 0, topic_name: str = name) -> None:
        asked = [
            {"name": topic_name, "partitions": [{"partition_index": partition, "offset": offset}]}
        ]
        a.ask("DeleteRecords", version, topics=asked, timeout_ms=5_000)

    for version in range(3):
        delete(version, 1 + version)
    for offset in (1, 0, 7, -2, 4):
        delete(2, offset)
    for special in (-1, -2, -3, -4, TIMESTAMP_MS, TIMESTAMP_MS + 20):
        list_offsets(a, listed(name, special))
    for offset in (0, 3, 4, 5):
        fetch(a, wanted(name, offset))
    delete(2, -1)
    list_offsets(a, listed(name, -2))
    list_offsets(a, listed(name, -3))
    list_offsets(a, listed(name, TIMESTAMP_MS))
    fetch(a, wanted(name, 6))
    delete(2, 0, 7)
    delete(2, 0, 0, s.name("nope"))
    delete(2, 0, 0, "a b")
    delete(2, -1, 1)
    a.ask("DeleteRecords", 2, topics=[], timeout_ms=5_000)
    several = [
        {
            "name": name,
            "partitions": [
                {"partition_index": 0, "offset": -1},
                {"partition_index": 9, "offset": -1},
            ],
        },
        {"name": s.name("nope"), "partitions": [{"partition_index": 0, "offset": -1}]},
    ]
    a.ask("DeleteRecords", 2, shuffled="topics", topics=several, timeout_ms=5_000)
    compacted = topic(s, "compacted", cleanup_policy="compact")
    delete(2, -1, 0, compacted)
    delete(2, -1, 0, "__consumer_offsets")


@scenario()
def epochs_end(s: Session) -> None:
    """Where a leader's epoch ended: all of this log is of epoch 0."""
    a = s.connect()
    name = log(s)

    def ask(
        version: int,
        epoch: int,
        current: int = -1,
        partition: int = 0,
        topic_name: str = name,
        replica: int = -1,
    ) -> None:
        asked = [
            {
                "topic": topic_name,
                "partitions": [
                    {"partition": partition, "current_leader_epoch": current, "leader_epoch": epoch}
                ],
            }
        ]
        fields: Plain = {"replica_id": replica} if version >= 3 else {}
        a.ask("OffsetForLeaderEpoch", version, topics=asked, **fields)

    for version in (2, 3, 4):
        for epoch in (0, 1, -1, 5):
            ask(version, epoch)
    for current in (0, 1, -2):
        ask(4, 0, current)
    ask(4, 0, partition=1)
    ask(4, 0, partition=7)
    ask(4, 0, topic_name=s.name("nope"))
    ask(4, 0, replica=-2)
    ask(4, 0, replica=1)
    a.ask("OffsetForLeaderEpoch", 4, replica_id=-1, topics=[])
