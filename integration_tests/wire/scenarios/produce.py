"""Produce 3-13, InitProducerId 0-5: what is appended, what is refused, and the memory of idempotent
producers."""

from __future__ import annotations

from typing import Any

import google_crc32c

from integration_tests.wire.batches import COMPRESSIONS, TIMESTAMP_MS, Producer, batch
from integration_tests.wire.people import topic, topic_id
from integration_tests.wire.raw import Plain
from integration_tests.wire.recorder import Link, Session
from integration_tests.wire.registry import scenario

ONE = batch(b"one")


def request(
    name: str,
    records: str | None,
    partition: int = 0,
    *,
    version: int = 12,
    acks: int = -1,
    **other: Any,
) -> Plain:
    """The fields of a Produce request with one partition; `name` is the topic's id from version 13
    on."""
    named = {"topic_id": name} if version >= 13 else {"name": name}
    data = [{**named, "partition_data": [{"index": partition, "records": records}]}]
    return {"transactional_id": None, "acks": acks, "timeout_ms": 5000, "topic_data": data} | other


def produce(
    link: Link,
    name: str,
    records: str | None,
    partition: int = 0,
    *,
    version: int = 12,
    **other: Any,
) -> Plain:
    """Produce to one partition, and its answer."""
    return link.ask(
        "Produce", version, **request(name, records, partition, version=version, **other)
    )


def latest(link: Link, name: str, partition: int = 0) -> Plain:
    """ListOffsets of the log's end."""
    asked = [
        {
            "name": name,
            "partitions": [
                {"partition_index": partition, "current_leader_epoch": -1, "timestamp": -1}
            ],
        }
    ]
    return link.ask("ListOffsets", 7, replica_id=-1, isolation_level=0, topics=asked)


@scenario()
def produce_in_every_version(s: Session) -> None:
    """Success, unknown topic and bad partition in each version's shape."""
    a = s.connect()
    name = topic(s, "t", 2)
    for version in range(3, 14):
        known = topic_id(s, name) if version >= 13 else name
        unknown = "f" * 32 if version >= 13 else s.name("nope")
        produce(a, known, batch(b"a", b"b"), version=version)
        produce(a, unknown, ONE, version=version)
        produce(a, known, ONE, 7, version=version)
        produce(a, known, ONE, -1, version=version)
        produce(a, known, batch(b"x", break_crc=True), 1, version=version)
    latest(a, name)


@scenario()
def acks(s: Session) -> None:
    """0 is not answered, 1 and -1 are, others are refused; an error under 0 closes the
    connection."""
    a = s.connect()
    name = topic(s, "t")
    for count in (1, -1):
        produce(a, name, ONE, acks=count)
    for count in (2, -2, 32767):
        produce(a, name, ONE, acks=count)
    a.send_unanswered("Produce", 12, **request(name, ONE, acks=0))
    latest(a, name)
    for label, fields in {
        "unknown topic": request(s.name("nope"), ONE, acks=0),
        "bad crc": request(name, batch(b"x", break_crc=True), acks=0),
    }.items():
        b = s.connect(label)
        b.send_unanswered("Produce", 12, **fields)
        b.ends()
    latest(a, name)


@scenario()
def nothing_to_append(s: Session) -> None:
    """Empty bytes, no partitions, no topics, empty batches."""
    a = s.connect()
    name = topic(s, "t")
    produce(a, name, "")
    produce(a, name, batch())
    produce(a, name, batch(count=0, last_offset_delta=0))
    a.ask("Produce", 12, transactional_id=None, acks=-1, timeout_ms=5000, topic_data=[])
    a.ask(
        "Produce",
        12,
        transactional_id=None,
        acks=-1,
        timeout_ms=5000,
        topic_data=[{"name": name, "partition_data": []}],
    )
    latest(a, name)


