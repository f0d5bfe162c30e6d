"""Compaction (CMP-*): what stays of keys, tombstones, transactions and producers, and when a log is
cleaned."""

from __future__ import annotations

from functools import partial

from integration_tests.wire.batches import TIMESTAMP_MS, Producer, batch, record
from integration_tests.wire.log_people import (
    CLEANS_MS,
    PROFILE,
    SINCE,
    SIZE,
    VALUE,
    clean,
    compacted,
    configure,
    contents,
    delete_records,
    log,
    size_of,
    tell,
    until_settled,
    until_size,
)
from integration_tests.wire.recorder import Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.scenarios.fetch import fetch, fill, wanted
from integration_tests.wire.scenarios.log_retention import now
from integration_tests.wire.scenarios.produce import request
from integration_tests.wire.transacting import Transactor

of_logs = partial(scenario, PROFILE, since=SINCE)
READ_COMMITTED = 1
NEVER = "1"  # key of what fills the active segment


def put(s: Session, name: str, *keys: str, value: bytes = VALUE, **other: object) -> None:
    """A batch with one record for each key."""
    for key in keys:
        fill(s, name, batch(value, key=key.encode(), **other))  # type: ignore[arg-type]


def tombstone(key: str) -> str:
    """A batch with one record that has a key and no value."""
    plain = bytes.fromhex(batch(b"", key=key.encode()))
    body = record(b"", 0, 0, key.encode())
    assert plain.endswith(body)
    no_value = body[:-2] + b"\x01" + body[-1:]  # a value of length -1
    return sealed(plain[: -len(body)] + no_value)


def sealed(raw: bytes) -> str:
    """A batch under a right checksum."""
    import google_crc32c

    whole: str = (raw[:17] + google_crc32c.value(raw[21:]).to_bytes(4, "big") + raw[21:]).hex()
    return whole


@of_logs(lasts_s=20)
def the_last_record_of_a_key_stays(s: Session) -> None:
    """Offsets stay, with gaps; the active segment is not touched; a fetch in a gap begins behind
    it."""
    a, name = s.connect(), compacted(s)
    put(s, name, "a", "b", "a", "c", "a", "b", "d", "a")
    clean(s, name)
    contents(s, name)
    for offset in range(9):
        fetch(a, wanted(name, offset))
    tell(s, a, name, TIMESTAMP_MS)
    put(s, name, "c", "c", "d")
    clean(s, name)
    contents(s, name)


@of_logs(lasts_s=20)
def a_batch_of_which_a_part_stays(s: Session) -> None:
    """It keeps its offsets, sequence and last offset; its times are those of what is left."""
    a, name = s.connect(), compacted(s, each=4)
    rows = [(b"v1", "a"), (b"v2", "b"), (b"v3", "a"), (b"v4", "c")]
    for _ in range(3):
        body = b"".join(
            record(value, i, i * 10, key.encode()) for i, (value, key) in enumerate(rows)
        )
        plain = bytes.fromhex(batch(*(value for value, _ in rows), step_ms=10))
        head = plain[:61]
        raw = head[:8] + (len(body) + 49).to_bytes(4, "big") + head[12:] + body
        fill(s, name, sealed(raw))
    put(s, name, "a", "z", "y", "x", "w")
    clean(s, name)
    contents(s, name)
    tell(s, a, name, TIMESTAMP_MS, TIMESTAMP_MS + 20)


@of_logs(lasts_s=30)
def tombstones(s: Session) -> None:
    """A tombstone stays when it is first cleaned, with an instant from which on it goes; later it
    goes with the next cleaning."""
    name = compacted(s, delete_retention_ms="60000")
    put(s, name, "a", "b")
    fill(s, name, tombstone("a"))
    put(s, name, "c", "d", "e")
    clean(s, name)
    contents(s, name)
    put(s, name, "d", "e", "f")
    clean(s, name)
    contents(s, name)
    soon = compacted(s, "soon", delete_retention_ms="1")
    put(s, soon, "a", "b")
    fill(s, soon, tombstone("a"))
    put(s, soon, "c", "d", "e")
    clean(s, soon)
    contents(s, soon)
    put(s, soon, "d", "e", "f")
    clean(s, soon)
    contents(s, soon)


@of_logs(lasts_s=20)
def records_without_a_key(s: Session) -> None:
    """They are refused in a compacted topic; those that were there before go with the first
    cleaning."""
    a, name = s.connect(), log(s, cleanup_policy="delete")
    fill(s, name, batch(VALUE), batch(VALUE))
    put(s, name, "a", "b", "c")
    configure(s, name, cleanup_policy="compact", min_cleanable_dirty_ratio="1.0")
    a.ask("Produce", 9, **request(name, batch(VALUE)))
    clean(s, name)
    contents(s, name)


@of_logs(lasts_s=20)
def the_last_batch_of_a_producer_stays(s: Session) -> None:
    """As an empty one, so that its sequence survives; it goes once there is a later one."""
    a, name = s.connect(), compacted(s)
    given = a.ask_quietly("InitProducerId", 4, transactional_id=None, transaction_timeout_ms=1)
    producer = partial(Producer, given["producer_id"], given["producer_epoch"])
    for sequence in range(3):
        put(s, name, "a", producer=producer(sequence))
    put(s, name, "a", "b", "c", "d")
    clean(s, name)
    contents(s, name)
    for sequence in (2, 4, 3):
        a.ask("Produce", 9, **request(name, batch(VALUE, key=b"a", producer=producer(sequence))))
    put(s, name, "a", "e", "f")
    clean(s, name)
    contents(s, name)


