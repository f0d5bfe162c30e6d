"""Causes of logged events: for each event the one that caused it, so that a reader can ask why a
rebalance happened.

A request's events are caused by the request; events that settle after them by the first of them;
an expiry by the event that set the deadline. Events are identified by their number in the event
log (`seq`); without a log nothing is tracked.
"""

from __future__ import annotations

from coordinator.events import groups as ev

# Events are of exactly these types.
_BY_THE_ONE_BEFORE = frozenset(
    {
        ev.GenerationStored,
        ev.AssignmentRejected,
        ev.RebalanceStarted,
        ev.LeaderElected,
        ev.GroupDeleted,
    }
)
_BY_THE_REBALANCE = frozenset(
    {ev.GenerationStarted, ev.GroupEmptied, ev.JoinPhaseExtended, ev.DelayExtended}
)
_OF_ALL_MEMBERS = frozenset({ev.GenerationStarted, ev.GenerationStored, ev.GroupLoaded})
_OF_ONE_MEMBER = frozenset(
    {ev.MemberPending, ev.MemberJoined, ev.MemberRejoined, ev.MemberReplaced, ev.MemberSynced}
)


class CauseTracker:
    """The last events of one group that may cause later ones."""

    __slots__ = ("_all", "_generation", "_last", "_members", "_rebalance")

    def __init__(self) -> None:
        self._last: int | None = None
        self._rebalance: int | None = None
        self._generation: int | None = None
        self._all: int | None = None
        self._members: dict[str, int] = {}

    def cause_of(self, event: ev.Event, request: int | None, before: int | None) -> int | None:
        """Return the cause of `event`. `request`: the request being served (None: a timer),
        `before`: the event before it.
        """
        kind = type(event)
        if before is not None and kind in _BY_THE_ONE_BEFORE:
            return before
        if kind in _BY_THE_REBALANCE:
            return self._rebalance
        if isinstance(event, ev.MemberRemoved):
            if event.reason == ev.Removal.DID_NOT_REJOIN:
                return self._rebalance
            if event.reason == ev.Removal.DID_NOT_SYNC:
                return self._generation
        if request is not None:
            return request
        if isinstance(event, (ev.MemberRemoved, ev.PendingMemberRemoved)):
            return max(
                (s for s in (self._members.get(event.member_id), self._all) if s is not None),
                default=self._last,
            )
        return self._last

    def note(self, event: ev.Event, seq: int) -> None:
        """Remember that `event` was logged as `seq`."""
        self._last = seq
        kind = type(event)
        if kind in _OF_ONE_MEMBER:
            self._members[event.member_id] = seq  # type: ignore[union-attr]
            return
        if kind is ev.RebalanceStarted:
            self._rebalance = seq
        elif kind is ev.GenerationStarted:
            self._generation = seq
        if kind in _OF_ALL_MEMBERS:
            self._all = seq
            self._members.clear()
        elif isinstance(event, (ev.MemberRemoved, ev.PendingMemberRemoved)):
            self._members.pop(event.member_id, None)
