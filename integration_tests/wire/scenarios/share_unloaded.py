"""Share partitions that their leader unloads with the last connection that had a session of the group
(SH-SES-6), and what is read of their state afterwards."""

from __future__ import annotations

from integration_tests.wire.recorder import Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.sharing import (
    ACCEPT,
    PROFILE,
    Shared,
    Sharer,
    configure,
    initialize,
)


def _set(s: Session, shared: Shared, start: int) -> None:
    rows = [{"partition_index": 0, "start_offset": start}]
    s.stage().ask(
        "AlterShareGroupOffsets",
        0,
        group_id=shared.group,
        topics=[{"topic_name": shared.topic, "partitions": rows}],
    )


def _given_back(s: Session, shared: Shared) -> None:
    s.until(lambda: shared.stored_deliveries() == [1], "records were never given back")


@scenario(PROFILE, since="4.2")
def with_the_only_connection(s: Session) -> None:
    """The next session begins with what is stored: offsets that were set since are in force, and
    deliveries are counted anew."""
    shared = Shared(s, 6)
    _set(s, shared, 0)
    a, b = shared.sharer("a"), shared.sharer("b")
    a.begin(0, max_records=4, share_acquire_mode=1)
    a.link.connection.close()
    _given_back(s, shared)
    _set(s, shared, 1)
    b.begin(0, max_records=3, share_acquire_mode=1)
    b.acknowledge((1, 3, ACCEPT))
    shared.state()


@scenario(PROFILE, since="4.2")
def what_is_stored_is_read(s: Session) -> None:
    """Without another change the records come again, delivered once before."""
    shared = Shared(s, 6)
    a, b = shared.sharer("a"), shared.sharer("b")
    a.begin(0, max_records=4, share_acquire_mode=1)
    a.acknowledge((1, 1, ACCEPT))
    a.link.connection.close()
    s.until(lambda: len(shared.stored_deliveries()) == 3, "records were never given back")
    b.begin(0)
    b.acknowledge((0, 5, ACCEPT))
    shared.state()


@scenario(PROFILE, since="4.2")
def behind_the_end_of_its_session(s: Session) -> None:
    """A session that was closed before its connection: the partitions go with the connection."""
    shared = Shared(s, 6)
    _set(s, shared, 0)
    a, b, c = shared.sharer("a"), shared.sharer("b"), shared.sharer("c")
    a.begin(0, max_records=4, share_acquire_mode=1)
    a.close()
    _given_back(s, shared)
    _set(s, shared, 2)
    b.begin(0, max_records=1, share_acquire_mode=1)
    b.close()
    _set(s, shared, 2)
    s.hang_up(a.link)
    c.begin(0)


@scenario(PROFILE, since="4.2")
def not_while_another_session_lasts(s: Session) -> None:
    """A session of the group on another connection: the leader goes on from memory."""
    shared = Shared(s, 6)
    _set(s, shared, 0)
    a, b, c = shared.sharer("a"), shared.sharer("b"), shared.sharer("c")
    a.begin(0, max_records=4, share_acquire_mode=1)
    c.begin(0, max_records=1, share_acquire_mode=1)
    c.acknowledge((4, 4, ACCEPT))
    a.link.connection.close()
    s.until(lambda: len(shared.stored_deliveries()) == 2, "records were never given back")
    b.begin(0, max_records=4, share_acquire_mode=1)
    b.link.connection.close()
    s.until(lambda: shared.stored_deliveries() == [2, 1], "records were never given back again")
    _set(s, shared, 1)
    c.fetch(max_wait_ms=5_000)
    c.link.connection.close()
    s.until(lambda: bool(shared.stored_deliveries()), "records were never given back at last")
    _set(s, shared, 3)
    d = shared.sharer("d")
    d.begin(0)


@scenario(PROFILE, since="4.2")
def by_its_last_session_alone(s: Session) -> None:
    """A connection that began a session of another group since has nothing to do with the former."""
    shared = Shared(s, 6)
    _set(s, shared, 0)
    other = s.name("h")
    configure(s, other, {"share.auto.offset.reset": "earliest"})
    initialize(s, other, shared.topic, 0)
    a, b = shared.sharer("a"), shared.sharer("b")
    a.begin(0, max_records=4, share_acquire_mode=1)
    a.close()
    _given_back(s, shared)
    a.epoch = 0
    a.begin(0, group_id=other, max_records=1, share_acquire_mode=1)
    _set(s, shared, 2)
    s.hang_up(a.link)
    b.begin(0, max_records=3, share_acquire_mode=1)


@scenario(PROFILE, since="4.2")
def locks_that_no_session_holds(s: Session) -> None:
    """Records of a partition that a session left out when it was begun anew stay locked when it ends,
    but the lock is gone with the group's last connection, and the delivery is not counted."""
    shared = Shared(s, 3, partitions=2)
    shared.produce(2, partition=1)
    a, b = shared.sharer("a"), shared.sharer("b")
    a.begin(0)
    a.fetch(1, max_wait_ms=10_000)
    a.begin(1, max_wait_ms=0)
    s.hang_up(a.link)
    b.begin(0)


@scenario(PROFILE, since="4.2", lasts_s=1)
def a_deleted_state(s: Session) -> None:
    """Once the partition is unloaded, nothing is known of a state that was deleted."""
    shared = Shared(s, 3)
    _set(s, shared, 0)
    a, b = shared.sharer("a"), shared.sharer("b")
    a.begin(0, max_records=1, share_acquire_mode=1)
    a.acknowledge((0, 0, ACCEPT))
    topics = [{"topic_name": shared.topic}]
    s.stage().ask("DeleteShareGroupOffsets", 0, group_id=shared.group, topics=topics)
    s.hang_up(a.link)
    b.begin(0, max_wait_ms=3_000)


@scenario(PROFILE, since="4.2")
def two_sessions_of_one_group(s: Session) -> None:
    """Two members on one connection: the session begun first goes on, so the partitions stay."""
    shared = Shared(s, 6)
    _set(s, shared, 0)
    a, c = shared.sharer("a"), shared.sharer("c")
    b = Sharer(shared, "b", a.link)
    a.begin(0, max_records=1, share_acquire_mode=1)
    b.begin(0, max_records=3, share_acquire_mode=1)
    a.link.connection.close()
    _given_back(s, shared)
    _set(s, shared, 2)
    c.begin(0, max_records=3, share_acquire_mode=1)