@of_logs(lasts_s=30)
def aborted_transactions(s: Session) -> None:
    """Their records go at once; the marker stays with the first cleaning, gets its instant with the
    second, and goes with a later one."""
    a, name = s.connect(), compacted(s, delete_retention_ms="1")
    tx = Transactor(s, a)
    tx.init(5)
    put(s, name, "k")
    for _ in range(2):
        tx.produce(name, VALUE, key=b"k", timestamp_ms=now())
        tx.end(commit=False)
    put(s, name, "x", "y", "z", timestamp_ms=now())
    for _ in range(4):
        clean(s, name)
        contents(s, name)
        fetch(a, wanted(name, 0), isolation_level=READ_COMMITTED, max_bytes=1)
        put(s, name, "x", "y", "z", timestamp_ms=now())


@of_logs(lasts_s=20)
def committed_transactions(s: Session) -> None:
    """Records stay as others do; the marker goes once nothing of its transaction is left."""
    a, name = s.connect(), compacted(s, delete_retention_ms="1")
    tx = Transactor(s, a)
    tx.init(5)
    tx.produce(name, VALUE, key=b"k", timestamp_ms=now())
    tx.end(commit=True)
    tx.produce(name, VALUE, key=b"l", timestamp_ms=now())
    tx.end(commit=True)
    put(s, name, "x", "x", "y", "z", timestamp_ms=now())
    for keys in (("k", "x", "y"), ("x", "y", "z"), ("x", "y", "z")):
        clean(s, name)
        contents(s, name)
        put(s, name, *keys, timestamp_ms=now())


@of_logs(lasts_s=20)
def an_open_transaction(s: Session) -> None:
    """Nothing from its first offset on is cleaned before it ends."""
    a, name = s.connect(), compacted(s)
    tx = Transactor(s, a)
    tx.init(5)
    put(s, name, "a", "a", "a", timestamp_ms=now())
    tx.produce(name, VALUE, key=b"t", timestamp_ms=now())
    put(s, name, "a", "a", "a", "a", timestamp_ms=now())
    clean(s, name)
    contents(s, name)
    tx.end(commit=True)
    clean(s, name)
    contents(s, name)


@of_logs(lasts_s=20)
def records_that_are_too_young(s: Session) -> None:
    """min.compaction.lag.ms: from the first segment on that has a younger record."""
    name = compacted(s, min_compaction_lag_ms="3600000")
    put(s, name, "a", "a", "a")
    put(s, name, "a", timestamp_ms=now() - 10_000)
    put(s, name, "a", "a", "a", timestamp_ms=now() - 10_000)
    clean(s, name)
    contents(s, name)


@of_logs(lasts_s=20)
def records_that_have_waited_too_long(s: Session) -> None:
    """max.compaction.lag.ms cleans whatever the ratio is, and begins segments by time, too."""
    name = compacted(s, each=0, max_compaction_lag_ms="3600000")
    for at in (0, 0, 3_600_000, 3_600_001, 3_600_001):
        put(s, name, "a", timestamp_ms=TIMESTAMP_MS + at)
    until_size(s, name, 3 * SIZE + 3)
    contents(s, name)


@of_logs(lasts_s=20)
def how_dirty_it_has_to_be(s: Session) -> None:
    """The dirty part's share of the bytes has to be above the ratio."""
    name = compacted(s)
    put(s, name, "a", "b", "a", "d", "e")
    clean(s, name)
    put(s, name, "a", "b", "c", "d", "e")
    for ratio in ("0.6", "0.57"):
        configure(s, name, min_cleanable_dirty_ratio=ratio)
        s.wait(CLEANS_MS)
        contents(s, name)


@of_logs(lasts_s=20)
def segments_that_became_small(s: Session) -> None:
    """Neighbours become one with the next cleaning, while together they are not too large."""
    a, name = s.connect(), compacted(s, each=4)
    put(s, name, *"aaaabaaacaaadaaaeaaa", "f")
    clean(s, name)
    contents(s, name)
    put(s, name, *"ggggf")
    clean(s, name)
    contents(s, name)
    tell(s, a, name)


@of_logs(lasts_s=20)
def both_policies(s: Session) -> None:
    """Compacted, and deleted by size and by a log start that was moved."""
    a, name = s.connect(), compacted(s, cleanup_policy="compact,delete")
    put(s, name, *"aabbccdde")
    size = size_of(s, name)
    delete_records(a, name, 3)
    until_settled(s, name, size)
    clean(s, name)
    contents(s, name)
    tell(s, a, name)
    size = size_of(s, name)
    configure(s, name, retention_bytes=str(size - 220))
    until_settled(s, name, size)
    contents(s, name)


@of_logs(lasts_s=20)
def times_of_the_broker(s: Session) -> None:
    """LogAppendTime: batches that are made anew keep their type of timestamps."""
    name = compacted(s, message_timestamp_type="LogAppendTime", delete_retention_ms="60000")
    put(s, name, "a", "b")
    fill(s, name, tombstone("a"))
    put(s, name, "c", "d", "e")
    clean(s, name)
    contents(s, name)


@of_logs(lasts_s=20)
def nothing_is_left_of_a_segment(s: Session) -> None:
    """Its place stays; look-ups and fetches go on behind it."""
    a, name = s.connect(), compacted(s)
    put(s, name, *"aaaaaaaaa")
    clean(s, name)
    contents(s, name)
    tell(s, a, name, TIMESTAMP_MS)
    for offset in (0, 3, 8):
        fetch(a, wanted(name, offset))