@scenario()
def broken_batches(s: Session) -> None:
    """Wrong sums, lengths, magics, counts; several batches; bytes that are no batch."""
    a = s.connect()
    name = topic(s, "t")
    good = batch(b"one", b"two")
    produce(a, name, batch(b"x", break_crc=True))
    produce(a, name, batch(b"x", magic=1))
    produce(a, name, batch(b"x", magic=0))
    produce(a, name, batch(b"x", magic=3))
    produce(a, name, batch(b"x", magic=-1))
    produce(a, name, good + good)
    produce(a, name, good[:-2])
    produce(a, name, good + "00")
    produce(a, name, "00" * 10)
    produce(a, name, "ff" * 70)
    produce(a, name, "00" * 70)
    produce(a, name, batch(b"x", count=5))
    produce(a, name, batch(b"x", b"y", count=1))
    produce(a, name, batch(b"x", last_offset_delta=5))
    produce(a, name, batch(b"x", b"y", last_offset_delta=0))
    produce(a, name, batch(b"x", last_offset_delta=-1))
    produce(a, name, batch(b"x", base_offset=100))
    produce(a, name, batch(b"x", attributes=16))
    produce(a, name, batch(b"x", attributes=32))
    produce(a, name, batch(b"x", attributes=64))
    produce(a, name, batch(b"x", attributes=128))
    latest(a, name)


@scenario()
def a_batch_shorter_than_its_header(s: Session) -> None:
    """Whole by its own length, of format 2, but ending within the 61 bytes of a header; with and
    without the transactional bit."""
    a = s.connect()
    name = topic(s, "t")
    good = bytes.fromhex(ONE)
    for size in (26, 40, 60):
        for attributes in (b"\x00\x00", b"\x00\x10"):
            short = (
                good[:8] + (size - 12).to_bytes(4, "big") + good[12:21] + attributes + good[23:size]
            )
            produce(a, name, short.hex())


@scenario()
def faults_beside_faults(s: Session) -> None:
    """Which of two faults is told: an unknown compression before wrong counts; a number too long
    for a varint is -1."""
    a = s.connect()
    name = topic(s, "t")
    for attributes in (5, 6, 7):
        produce(a, name, batch(b"x", attributes=attributes, count=0))
        produce(a, name, batch(b"x", attributes=attributes, last_offset_delta=3))
        produce(a, name, batch(b"x", attributes=attributes | 32))
    for size in ("ffffffffff00", "ffffffffff7f", "ffffffff0f", "8080808010", "00", "7f"):
        good = bytes.fromhex(batch(b"x" * 20))
        broken = good[:61] + bytes.fromhex(size) + good[62:]
        framed = broken[:8] + (len(broken) - 12).to_bytes(4, "big") + broken[12:17]
        produce(
            a,
            name,
            (framed + google_crc32c.value(broken[21:]).to_bytes(4, "big") + broken[21:]).hex(),
        )


@scenario()
def several_partitions_at_once(s: Session) -> None:
    """Each partition has its own fate; the same partition twice."""
    a = s.connect()
    name, other = topic(s, "t", 3), topic(s, "other")
    mixed = (2, ONE), (0, batch(b"x", break_crc=True)), (1, ONE), (9, ONE)
    data = [
        {"name": name, "partition_data": [{"index": i, "records": r} for i, r in mixed]},
        {"name": s.name("nope"), "partition_data": [{"index": 0, "records": ONE}]},
        {"name": other, "partition_data": [{"index": 0, "records": ONE}]},
    ]
    for version in (7, 12):
        answer = a.ask_quietly(
            "Produce", version, transactional_id=None, acks=-1, timeout_ms=5000, topic_data=data
        )
        for found in sorted(answer["responses"], key=lambda t: str(t["name"])):
            s.say(
                "answer",
                found
                | {
                    "partition_responses": sorted(
                        found["partition_responses"], key=lambda p: int(p["index"])
                    )
                },
            )
    twice = [
        {
            "name": name,
            "partition_data": [
                {"index": 0, "records": ONE},
                {"index": 0, "records": batch(b"two")},
            ],
        }
    ]
    a.ask("Produce", 12, transactional_id=None, acks=-1, timeout_ms=5000, topic_data=twice)
    for partition in range(3):
        latest(a, name, partition)


