"""The log as text while it grows: each line that a newcomer should see. Follows a `Timeline` and
changes nothing in it.

A rebalance is told step by step. Which members stood still is told when every SyncGroup has been
answered, because it is not known before.
"""

from __future__ import annotations

from typing import Final

from coordinator.events.cluster import PartitionsAdded
from coordinator.events.groups import (
    GenerationStarted,
    GenerationStored,
    GroupDeleted,
    GroupEmptied,
    GroupUnloaded,
    MemberJoined,
    MemberRejoined,
    MemberRemoved,
    RebalanceStarted,
)
from coordinator.events.line import Line
from coordinator.events.wire import RequestRefused

from ..world.lost_time.rebalances import NO_COST
from ..world.views import GroupView, Note, Rebalance
from ..world.world import World
from .cause_sentences import INFERRED, claims_told, not_consumed, removal, stood_still, why
from .described_timeline import told_timeline
from .formatting import duration, instant, printable
from .notes import told
from .output import gone_rows, share_rows

_TOLD: Final = frozenset(
    {
        PartitionsAdded,
        MemberJoined,
        MemberRejoined,
        MemberRemoved,
        RebalanceStarted,
        GenerationStarted,
        GenerationStored,
        GroupEmptied,
        RequestRefused,
    }
)
"""Classes of events that are told in addition to the timeline's notes."""
_PAD = " " * 12
_LONGEST_BAR = 48


class Narrator:
    """Makes text of a growing log: call `tell` with each line. `timeline` has the facts."""

    def __init__(self) -> None:
        self.timeline = told_timeline()
        self._world = World(timeline=self.timeline)
        self._still: dict[
            str, Rebalance
        ] = {}  # by group: Stable, but not every SyncGroup has been answered
        self._said_how_known = False

    def tell(self, line: Line) -> list[str]:
        """Read a line and return the text lines to print for it, if any."""
        self._world.see(line)
        told = self._tell(line)
        group = line.group or ""
        still = self._still.get(group)
        over = line.kind in (RebalanceStarted, GroupUnloaded, GroupDeleted)
        if still is None or not (
            over or all(share.resumed_ms is not None for share in still.shares)
        ):
            return told
        del self._still[group]
        going_on = self._going_on(line, still)
        return [*going_on, *told] if over else [*told, *going_on]

    def _tell(self, line: Line) -> list[str]:
        event = line.event if line.kind in _TOLD else None
        if isinstance(event, PartitionsAdded):
            count = event.first + len(event.replicas)
            text = f"topic {printable(event.topic)} grew to {count} partitions"
            return [self._stamped(line, text)]
        group = self.timeline.groups.get(line.group or "")
        if group is None or line.stream not in ("group", "wire", "fault", "seen"):
            return []
        last = group.entries[-1] if group.entries else None
        if isinstance(last, Note) and last.seq == line.seq:
            return [self._stamped(line, told(last))]
        current = group.current
        match event:
            case MemberJoined(member):
                return [self._stamped(line, f"{group.name(member)} joins the group")]
            case MemberRejoined(member):
                return [self._stamped(line, f"{group.name(member)} joins again")]
            case MemberRemoved():
                return [self._stamped(line, self._removal(group))]
            case RebalanceStarted():
                return [self._stamped(line, f"a rebalance begins{_ending_of(group)}")]
            case GenerationStarted() if current is not None:
                return [self._stamped(line, self._generation(current))]
            case GenerationStored() if current is not None and current.stored_ms == line.at_ms:
                self._still[group.group] = current
                return [
                    self._stamped(
                        line, f"generation {group.generation} is Stable with this assignment:"
                    ),
                    *self._ending(current),
                ]
            case GroupEmptied() if current is not None:
                return [self._stamped(line, "the group is Empty"), *self._ending(current)]
            case RequestRefused("heartbeat") if "REBALANCE_IN_PROGRESS" in event.errors:
                return self._learning(group, line)
        return []

    def _learning(self, group: GroupView, line: Line) -> list[str]:
        """Return the line that a member learns of a rebalance by its refused heartbeat (HB-1),
        for its first one in each rebalance."""
        member = group.members.get(line.member or "")
        if member is None or member.learned_by != line.seq:
            return []
        return [
            self._stamped(
                line, f"{member.name} learns of it: its heartbeat is answered REBALANCE_IN_PROGRESS"
            )
        ]

    def _going_on(self, line: Line, rebalance: Rebalance) -> list[str]:
        """Return the lines for the instant when all members have their assignments: members that
        stood still, and partitions that were not consumed."""
        group = self.timeline.groups[rebalance.group]
        costs = self.timeline.lost_time.costs(group, line.at_ms, rebalance.started_ms)
        cost = costs.get(rebalance.seq, NO_COST)
        facts = [stood_still(rebalance), not_consumed(cost)]
        if not any(facts):
            return []
        how_known = "" if self._said_how_known or not facts[0] else f" (inferred: {INFERRED})"
        self._said_how_known = self._said_how_known or bool(facts[0])
        return [self._stamped(line, "; ".join(fact for fact in facts if fact) + how_known)]

    def _stamped(self, line: Line, text: str) -> str:
        return f"{instant(line.at_ms):>10}  {text}"

    def _removal(self, group: GroupView) -> str:
        current = group.current
        changes = group.waiting or (current.changes if current is not None else [])
        return removal(changes[-1])

    def _generation(self, current: Rebalance) -> str:
        took = duration((current.generation_ms or 0) - current.started_ms)
        count = len(current.members)
        who = f"{count} member{'s' if count > 1 else ''} joined"
        return (
            f"generation {current.generation} begins after {took}: {who}, "
            f"{current.leader} leads and assigns ({printable(current.assignor or '?')})"
        )

    def _ending(self, current: Rebalance) -> list[str]:
        rows = share_rows(current.shares, moves_only=True)
        more = [claims_told(current)] if claims_told(current) else []
        return [
            *(f"{_PAD}  {bar}{row}" for bar, row in zip(self._bars(current), rows, strict=True)),
            *(f"{_PAD}  {row}" for row in gone_rows(current)),
            *(f"{_PAD}{line}" for line in more),
            f"{_PAD}Why? {why(current)}",
        ]

    def _bars(self, current: Rebalance) -> list[str]:
        """Return a picture of each member's partitions, if all partitions belong to one topic
        that is not too large."""
        topics = {topic for share in current.shares for topic in share.partitions or {}}
        size = self.timeline.topics.partitions.get(next(iter(topics), ""), 0)
        if len(topics) != 1 or not 0 < size <= _LONGEST_BAR:
            return [""] * len(current.shares)
        bars = []
        for share in current.shares:
            owned = {number for numbers in (share.partitions or {}).values() for number in numbers}
            bars.append("".join("■" if number in owned else "·" for number in range(size)) + "  ")
        return bars


def _ending_of(group: GroupView) -> str:
    """Return what the rebalance means for the former generation (HB-1, OC-3); "" if no other
    member was in it."""
    current = group.current
    if current is None or current.state_before == "Empty":
        return ""
    others = {member.name for member in group.members.values()}.difference(current.trigger.members)
    if not others:
        return ""
    return f": generation {group.generation} is ending; until the join phase is over its members' commits are still taken"
