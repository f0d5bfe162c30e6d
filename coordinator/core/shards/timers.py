"""Deadlines of a shard's groups: sessions, pending members, join phases, sync phases, and the look
for expired offsets.

Deadlines are data. `follow` updates them after an event was folded; the shard's owner asks
`next` and takes what is `due`. Sessions are soft state: they exist only here and in no event.
Decides nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from heapq import heappush
from typing import Any, NamedTuple

from coordinator.base.deadlines import Deadlines, Entry
from coordinator.events import groups as ev

from ..groups.classic.model import ClassicGroup
from ..groups.config import GroupConfig
from ..groups.consumer.requests import Timer
from ..groups.consumer.requests import TimerKind as ConsumerTimerKind


class TimerKind(IntEnum):
    """Kind of a timer."""

    SESSION = 0  # of a member, or the time of a pending id
    JOIN_PHASE = 1
    SYNC_PHASE = 2
    CLEANUP = 3
    CONSUMER_SESSION = 4  # these four of members of consumer groups
    REBALANCE = 5
    JOIN = 6
    SYNC = 7
    PATTERNS = 8  # of a consumer group: the rest of its regular expressions is to be matched
    SHARE_SESSION = 9  # of a member of a share group


_SESSION, _JOIN, _SYNC = (
    int(TimerKind.SESSION),
    int(TimerKind.JOIN_PHASE),
    int(TimerKind.SYNC_PHASE),
)


class TimerKey(NamedTuple):
    """Key of a timer: of a group's member, of a group (member ""), or of the shard (both "")."""

    kind: int
    group: str
    member: str


CLEANUP = TimerKey(int(TimerKind.CLEANUP), "", "")


CONSUMER_TIMERS = {
    ConsumerTimerKind.SESSION: int(TimerKind.CONSUMER_SESSION),
    ConsumerTimerKind.REBALANCE: int(TimerKind.REBALANCE),
    ConsumerTimerKind.JOIN: int(TimerKind.JOIN),
    ConsumerTimerKind.SYNC: int(TimerKind.SYNC),
}
OF_CONSUMERS = {number: kind for kind, number in CONSUMER_TIMERS.items()}


class Timers(Deadlines[tuple[int, str, str]]):
    """All deadlines of a shard."""

    __slots__ = ("_config", "wake")

    def __init__(self, config: GroupConfig, wake: Callable[[int], None]) -> None:
        """`wake` is called with each deadline that may be the earliest now."""
        super().__init__()
        self._config = config
        self.wake = wake

    def _push(self, entry: Entry[tuple[int, str, str]], at: int) -> None:
        entry.queued = at
        heap = self._heap
        heappush(heap, (at, entry.born, entry))
        if heap[0][2] is entry:
            self.wake(at)

    def arm_session(self, group_id: str, member_id: str, at: int) -> None:
        """Let a member's session end at an instant."""
        self.arm((_SESSION, group_id, member_id), at)

    def set_timer(self, group_id: str, timer: Timer) -> None:
        """Start or cancel a timer of a consumer group's member."""
        key = (CONSUMER_TIMERS[timer.kind], group_id, timer.member_id)
        if timer.deadline_ms is None:
            self.cancel(key)
        elif not (timer.if_absent and self.get(key) is not None):
            self.arm(key, timer.deadline_ms)

    def renew(self, group: ClassicGroup, member_id: str, now: int) -> None:
        """Renew a member's session: its whole session timeout starts again (SES-1)."""
        self.arm(
            (_SESSION, group.group_id, member_id), now + group.members[member_id].session_timeout_ms
        )

    def follow(self, group: ClassicGroup, event: ev.Event, now: int) -> None:
        """Update a group's deadlines after an event was folded into it."""
        change = FOLLOW.get(type(event))
        if change is not None:
            change(self, group, event, now)

    def arm_sessions(self, group: ClassicGroup, now: int) -> None:
        """Start every member's session with its whole timeout, and each pending member's deadline
        (ERR-7, SES-3).
        """
        for member in group.members.values():
            timeout_ms = (
                self._config.new_member_join_timeout_ms
                if member.is_new
                else member.session_timeout_ms
            )
            self.arm((_SESSION, group.group_id, member.member_id), now + timeout_ms)
        for member_id, deadline in group.pending.items():
            self.arm((_SESSION, group.group_id, member_id), deadline)

    def arm_phases(self, group: ClassicGroup) -> None:
        """Set or cancel the join and sync timers of a group by its state."""
        for kind, deadline in ((_JOIN, group.join_deadline), (_SYNC, group.sync_deadline)):
            if deadline is None:
                self.cancel((kind, group.group_id, ""))
            else:
                self.arm((kind, group.group_id, ""), deadline)

    # -- one event each

    def _pending(self, group: ClassicGroup, event: ev.MemberPending, now: int) -> None:
        self.arm((_SESSION, group.group_id, event.member_id), event.deadline_ms)

    def _joined(self, group: ClassicGroup, event: ev.MemberJoined, now: int) -> None:
        self.arm(
            (_SESSION, group.group_id, event.member_id),
            now + self._config.new_member_join_timeout_ms,
        )

    def _removed(
        self, group: ClassicGroup, event: ev.MemberRemoved | ev.PendingMemberRemoved, now: int
    ) -> None:
        self.cancel((_SESSION, group.group_id, event.member_id))

    def _replaced(self, group: ClassicGroup, event: ev.MemberReplaced, now: int) -> None:
        self.cancel((_SESSION, group.group_id, event.replaced))

    def _phases(self, group: ClassicGroup, event: ev.Event, now: int) -> None:
        self.arm_phases(group)

    def _generation_started(
        self, group: ClassicGroup, event: ev.GenerationStarted, now: int
    ) -> None:
        self.arm_sessions(group, now)
        self.arm_phases(group)

    def _synced(self, group: ClassicGroup, event: ev.MemberSynced, now: int) -> None:
        if group.sync_deadline is None:
            self.cancel((_SYNC, group.group_id, ""))

    def _loaded(self, group: ClassicGroup, event: ev.GroupLoaded, now: int) -> None:
        self.arm_sessions(group, now)

    def _gone(
        self, group: ClassicGroup, event: ev.GroupDeleted | ev.GroupUnloaded, now: int
    ) -> None:
        self.arm_phases(group)
        for member_id in (*group.members, *group.pending):
            self.cancel((_SESSION, group.group_id, member_id))


FOLLOW: dict[type, Callable[[Timers, ClassicGroup, Any, int], None]] = {
    ev.MemberPending: Timers._pending,
    ev.MemberJoined: Timers._joined,
    ev.MemberRemoved: Timers._removed,
    ev.PendingMemberRemoved: Timers._removed,
    ev.MemberReplaced: Timers._replaced,
    ev.RebalanceStarted: Timers._phases,
    ev.DelayExtended: Timers._phases,
    ev.JoinPhaseExtended: Timers._phases,
    ev.GenerationStarted: Timers._generation_started,
    ev.GroupEmptied: Timers._phases,
    ev.MemberSynced: Timers._synced,
    ev.GroupLoaded: Timers._loaded,
    ev.GroupDeleted: Timers._gone,
    ev.GroupUnloaded: Timers._gone,
}
