"""ShareFetch (KIP-932): which records a member is given, how many, and how long it waits
(SH-FT-*)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from integration_tests.wire.recorder import Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.sharing import (
    ACCEPT,
    PROFILE,
    RELEASE,
    Shared,
    Sharer,
    configure,
    initialize,
)

_STRANGER, _ZERO = "ab" * 16, "00" * 16


@scenario(PROFILE, since="4.2")
def whole_batches(s: Session) -> None:
    """max_records is reached by whole batches; a doubled delivery counts up."""
    shared = Shared(s, 5, 3, 2)
    a = shared.sharer()
    a.begin(0, max_records=3)
    a.fetch(max_records=4)
    a.fetch(max_records=0)
    a.acknowledge((1, 2, RELEASE), (6, 6, RELEASE))
    a.fetch(max_records=1)
    a.fetch()


@scenario(PROFILE, since="4.2")
def exactly_so_many(s: Session) -> None:
    """share_acquire_mode 1; another mode than 0 and 1 fails, and the session is a request
    further."""
    shared = Shared(s, 5, 3, 2)
    a = shared.sharer()
    a.begin(0, max_records=3, share_acquire_mode=1)
    a.fetch(max_records=3, share_acquire_mode=1)
    a.fetch(max_records=3, share_acquire_mode=1)
    a.fetch(max_records=9)
    a.fetch(share_acquire_mode=2)
    a.epoch += 1
    a.fetch()


@scenario(PROFILE, since="4.2")
def pieces_of_batch_size(s: Session) -> None:
    """Acquired records are told in pieces of batch_size or more, each of whole batches."""
    shared = Shared(s, 2, 2, 3, 1, 1, 6)
    a = shared.sharer()
    a.begin(0, batch_size=3)
    a.close()
    a.begin(0, batch_size=1)
    a.close()
    a.begin(0, batch_size=0)


@scenario(PROFILE, since="4.2")
def version_1(s: Session) -> None:
    """Without acquire mode and renewals."""
    shared = Shared(s, 2, 2)
    a = shared.sharer()
    a.begin(0, version=1, max_records=1)
    a.fetch(version=1, acks=((0, 0, ACCEPT), (1, 1, RELEASE)))
    a.acknowledge((1, 3, ACCEPT), version=1)


@scenario(PROFILE, since="4.2")
def bytes_are_shared_out(s: Session) -> None:
    """Less than a batch means one batch at a time, of the first partition that has any."""
    shared = Shared(s, 1, 1, partitions=2)
    shared.produce(1, 1, partition=1)
    a = shared.sharer()
    a.begin(0, max_bytes=1)
    a.fetch(max_bytes=1)
    a.fetch(max_bytes=1)
    a.fetch(1, max_bytes=200, max_wait_ms=900)


@scenario(PROFILE, since="4.3")
def nothing_is_asked_for(s: Session) -> None:
    """SH-FT-2: no records, no bytes, and fewer than none: at once, though there is time to wait.
    The partition is told of when something is read again."""
    shared = Shared(s, 3, 3)
    a, b = shared.sharer(), shared.sharer("b")
    a.begin(0, max_records=1, share_acquire_mode=1)

    def at_once(**asked: Any) -> None:
        a.link.send("ShareFetch", 2, **a.fields(max_wait_ms=9_000, **asked))
        a.took(a.link.expect(timeout_ms=8_000))

    for mode in (0, 1):
        for limit in ({"max_records": 0}, {"max_records": -1}, {"max_bytes": 0}, {"max_bytes": -1}):
            at_once(share_acquire_mode=mode, **limit)
    at_once(acks=((0, 0, ACCEPT),), max_records=0)
    at_once(max_records=0, max_bytes=-1)
    shared.state()
    named = [a.part(7)]
    at_once(topics=[{"topic_id": shared.id, "partitions": named}], max_records=0)
    at_once(max_bytes=0)
    b.begin(0, max_records=0)
    a.fetch(forgotten_topics_data=[{"topic_id": shared.id, "partitions": [7]}])
    b.fetch(max_wait_ms=600)
    b.fetch(max_wait_ms=600, max_bytes=-1)
    b.fetch(max_wait_ms=600)
    b.fetch(max_wait_ms=600)


@scenario(PROFILE, since="4.2")
def waits_for_records(s: Session) -> None:
    """Until there are any, and for so many bytes."""
    shared = Shared(s)
    a = shared.sharer()
    a.begin(0, max_wait_ms=600)
    a.link.send("ShareFetch", 2, **a.fields(max_wait_ms=10_000))
    a.link.silent()
    shared.produce(2)
    a.took(a.link.expect())
    a.link.send("ShareFetch", 2, **a.fields(max_wait_ms=10_000, min_bytes=100))
    a.link.silent()
    shared.produce(1)
    a.link.silent()
    shared.produce(1)
    a.took(a.link.expect())


@scenario(PROFILE, since="4.2")
def waits_in_vain(s: Session) -> None:
    """An answer without records comes when the time is over; none is needed for no bytes."""
    shared = Shared(s)
    a = shared.sharer()
    a.begin(0, max_wait_ms=600)
    a.link.send("ShareFetch", 2, **a.fields(max_wait_ms=900))
    a.link.silent()
    a.took(a.link.expect())
    a.fetch(min_bytes=0, max_wait_ms=10_000)


@scenario(PROFILE, since="4.2")
def unknown_partitions(s: Session) -> None:
    """3 and 100 at each fetch, and the rest is served."""
    shared = Shared(s, 2)
    a = shared.sharer()
    for index in (7, -1):
        a.begin(0, index)
        a.link.send("ShareFetch", 2, **a.fields())
        a.took(a.link.expect())
        a.close()
    for topic_id in (_STRANGER, _ZERO):
        topics = [{"topic_id": topic_id, "partitions": [a.part(1)]}]
        a.begin(0, topics=topics)
        a.fetch()


@scenario(PROFILE, since="4.2")
def nothing_is_initialized(s: Session) -> None:
    """-1 after the wait, for each partition; with a group of no name at once."""
    shared = Shared(s, 1)
    a = shared.sharer()
    stranger = s.name("stranger")
    a.link.ask("ShareFetch", 2, **a.fields(0, group_id=stranger, max_wait_ms=600))
    a.epoch = 1
    a.fetch(group_id=stranger, max_wait_ms=600)
    initialize(s, stranger, shared.topic, 0)
    a.fetch(group_id=stranger, max_wait_ms=600)


@scenario(PROFILE, since="4.4")
def nothing_is_initialized_and_nobody_waits(s: Session) -> None:
    """SH-FT-1: nothing is said of a partition whose state is not known yet, be it again and again."""
    shared = Shared(s, 1)
    a = shared.sharer("a")
    other = s.name("h")
    for _ in range(3):
        a.begin(0, group_id=other, max_wait_ms=0)
        a.fetch(group_id=other)
        a.fetch(group_id=other)


@scenario(PROFILE, since="4.2")
def where_a_group_begins(s: Session) -> None:
    """Latest by default; an initialized start offset counts before that."""
    shared = Shared(s, 2, 2)
    late, given = s.name("late"), s.name("given")
    initialize(s, late, shared.topic, 0)
    initialize(s, given, shared.topic, 0, start=1)
    a, b = shared.sharer("a"), shared.sharer("b")
    shared.group = late
    a.begin(0, max_wait_ms=600)
    shared.produce(1)
    a.fetch(max_wait_ms=10_000)
    shared.group = given
    b.begin(0)


@scenario(PROFILE, since="4.2")
def by_duration(s: Session) -> None:
    """The first record that is younger; 78 where there is none."""
    shared = Shared(s, 2)
    late = s.name("late")
    configure(s, late, {"share.auto.offset.reset": "by_duration:PT1H"})
    initialize(s, late, shared.topic, 0)
    shared.group = late
    a = shared.sharer()
    a.begin(0, max_wait_ms=600)
    a.fetch(max_wait_ms=600)


@scenario(PROFILE, since="4.3")
def limits_of_what_is_in_flight(s: Session) -> None:
    """share.partition.max.record.locks: a batch that goes over comes whole, then nothing new; an
    acknowledgement at the start makes room."""
    shared = Shared(s, 60, 60, 5, settings={"share.partition.max.record.locks": "100"})
    a, b = shared.sharer("a"), shared.sharer("b")
    a.begin(0, max_records=60)
    a.fetch()
    b.begin(0, max_wait_ms=600)
    a.acknowledge((61, 61, RELEASE))
    b.fetch(max_wait_ms=10_000)
    b.link.send("ShareFetch", 2, **b.fields(max_wait_ms=10_000))
    b.link.silent()
    a.acknowledge((0, 59, ACCEPT))
    b.took(b.link.expect())


@scenario(PROFILE, since="4.2")
def deleted_records(s: Session) -> None:
    """The log starts behind what is available: it is delivered to nobody."""
    shared = Shared(s, 5, 3)
    a = shared.sharer()
    a.begin(0, max_records=1)
    a.acknowledge((0, 4, RELEASE))
    s.stage().ask_quietly(
        "DeleteRecords",
        2,
        topics=[{"name": shared.topic, "partitions": [{"partition_index": 0, "offset": 5}]}],
        timeout_ms=5_000,
    )
    a.fetch()
    a.fetch(max_wait_ms=10_000)
    a.acknowledge((5, 7, ACCEPT))
    shared.state()


@dataclass
class _OfGroup:
    """A topic as another group reads it."""

    s: Session
    id: str
    group: str


@scenario(PROFILE, since="4.2")
def from_the_middle_of_a_batch(s: Session) -> None:
    """The start offset lies within a batch: how many records are given of it, and of the next
    one."""
    shared = Shared(s, 3, 3, 3)
    for start, most in ((2, 2), (1, 3), (1, 1), (4, 3)):
        for mode in (0, 1):
            label = f"{start}-{most}-{mode}"
            a = Sharer(_OfGroup(s, shared.id, _group(s, shared, label, start)), label)
            a.begin(0, max_records=most, share_acquire_mode=mode)
            a.fetch(max_records=most, share_acquire_mode=mode)


@scenario(PROFILE, since="4.2")
def what_is_left_of_a_batch(s: Session) -> None:
    """Its first records are done with, or were released."""
    shared = Shared(s, 3, 3, 3)
    for said in (ACCEPT, RELEASE):
        for mode in (0, 1):
            a = Sharer(
                _OfGroup(s, shared.id, _group(s, shared, f"{said}-{mode}")), f"{said}-{mode}"
            )
            a.begin(0, max_records=2, share_acquire_mode=1)
            a.acknowledge((0, 1, said))
            for _ in range(2):
                a.fetch(max_records=2, share_acquire_mode=mode)


@scenario(PROFILE, since="4.3")
def stored_up_to_the_middle_of_a_batch(s: Session) -> None:
    """A leader that begins with records that are done with, as they are stored after an
    acknowledgement."""
    shared = Shared(s, 3, 3, 3)
    for last, most in ((1, 2), (1, 4), (2, 2), (3, 2), (4, 2)):
        for mode in (0, 1):
            label = f"{last}-{most}-{mode}"
            group = _group(s, shared, label)
            stored = {"first_offset": 0, "last_offset": last, "delivery_state": 2}
            written = {
                "partition": 0,
                "state_epoch": 0,
                "leader_epoch": 0,
                "start_offset": 0,
                "delivery_complete_count": last + 1,
                "state_batches": [{**stored, "delivery_count": 1}],
            }
            s.stage().ask(
                "WriteShareGroupState",
                1,
                group_id=group,
                topics=[{"topic_id": shared.id, "partitions": [written]}],
            )
            a = Sharer(_OfGroup(s, shared.id, group), label)
            a.begin(0, max_records=most, share_acquire_mode=mode)
            a.fetch(max_records=most, share_acquire_mode=mode)


def _group(s: Session, shared: Shared, label: str, start: int = -1) -> str:
    """Another group that reads a topic."""
    group = s.name(label)
    configure(s, group, {"share.auto.offset.reset": "earliest"})
    initialize(s, group, shared.topic, 0, start=start)
    return group
