"""Control actions of a test on the groups of a shard: end a session, start a rebalance, postpone a
session's end.

The events are the same as when these things happen by themselves, but a removal says that its
session was ended by hand. Return False if an action is not possible; the caller decides whether
it is allowed.
"""

from __future__ import annotations

from typing import Final

from ..groups.classic.model import ClassicGroup
from ..groups.classic.settle import session_expired, start_rebalance
from ..groups.classic.states import COMPLETING_REBALANCE, STABLE
from .journal import Effects
from .shard import Shard
from .timers import TimerKind

_SESSIONS: Final = {
    "classic": TimerKind.SESSION,
    "consumer": TimerKind.CONSUMER_SESSION,
    "share": TimerKind.SHARE_SESSION,
}


def _session(shard: Shard, group_id: str) -> int:
    return int(_SESSIONS[shard.groups[group_id].type])


def expire(shard: Shard, group_id: str, member_id: str, effects: Effects) -> bool:
    """End a member's session, or a pending member's time, now (SES-2). Return False if a parked
    request keeps it alive (SES-1).
    """
    seen = len(effects.events)
    group = shard.groups[group_id]
    shard.timers.cancel((_session(shard, group_id), group_id, member_id))
    if group.type == "share":
        shard.share.session_ended(group, member_id, effects, by_hand=True)
    elif group.type == "consumer":
        shard.consumer.end_session(group, member_id, effects)
    else:
        steps = session_expired(group.classic, member_id, effects.now, shard.config, by_hand=True)
        shard.settle(group, steps, effects)
    return len(effects.events) > seen


def begin_rebalance(shard: Shard, group_id: str, reason: str, effects: Effects) -> bool:
    """Start a rebalance of a classic group with members. Return False if one is in progress, the
    group has no member, or it is of another protocol.
    """
    group = shard.groups[group_id]
    classic = group.membership
    if not isinstance(classic, ClassicGroup) or classic.state not in (STABLE, COMPLETING_REBALANCE):
        return False
    shard.settle(group, start_rebalance(classic, reason, effects.now, shard.config), effects)
    return True


def session_ends(shard: Shard, group_id: str, member_id: str) -> int | None:
    """Return the instant at which a member's session ends unless it is renewed, or None if it has
    none.
    """
    return shard.timers.get((_session(shard, group_id), group_id, member_id))


def postpone_session(shard: Shard, group_id: str, member_id: str, duration_ms: int) -> None:
    """Postpone the end of a member's session, as if its heartbeats had arrived meanwhile."""
    at = session_ends(shard, group_id, member_id)
    if at is not None:
        shard.timers.arm((_session(shard, group_id), group_id, member_id), at + duration_ms)
