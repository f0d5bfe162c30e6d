"""Fetches that wait at the end of a log, and clean-ups under them, by DeleteRecords and by compaction."""

from __future__ import annotations

from functools import partial

from integration_tests.wire.batches import batch
from integration_tests.wire.log_people import (
    KEPT_DIRTY,
    PROFILE,
    SINCE,
    clean,
    compacted,
    configure,
    contents,
    delete_records,
    log,
    write,
)
from integration_tests.wire.recorder import Link, Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.scenarios.fetch import fill, wanted
from integration_tests.wire.scenarios.log_retention import now

of_logs = partial(scenario, PROFILE, since=SINCE, lasts_s=10)
WAITS_MS = 3_000


def wait_at(link: Link, name: str, offset: int) -> None:
    """Fetch from an offset on, and wait for more than there is."""
    link.send(
        "Fetch",
        12,
        replica_id=-1,
        max_wait_ms=WAITS_MS,
        min_bytes=1 << 19,
        max_bytes=1 << 20,
        isolation_level=0,
        session_id=0,
        session_epoch=-1,
        topics=[wanted(name, offset)],
        forgotten_topics_data=[],
    )


@of_logs()
def records_are_deleted_by_hand(s: Session) -> None:
    """Below the offset that is waited for, at it, and behind it."""
    admin = s.connect("admin")
    for start in (2, 3, 5):
        name = log(s, f"t{start}", each=0)
        write(s, name, 5)
        reader = s.connect(f"r{start}")
        wait_at(reader, name, 3)
        reader.silent()
        delete_records(admin, name, start)
        reader.silent()
        reader.expect()


@of_logs()
def a_compacted_log(s: Session) -> None:
    """A fetch that waits within what is compacted is given what is left when its time is over."""
    name, a = compacted(s), s.connect()
    for key in "aabbaacdef":
        fill(s, name, batch(b"v" * 20, key=key.encode(), timestamp_ms=now()))
    wait_at(a, name, 9)
    a.silent()
    clean(s, name)
    a.expect()
    contents(s, name)


@of_logs()
def a_topic_becomes_compacted(s: Session) -> None:
    """Under records without a key, while a fetch waits behind them, and a transaction of theirs is
    read."""
    name, a = log(s, cleanup_policy="delete"), s.connect()
    write(s, name, 3)
    wait_at(a, name, 3)
    a.silent()
    configure(s, name, **KEPT_DIRTY)
    fill(s, name, batch(b"v", key=b"k", timestamp_ms=now()))
    a.expect()
    fill(s, name, *(batch(b"v" * 50, key=b"k", timestamp_ms=now()) for _ in range(3)))
    clean(s, name)
    contents(s, name)
