"""Fetch and ListOffsets beside transactions: what readers of both isolation levels see (TXN-*)."""

from __future__ import annotations

from integration_tests.wire.batches import batch
from integration_tests.wire.people import topic
from integration_tests.wire.raw import Plain
from integration_tests.wire.recorder import Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.scenarios.fetch import fetch, fill, wanted
from integration_tests.wire.scenarios.transactions import READ_COMMITTED, offsets, read
from integration_tests.wire.transacting import Transactor, now_ms


@scenario()
def long_logs_of_aborted_transactions(s: Session) -> None:
    """How far ahead of the records read the list of aborted transactions looks."""
    a = s.connect()
    tx, name = Transactor(s, a), topic(s, "t")
    tx.init(5)
    for i in range(12):
        tx.produce(name, bytes([65 + i]) * 1000)
        tx.end(commit=i % 3 == 0)
    for offset in range(0, 24, 3):
        for limit in (500, 1500, 3000, 6000):
            fetch(
                a, wanted(name, offset, partition_max_bytes=limit), isolation_level=READ_COMMITTED
            )


@scenario()
def offsets_under_isolation(s: Session) -> None:
    """ListOffsets: by time, latest and highest timestamp stop at the last stable offset; earliest
    does not care."""
    a = s.connect()
    tx, name = Transactor(s, a), topic(s, "t")
    tx.init(5)
    base = now_ms() - 10_000
    fill(s, name, batch(b"a", timestamp_ms=base))
    tx.produce(name, b"b", timestamp_ms=base + 1000)
    fill(s, name, batch(b"c", timestamp_ms=base + 2000))
    for timestamp in (-1, -2, -3, base, base + 500, base + 1500, base + 2500):
        offsets(s, a, name, timestamp)
    tx.end(commit=True)
    for timestamp in (-1, -2, -3, base, base + 500, base + 1500, base + 2500, base + 100_000):
        offsets(s, a, name, timestamp)


@scenario()
def a_reader_that_waits(s: Session) -> None:
    """A read_committed fetch waits past records in a transaction, and is answered by the marker."""
    a, b = s.connect(), s.connect("b")
    tx, name = Transactor(s, a), topic(s, "t")
    tx.init(5)
    tx.produce(name, b"a")
    fields: Plain = {
        "max_wait_ms": 20_000,
        "min_bytes": 1,
        "max_bytes": 1 << 20,
        "isolation_level": READ_COMMITTED,
        "replica_id": -1,
        "session_id": 0,
        "session_epoch": -1,
        "forgotten_topics_data": [],
        "topics": [wanted(name, 0)],
    }
    b.send("Fetch", 12, **fields)
    b.silent()
    tx.produce(name, b"b")
    b.silent()
    tx.end(commit=True)
    b.expect()


@scenario()
def sessions_under_isolation(s: Session) -> None:
    """An incremental fetch session tells a partition again when its transaction ended."""
    a = s.connect()
    tx, name = Transactor(s, a), topic(s, "t")
    tx.init(5)
    tx.produce(name, b"a")
    answer = fetch(a, wanted(name, 0), isolation_level=READ_COMMITTED, session_epoch=0)
    session: Plain = {"isolation_level": READ_COMMITTED, "session_id": answer["session_id"]}
    fetch(a, session_epoch=1, **session)
    tx.produce(name, b"b")
    fetch(a, session_epoch=2, **session)
    tx.end(commit=True)
    fetch(a, session_epoch=3, **session)
    fetch(a, wanted(name, 3), session_epoch=4, **session)
    fetch(a, session_epoch=5, **session)


@scenario()
def topics_that_go_in_a_transaction(s: Session) -> None:
    """A topic is deleted while a transaction writes to it: the transaction ends all the same."""
    a = s.connect()
    tx, name, gone = Transactor(s, a), topic(s, "t"), topic(s, "gone")
    tx.init(5)
    tx.produce(name, b"a")
    tx.produce(gone, b"a")
    a.ask("DeleteTopics", 5, topic_names=[gone], timeout_ms=5000)
    tx.end(commit=True)
    tx.describe()
    read(a, name)


@scenario()
def records_deleted_in_a_transaction(s: Session) -> None:
    """DeleteRecords in the middle: the last stable offset never lies below the log start."""
    a = s.connect()
    tx, name = Transactor(s, a), topic(s, "t")
    tx.init(5)
    tx.produce(name, b"a")
    tx.produce(name, b"b")
    a.ask(
        "DeleteRecords",
        2,
        timeout_ms=5000,
        topics=[{"name": name, "partitions": [{"partition_index": 0, "offset": 1}]}],
    )
    read(a, name, 1)
    offsets(s, a, name)
    a.ask(
        "DeleteRecords",
        2,
        timeout_ms=5000,
        topics=[{"name": name, "partitions": [{"partition_index": 0, "offset": -1}]}],
    )
    offsets(s, a, name)
    tx.end(commit=False)
    read(a, name, 2)
