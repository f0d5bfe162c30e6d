"""The members that a join phase waited for, and the trouble of a member that expired, found by
looking back when the wait is over.

Reads views that `timeline` has filled; changes nothing.
"""

from __future__ import annotations

from coordinator.events.groups import (
    LeaderElected,
    MemberJoined,
    MemberRejoined,
    MemberRemoved,
    MemberReplaced,
    PendingMemberRemoved,
    Removal,
)
from coordinator.events.groups.consumer import ConsumerMemberRemoved
from coordinator.events.groups.share import ShareMemberRemoved

from .views import Awaited, GroupView, MemberView, Rebalance


def awaited(group: GroupView, current: Rebalance, ended_ms: int) -> Awaited | None:
    """Return the event that ended a join phase; None if that was its own deadline, or its start."""
    if ended_ms == current.started_ms:
        return None
    if group.pending_gone is not None and group.pending_gone[0] == ended_ms:
        return Awaited(PendingMemberRemoved, [group.pending_gone[1]], group.pending_gone[2])
    last = (
        current.changes[-1] if current.changes and current.changes[-1].at_ms == ended_ms else None
    )
    if last is None or last.kind is LeaderElected:
        return None
    arrivals = [
        change.at_ms
        for change in current.changes
        if change.kind in (MemberRejoined, MemberJoined, MemberReplaced)
    ]
    before_ms = max((at_ms for at_ms in arrivals if at_ms < ended_ms), default=None)
    event = last.line.event
    reason = event.reason if isinstance(event, MemberRemoved) else ""
    return Awaited(last.kind, last.members, reason, before_ms)


def silence_ms(
    event: MemberRemoved | ConsumerMemberRemoved | ShareMemberRemoved,
) -> int | None:
    """Return for how many ms a member was silent until it expired; None if it did not expire."""
    silence, _, unit = (event.detail or "").partition(" ")
    if unit != "ms" or not silence.isdecimal() or event.reason == Removal.LEFT:
        return None
    return int(silence)


def last_sign(
    group: GroupView, member: MemberView, at_ms: int, event: MemberRemoved
) -> tuple[int, str] | None:
    """Return the last sign of life of a member that expired at `at_ms`: the instant, and an API,
    the event that renewed all sessions, or "heartbeat". Successful heartbeats are not logged: if
    no logged sign fits, it was one."""
    silence = silence_ms(event)
    if silence is None:
        return None
    at_ms -= silence
    for seen_ms, seen_by in ((member.seen_ms, member.seen_by), group.rearmed):
        if seen_by and abs(seen_ms - at_ms) <= _TIMERS_ARE_LATE_MS:
            return seen_ms, seen_by
    return at_ms, "heartbeat"


_TIMERS_ARE_LATE_MS = 5
