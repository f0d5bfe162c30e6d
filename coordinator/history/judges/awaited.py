"""States of groups that are not at rest, and the members that they wait for.

This module has no judge; `liveness` uses it when a run is over.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from coordinator.events.groups import GroupDeleted, GroupLoaded, GroupUnloaded
from coordinator.events.groups.classic import (
    GenerationStarted,
    GenerationStored,
    GroupEmptied,
    MemberJoined,
    MemberRejoined,
    MemberRemoved,
    MemberReplaced,
)
from coordinator.events.handlers import Reader, on

from ..world.groups.classic_groups import COMPLETING, PREPARING, STATE_TYPES, ClassicGroups
from ..world.groups.consumer_groups import ConsumerGroup
from .base import Line

_MOST_NAMED: Final = 3


class Awaited(Reader):
    """The state of each classic group in a log, and the members that have joined."""

    def __init__(self) -> None:
        self._groups = ClassicGroups()
        self._members: dict[str, set[str]] = {}
        self._here: dict[str, set[str]] = {}
        """Members that wait for the next generation."""

    def see(self, line: Line) -> None:
        if line.kind in STATE_TYPES:
            self._groups.see(line)
        super().see(line)

    def state(self, group: str) -> str:
        """Return the state of a classic group; "" while no broker has loaded it."""
        return self._groups.get(group).state

    def by(self, group: str) -> str:
        """Return what a classic group waits for, as a phrase; "" if the log does not show it."""
        known = self._groups.get(group)
        if known.state == COMPLETING:
            return f"the SyncGroup of its leader {known.leader}"
        absent = self._members.get(group, set()) - self._here.get(group, set())
        return _named(absent) if known.state == PREPARING else ""

    @on(MemberJoined, MemberRejoined, MemberReplaced)
    def _joined(self, line: Line, event: MemberJoined | MemberRejoined | MemberReplaced) -> None:
        members = self._members.setdefault(line.group or "", set())
        here = self._here.setdefault(line.group or "", set())
        if isinstance(event, MemberReplaced):
            members.discard(event.replaced)
            here.discard(event.replaced)
        members.add(event.member_id)
        if not isinstance(event, MemberReplaced) or event.parked:
            here.add(event.member_id)

    @on(MemberRemoved)
    def _removed(self, line: Line, event: MemberRemoved) -> None:
        for known in (self._members, self._here):
            known.get(line.group or "", set()).discard(event.member_id)

    @on(GenerationStarted)
    def _began(self, line: Line, event: GenerationStarted) -> None:
        self._are(line, event.members)

    @on(GenerationStored)
    def _stored(self, line: Line, event: GenerationStored) -> None:
        self._are(line, [member.member_id for member in event.members])

    def _are(self, line: Line, members: Collection[str]) -> None:
        self._members[line.group or ""] = set(members)
        self._here.pop(line.group or "", None)

    @on(GroupEmptied, GroupDeleted, GroupUnloaded, GroupLoaded)
    def _nobody_waits(
        self, line: Line, event: GroupEmptied | GroupDeleted | GroupUnloaded | GroupLoaded
    ) -> None:
        self._here.pop(line.group or "", None)
        if isinstance(event, GroupEmptied | GroupDeleted):
            self._members.pop(line.group or "", None)


def awaited_by(group: ConsumerGroup) -> str:
    """Return what a consumer group waits for, as a phrase."""
    if group.epoch > group.assignment_epoch:
        return f"a target assignment for epoch {group.epoch}"
    late = [
        name
        for name, member in group.members.items()
        if member.epoch != group.epoch or member.state != "stable"
    ]
    return _named(late)


def _named(members: Collection[str]) -> str:
    names = sorted(members)
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
