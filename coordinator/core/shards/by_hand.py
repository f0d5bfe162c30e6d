"""Actions of an operator or a test on the groups of a shard: end a session, begin a rebalance, put
sessions off.

The events are those of the same things when they happen by themselves; a removal says that its
session was ended by hand, so that nobody takes it for one that was over. It does not decide whether
something may be done; it says when it could not be.
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
    """End a member's session, or a pending id's time, now (SES-2). False: it has a parked request,
    which keeps it alive (SES-1)."""
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
    """Let a classic group with members rebalance. False: it does so already, has nobody, or is of
    another protocol, which has no rebalance of all members together."""
    group = shard.groups[group_id]
    classic = group.membership
    if not isinstance(classic, ClassicGroup) or classic.state not in (STABLE, COMPLETING_REBALANCE):
        return False
    shard.settle(group, start_rebalance(classic, reason, effects.now, shard.config), effects)
    return True


def session_ends(shard: Shard, group_id: str, member_id: str) -> int | None:
    """Return the instant at which a member's session ends unless it is renewed, or None if it has
    none."""
    return shard.timers.get((_session(shard, group_id), group_id, member_id))


def postpone_session(shard: Shard, group_id: str, member_id: str, duration_ms: int) -> None:
    """Let a member's session end so much later, as if its heartbeats had come meanwhile."""
    at = session_ends(shard, group_id, member_id)
    if at is not None:
        shard.timers.arm((_session(shard, group_id), group_id, member_id), at + duration_ms)