@scenario()
def names_that_are_no_topics(s: Session) -> None:
    """Bad names and the internal topic."""
    a = s.connect()
    for name in ("", "a b", ".", "x" * 250):
        produce(a, name, ONE)
    produce(a, "__consumer_offsets", ONE)
    produce(a, s.name("auto"), ONE)
    a.ask("Metadata", 12, topics=[{"name": s.name("auto")}], allow_auto_topic_creation=False)


@scenario()
def too_large(s: Session) -> None:
    """max.message.bytes of the topic, at its edge: the whole batch counts."""
    a = s.connect()
    name = topic(s, "t", max_message_bytes="200")
    size = len(batch(b"")) // 2
    for padding in (200 - size - 2, 200 - size - 1, 200 - size, 1_000):
        records = batch(b"x" * padding)
        s.say("bytes", len(records) // 2)
        produce(a, name, records)
    produce(a, name, batch(b"x" * 1_000), version=3)
    latest(a, name)


@scenario("limits")
def too_large_for_the_broker(s: Session) -> None:
    """message.max.bytes rules where the topic says nothing, and gives way where it does."""
    a = s.connect()
    produce(a, topic(s, "small"), batch(b"x" * 3_000))
    produce(a, topic(s, "large", max_message_bytes="5000"), batch(b"x" * 3_000))


@scenario()
def compressed(s: Session) -> None:
    """Compressed batches are kept as they are; bytes that do not decompress are refused."""
    a = s.connect()
    name = topic(s, "t")
    for codec in (*COMPRESSIONS.values(), 5, 7):
        produce(a, name, batch(b"not really compressed", attributes=codec))
    latest(a, name)


@scenario()
def timestamps(s: Session) -> None:
    """LogAppendTime topics stamp and say so; odd create times are taken, far-off ones refused."""
    a = s.connect()
    stamped, kept = topic(s, "stamped", message_timestamp_type="LogAppendTime"), topic(s, "kept")
    strict = topic(
        s, "strict", message_timestamp_after_max_ms="1000", message_timestamp_before_max_ms="1000"
    )
    produce(a, stamped, batch(b"a", b"b", step_ms=5))
    produce(a, kept, batch(b"a", timestamp_ms=-1))
    produce(a, kept, batch(b"a", timestamp_ms=0))
    produce(a, kept, batch(b"a", timestamp_ms=-2))
    produce(a, kept, batch(b"a", attributes=8))
    produce(a, kept, batch(b"a", timestamp_ms=TIMESTAMP_MS * 3))
    for name in (stamped, kept):
        read = [
            {
                "topic": name,
                "partitions": [{"partition": 0, "fetch_offset": 0, "partition_max_bytes": 100_000}],
            }
        ]
        a.ask(
            "Fetch",
            11,
            max_wait_ms=0,
            min_bytes=0,
            max_bytes=1 << 20,
            session_epoch=-1,
            topics=read,
        )
    answer = a.ask_quietly("Produce", 12, **request(strict, batch(b"a")))["responses"][0][
        "partition_responses"
    ][0]
    s.say("too old", [answer["error_code"], len(answer["record_errors"]), answer["error_message"]])


@scenario()
def keys_in_compacted_topics(s: Session) -> None:
    """A compacted topic takes no record without a key."""
    a = s.connect()
    name = topic(s, "t", cleanup_policy="compact")
    produce(a, name, batch(b"a"))
    produce(a, name, batch(b"a", b"b"))
    produce(a, name, batch(b"a", key=b"k"))
    produce(a, name, batch(b"a"), version=7)
    latest(a, name)


@scenario()
def producer_ids(s: Session) -> None:
    """InitProducerId without a transactional id: fresh ids in every version, odd requests."""
    a = s.connect()
    for version in range(6):
        a.ask("InitProducerId", version, transactional_id=None, transaction_timeout_ms=60_000)
    a.ask("InitProducerId", 4, transactional_id=None, transaction_timeout_ms=0)
    a.ask("InitProducerId", 4, transactional_id=None, transaction_timeout_ms=-1)
    a.ask(
        "InitProducerId",
        4,
        transactional_id=None,
        transaction_timeout_ms=1,
        producer_id=987654321,
        producer_epoch=3,
    )
    a.ask(
        "InitProducerId",
        4,
        transactional_id=None,
        transaction_timeout_ms=1,
        producer_id=987654321,
        producer_epoch=-1,
    )
    a.ask(
        "InitProducerId",
        4,
        transactional_id=None,
        transaction_timeout_ms=1,
        producer_id=-1,
        producer_epoch=3,
    )
    a.ask("InitProducerId", 4, transactional_id="", transaction_timeout_ms=60_000)


def producer(s: Session) -> int:
    """A fresh producer id, without a step."""
    return int(
        s.stage().ask_quietly(
            "InitProducerId", 4, transactional_id=None, transaction_timeout_ms=1000
        )["producer_id"]
    )


@scenario()
def idempotent_sequences(s: Session) -> None:
    """Duplicates are answered with their first offset, gaps refused; the last five batches are
    remembered."""
    a = s.connect()
    name = topic(s, "t")
    me = producer(s)

    def write(sequence: int, *values: bytes, epoch: int = 0, version: int = 12) -> None:
        produce(a, name, batch(*values, producer=Producer(me, epoch, sequence)), version=version)

    write(0, b"a", b"b")
    write(0, b"a", b"b")
    write(2, b"c")
    write(4, b"e")
    write(1, b"b")
    write(0, b"a")
    for sequence in (3, 4, 5, 6):
        write(sequence, b"x")
    write(2, b"c")
    write(3, b"x")
    write(0, b"a", b"b")
    write(6, b"x")
    write(9, b"z")
    write(9, b"z", version=7)
    latest(a, name)


@scenario()
def idempotent_beginnings(s: Session) -> None:
    """A producer the partition does not know may begin anywhere it did not before; negative ids and
    sequences."""
    a = s.connect()
    name = topic(s, "t", 4)
    me = producer(s)
    produce(a, name, batch(b"a", producer=Producer(me, 0, 5)), 0)
    produce(a, name, batch(b"a", producer=Producer(me, 0, 6)), 0)
    produce(a, name, batch(b"a", producer=Producer(987654321, 0, 0)), 1)
    produce(a, name, batch(b"a", producer=Producer(987654321, 7, 3)), 2)
    produce(a, name, batch(b"a", producer=Producer(me, 0, -1)), 3)
    produce(a, name, batch(b"a", producer=Producer(me, -1, 0)), 3)
    produce(a, name, batch(b"a", producer=Producer(-1, 0, 0)), 3)
    produce(a, name, batch(b"a", producer=Producer(-1, -1, 0)), 3)
    produce(a, name, batch(b"a", producer=Producer(-2, 0, 0)), 3)


@scenario()
def idempotent_epochs(s: Session) -> None:
    """A newer epoch begins at 0 again; an older one is refused."""
    a = s.connect()
    name = topic(s, "t")
    me = producer(s)

    def write(epoch: int, sequence: int, version: int = 12) -> None:
        produce(a, name, batch(b"x", producer=Producer(me, epoch, sequence)), version=version)

    write(1, 0)
    write(1, 1)
    write(0, 2)
    write(0, 2, version=9)
    write(2, 5)
    write(2, 0)
    write(1, 2)
    write(2, 0)
    write(2, 1)
    latest(a, name)


@scenario()
def idempotent_wrap(s: Session) -> None:
    """Sequences go from 2147483647 back to 0."""
    a = s.connect()
    name = topic(s, "t")
    me = producer(s)
    produce(a, name, batch(b"a", producer=Producer(me, 0, 2147483646)))
    produce(a, name, batch(b"b", b"c", producer=Producer(me, 0, 2147483647)))
    produce(a, name, batch(b"d", producer=Producer(me, 0, 1)))
    latest(a, name)


@scenario()
def transactional_produce_without_a_transaction(s: Session) -> None:
    """A transactional batch, or a transactional id, on a producer that has none."""
    a = s.connect()
    name = topic(s, "t")
    me = producer(s)
    produce(a, name, batch(b"a", producer=Producer(me, 0, 0), attributes=16))
    produce(a, name, batch(b"a", attributes=16))
    latest(a, name)
