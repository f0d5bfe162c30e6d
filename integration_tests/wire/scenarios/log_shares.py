"""Share groups over deleted and compacted records (SH-*): where they start again, and what they are
given across gaps."""

from __future__ import annotations

from functools import partial

from integration_tests.wire.batches import batch
from integration_tests.wire.log_people import (
    ALL_KEPT,
    CLEANED,
    DELETED_AT_ONCE,
    KEPT_DIRTY,
    PROFILE,
    SINCE,
    configure,
    size_of,
    until_settled,
    until_start,
)
from integration_tests.wire.raw import Plain
from integration_tests.wire.recorder import Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.scenarios.fetch import fill
from integration_tests.wire.scenarios.log_retention import now
from integration_tests.wire.sharing import ACCEPT, RELEASE, Shared
from integration_tests.wire.transacting import Transactor

GAP = 0
AT_ONCE = "1100"
"""Bytes of a segment that eight batches fit into."""
WITH_GAPS = "xaybzaabcd"
"""Keys of records of which compaction takes the second, fourth and sixth, within a segment."""
GONE = (1, 3, 5)
KEPT = {**ALL_KEPT, **KEPT_DIRTY}
of_logs = partial(scenario, PROFILE, since=SINCE, lasts_s=10)


@of_logs()
def records_that_retention_deleted(s: Session) -> None:
    """What nobody holds is not delivered any more; the group goes on where the log starts."""
    shared = Shared(s)
    configure(s, shared.topic, **ALL_KEPT)
    shared.produce(2, 2, 2, timestamp_ms=now())
    a = shared.sharer()
    a.begin(0, max_records=2)
    a.acknowledge((0, 1, ACCEPT))
    configure(s, shared.topic, **DELETED_AT_ONCE)
    until_start(s, shared.topic, 6)
    configure(s, shared.topic, **ALL_KEPT)
    shared.produce(2, timestamp_ms=now())
    a.fetch(max_records=2)
    a.acknowledge((6, 7, ACCEPT))
    shared.state()


def keyed(s: Session, keys: str, segment: str = "300", **settings: str) -> Shared:
    """A topic that is not compacted yet, with a batch for each key."""
    shared = Shared(s, settings=settings)
    configure(
        s,
        shared.topic,
        **KEPT,
        internal_segment_bytes=segment,
    )
    for key in keys:
        fill(s, shared.topic, batch(b"v" * 60, key=key.encode(), timestamp_ms=now()))
    return shared


def compact(s: Session, shared: Shared) -> None:
    """Have the topic cleaned, without a step."""
    size = size_of(s, shared.topic)
    configure(s, shared.topic, **CLEANED)
    until_settled(s, shared.topic, size)


def held(s: Session, answer: Plain) -> list[tuple[int, int]]:
    """Say which ranges a fetch acquired."""
    partitions = [part for topic in answer["responses"] for part in topic["partitions"]]
    found = [
        (each["first_offset"], each["last_offset"])
        for part in partitions
        for each in part["acquired_records"]
    ]
    s.say("acquired", [list(each) for each in found])
    return found


@of_logs()
def records_that_compaction_took(s: Session) -> None:
    """Offsets without a record lie within what is acquired, and are acknowledged as gaps are."""
    shared = keyed(s, "aabbaacd")
    compact(s, shared)
    a = shared.sharer()
    acquired = held(s, a.begin(0, max_records=20))
    a.acknowledge(*((first, last, ACCEPT) for first, last in acquired))
    shared.state()


@of_logs()
def gaps_are_told_apart(s: Session) -> None:
    """A member says gap of offsets without a record, and another word of each that has one; what it
    gives back comes again with its gaps."""
    shared = keyed(s, WITH_GAPS, AT_ONCE)
    compact(s, shared)
    a = shared.sharer()
    held(s, a.begin(0, max_records=20))
    words = [GAP if offset in GONE else RELEASE if offset > 3 else ACCEPT for offset in range(8)]
    a.acknowledge((0, 7, *words))
    shared.state()
    held(s, a.fetch(max_wait_ms=10_000))
    a.acknowledge((4, 7, ACCEPT))
    shared.state()


@of_logs()
def given_back_across_gaps(s: Session) -> None:
    """A range with gaps, given back as a whole, comes again."""
    shared = keyed(s, WITH_GAPS, AT_ONCE)
    compact(s, shared)
    a, b = shared.sharer("a"), shared.sharer("b")
    held(s, a.begin(0, max_records=20))
    a.acknowledge((0, 7, RELEASE))
    shared.state()
    held(s, b.begin(0, max_wait_ms=10_000))
    b.acknowledge((0, 0, ACCEPT), (2, 2, ACCEPT), (4, 4, ACCEPT), (6, 7, ACCEPT))
    shared.state()
    b.acknowledge((1, 1, GAP), (3, 3, RELEASE), (5, 5, ACCEPT))
    shared.state()
    held(s, b.fetch(max_wait_ms=10_000))


@of_logs()
def exactly_so_many_across_gaps(s: Session) -> None:
    """Offsets without a record count where a member wants exactly so many."""
    shared = keyed(s, WITH_GAPS, AT_ONCE)
    compact(s, shared)
    a = shared.sharer()
    held(s, a.begin(0, max_records=3, share_acquire_mode=1))
    for _ in range(4):
        held(s, a.fetch(max_records=3, share_acquire_mode=1))
    a.acknowledge((0, 2, RELEASE))
    held(s, a.fetch(max_records=2, share_acquire_mode=1, max_wait_ms=10_000))
    shared.state()


