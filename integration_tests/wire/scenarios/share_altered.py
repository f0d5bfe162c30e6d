"""Offsets of a share group that are set or deleted while a session without a member holds records:
the leader learns of it when it writes next (SH-LD-5)."""

from __future__ import annotations

from collections.abc import Callable

from integration_tests.wire.recorder import Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.sharing import ACCEPT, PROFILE, RELEASE, RENEW, Shared, Sharer

Change = Callable[[Session, Shared], object]


def _set(s: Session, shared: Shared) -> None:
    rows = [{"partition_index": 0, "start_offset": 2}]
    s.stage().ask(
        "AlterShareGroupOffsets",
        0,
        group_id=shared.group,
        topics=[{"topic_name": shared.topic, "partitions": rows}],
    )


def _delete(s: Session, shared: Shared) -> None:
    topics = [{"topic_name": shared.topic}]
    s.stage().ask("DeleteShareGroupOffsets", 0, group_id=shared.group, topics=topics)


def _delete_group(s: Session, shared: Shared) -> None:
    s.stage().ask("DeleteGroups", 2, groups_names=[shared.group])


def _held(s: Session, change: Change, *, known: bool = True) -> tuple[Shared, Sharer]:
    """Three of six records are held, then the state changes. A group that is not known is made by the
    change, at another epoch than that of the state."""
    shared = Shared(s, 6)
    if known:
        _set(s, shared)
    a = shared.sharer()
    a.begin(0, max_records=3, share_acquire_mode=1)
    change(s, shared)
    return shared, a


def _afterwards(shared: Shared, a: Sharer) -> None:
    shared.state()
    a.fetch(max_wait_ms=500)
    a.acknowledge((3, 3, ACCEPT))
    a.acknowledge((4, 4, RELEASE))
    shared.state()
    a.fetch(max_wait_ms=500)


@scenario(PROFILE, since="4.3")
def set_at_the_same_epoch(s: Session) -> None:
    """Nothing fences the leader."""
    shared, a = _held(s, _set)
    a.acknowledge((2, 2, ACCEPT))
    _afterwards(shared, a)
    a.acknowledge((3, 5, RENEW, RENEW, RENEW), is_renew_ack=True)


@scenario(PROFILE, since="4.3")
def set_at_another_epoch(s: Session) -> None:
    """The leader's first write is refused, and it begins where the group was set to."""
    shared, a = _held(s, _set, known=False)
    a.acknowledge((2, 2, RENEW), is_renew_ack=True)
    a.fetch(max_wait_ms=500, max_records=1, share_acquire_mode=1)
    a.acknowledge((2, 2, ACCEPT))
    _afterwards(shared, a)


@scenario(PROFILE, since="4.3")
def set_before_a_fetch_acknowledges(s: Session) -> None:
    """The refusal names no leader in a fetch."""
    shared, a = _held(s, _set, known=False)
    a.fetch(acks=((0, 1, ACCEPT),), max_records=1, share_acquire_mode=1)
    _afterwards(shared, a)


@scenario(PROFILE, since="4.3")
def deleted(s: Session) -> None:
    """Each write of the leader is refused; it goes on giving records."""
    shared, a = _held(s, _delete)
    a.acknowledge((2, 2, ACCEPT))
    a.fetch(acks=((0, 1, ACCEPT),), max_records=1, share_acquire_mode=1)
    _afterwards(shared, a)


@scenario(PROFILE, since="4.3")
def deleted_with_the_group(s: Session) -> None:
    """The same when the whole group is deleted."""
    shared, a = _held(s, _delete_group)
    a.acknowledge((2, 2, ACCEPT))
    _afterwards(shared, a)


@scenario(PROFILE, since="4.3")
def deleted_before_the_session_ends(s: Session) -> None:
    """What the session held stays locked."""
    shared, a = _held(s, _delete)
    a.close()
    s.wait(150)
    b = shared.sharer("b")
    b.begin(0)
    b.fetch(max_wait_ms=300)
    b.acknowledge((0, 0, ACCEPT))