@of_logs()
def in_batches_of_a_size_across_gaps(s: Session) -> None:
    """What is acquired is told in pieces, each of which ends where a batch does."""
    shared = keyed(s, WITH_GAPS, AT_ONCE)
    compact(s, shared)
    a = shared.sharer()
    held(s, a.begin(0, max_records=20, batch_size=2))
    a.acknowledge((0, 3, RELEASE))
    held(s, a.fetch(batch_size=2, max_wait_ms=10_000))
    shared.state()


@of_logs()
def compacted_while_they_are_held(s: Session) -> None:
    """What a holder has in hand it may accept or give back; what is given back and has no record any
    more is archived when a fetch passes over it."""
    shared = keyed(s, WITH_GAPS, AT_ONCE)
    a, b = shared.sharer("a"), shared.sharer("b")
    held(s, a.begin(0, max_records=20))
    compact(s, shared)
    a.acknowledge((0, 0, ACCEPT), (1, 5, RELEASE))
    shared.state()
    held(s, b.begin(0, max_wait_ms=10_000))
    shared.state()
    b.acknowledge((2, 2, ACCEPT), (4, 4, ACCEPT))
    shared.state()
    a.acknowledge((6, 7, ACCEPT))
    shared.state()
    held(s, b.fetch(max_wait_ms=10_000))


@of_logs()
def the_first_of_what_was_given_back_are_gone(s: Session) -> None:
    """The oldest available records have no record any more: a fetch passes over them."""
    shared = keyed(s, "aabbxaybcd", AT_ONCE)
    a, b = shared.sharer("a"), shared.sharer("b")
    held(s, a.begin(0, max_records=20))
    compact(s, shared)
    a.acknowledge((0, 4, RELEASE))
    shared.state()
    held(s, b.begin(0, max_wait_ms=10_000))
    shared.state()
    b.acknowledge((4, 4, ACCEPT))
    shared.state()
    a.acknowledge((5, 7, ACCEPT))
    shared.state()


@of_logs()
def nothing_is_left_of_what_was_given_back(s: Session) -> None:
    """All of the available records are gone; those behind them are new."""
    shared = keyed(s, "aabb")
    a = shared.sharer("a")
    held(s, a.begin(0, max_records=2))
    a.acknowledge((0, 1, RELEASE))
    for key in "abcde":
        fill(s, shared.topic, batch(b"v" * 60, key=key.encode(), timestamp_ms=now()))
    compact(s, shared)
    held(s, a.fetch(max_wait_ms=10_000))
    shared.state()
    a.acknowledge((0, 1, ACCEPT))
    a.acknowledge((4, 5, ACCEPT))
    shared.state()


@of_logs()
def a_limit_of_deliveries_across_gaps(s: Session) -> None:
    """Records that are delivered often come in parts, of which gaps are a part, too."""
    shared = keyed(s, WITH_GAPS, AT_ONCE, **{"share.delivery.count.limit": "4"})
    compact(s, shared)
    a = shared.sharer()
    acquired = held(s, a.begin(0, max_records=20))
    for _ in range(12):
        for first, last in acquired:
            a.acknowledge((first, last, RELEASE))
        acquired = held(s, a.fetch(max_records=20, max_wait_ms=500))
    shared.state()


@of_logs()
def aborted_records_that_are_compacted(s: Session) -> None:
    """A reader of committed records, before and after the cleaner took an aborted transaction."""
    shared = Shared(s, settings={"share.isolation.level": "read_committed"})
    configure(s, shared.topic, **KEPT, internal_segment_bytes=AT_ONCE)
    a, b = shared.sharer("a"), shared.sharer("b")
    tx = Transactor(s, s.connect("tx"))
    tx.init(5)
    for aborted in (b"x", b"y"):
        tx.produce(shared.topic, b"v" * 60, key=aborted, timestamp_ms=now())
    tx.end(commit=False)
    for key in "xyzxab":
        fill(s, shared.topic, batch(b"v" * 60, key=key.encode(), timestamp_ms=now()))
    held(s, a.begin(0, max_records=20))
    a.acknowledge((2, 7, RELEASE))
    shared.state()
    compact(s, shared)
    held(s, b.begin(0, max_records=20, max_wait_ms=10_000))
    shared.state()


@of_logs()
def deleted_by_size_while_they_are_held(s: Session) -> None:
    """The start moves by retention.bytes below what a member has in hand."""
    shared = Shared(s)
    configure(s, shared.topic, **ALL_KEPT, internal_segment_bytes="300")
    for _ in range(8):
        fill(s, shared.topic, batch(b"v" * 60, timestamp_ms=now()))
    a, b = shared.sharer("a"), shared.sharer("b")
    held(s, a.begin(0, max_records=20))
    for _ in range(3):
        held(s, a.fetch(max_records=20))
    a.acknowledge((1, 1, RELEASE))
    configure(s, shared.topic, retention_bytes="400")
    until_start(s, shared.topic, 4)
    b.begin(0, max_wait_ms=500)
    a.acknowledge((0, 0, ACCEPT), (2, 5, RELEASE))
    shared.state()
    held(s, b.fetch(max_wait_ms=10_000))
    a.acknowledge((6, 7, ACCEPT))
    b.acknowledge((4, 5, ACCEPT))
    shared.state()
