"""Judges ownership and settling by the members' own lines alone, for runs on brokers that write no
log, such as a real Kafka.

The brokers' events are not used, so it finds less than `ownership` and `liveness`: nothing about
members whose hosts or links were disturbed.
"""

from __future__ import annotations

from typing import Any, Final

from coordinator.events.handlers import kinds_of, on
from coordinator.events.members import (
    MemberClosed,
    MemberClosing,
    MemberCrashed,
    MemberEvent,
    MemberFailed,
    MemberStarted,
    PartitionsAssigned,
    PartitionsLost,
    PartitionsRevoked,
)

from ..world.ownership.owners import Believed, Held, Place
from .base import NEVER, Judge, Line
from .disturbances import Disturbances
from .quiet import Quiet
from .running_members import RunningMembers

_HEARS_MS: Final = 15_000
"""Time in ms after a disturbance within which a member learns whether it is still a member."""


class _Owners(Believed):
    """Owners by the members' own word. A process that starts, or begins to close, owns nothing."""

    def __init__(self) -> None:
        super().__init__(lambda _: None)

    @on(MemberStarted, MemberClosing)
    def _owns_nothing(self, line: Line, event: MemberStarted | MemberClosing) -> None:
        self._let_go(line, event.client)


def _since(held: Held) -> int:
    """Return the epoch, or the generation of a classic group, with which a member got a partition;
    0 if it is not known."""
    return (held.generation if held.epoch is None else held.epoch) or 0


class OwnedOnce(Judge):
    """Judges that no partition belongs to two members at once."""

    name = "owned_once"
    promise = (
        "according to the members themselves, no partition is assigned to a member while another healthy member still has it. A "
        "member is healthy if nothing disturbed its host, its connections or its requests, and its application is neither "
        "processing nor stalled. A member that was assigned the partition in the same generation has 15 s to learn that a member "
        "with the same group.instance.id replaced it"
    )
    needs = frozenset({"member"})
    timed = True

    def __init__(self) -> None:
        super().__init__()
        self._owners = _Owners()
        self._running = RunningMembers()
        self._disturbances = Disturbances()
        self._ids: dict[tuple[str, str], str] = {}
        self._doubles: list[tuple[Line, str, Place, str, int]] = []
        """Partitions that two members got in one generation: line of the second, group,
        partition, the first member and its generation. In order of time."""

    @on(*Disturbances.handlers)
    def _disturbed(self, line: Line, _: object) -> None:
        self._disturbances.see(line)

    @on(*kinds_of("member"))
    def _told(self, line: Line, event: MemberEvent) -> None:
        if line.group is None:
            return
        group = line.group
        if line.member:
            self._ids[group, event.client] = line.member
        if isinstance(event, PartitionsAssigned):
            self._given(line, group, event)
        self._owners.see(line)
        self._running.told(group, line.member, event)

    def _given(self, line: Line, group: str, event: PartitionsAssigned) -> None:
        now = line.generation if event.member_epoch is None else event.member_epoch
        for place in event.partitions:
            for other, held in self._owners.owners_of(group, place).items():
                since = _since(held)
                if other == event.client:
                    continue
                if event.member_epoch is None and since == now:
                    self._doubles.append((line, group, place, other, since))
                    self.due_ms = min(self.due_ms, line.at_ms + _HEARS_MS)
                elif self._is_well(line.at_ms, group, other):
                    self._accuse(line, group, place, other, "and still has")
                    return

    def _accuse(self, line: Line, group: str, place: Place, other: str, how: str) -> None:
        text = f"{line.event.client} of group {group} is assigned {place[0]}-{place[1]}"
        self.blame(line, f"{text}, which {other} was assigned {how}")

    def passed(self, now_ms: int) -> None:
        while self._doubles and self._doubles[0][0].at_ms + _HEARS_MS <= now_ms:
            line, group, place, other, since = self._doubles.pop(0)
            has = self._owners.owners_of(group, place)
            both = other in has and _since(has[other]) == since and line.event.client in has
            if both and self._is_well(now_ms, group, other):
                self._accuse(line, group, place, other, f"in generation {since}, too")
        self.due_ms = self._doubles[0][0].at_ms + _HEARS_MS if self._doubles else NEVER

    def _is_well(self, now_ms: int, group: str, client: str) -> bool:
        calm_since = self._disturbances.calm_since(client)
        member = self._ids.get((group, client), "")
        return (
            calm_since is not None
            and calm_since + _HEARS_MS <= now_ms
            and self._running.client_of(group, member) is not None
        )


class SettledWithin(Judge):
    """Judges that, once disturbances are over, members keep their partitions. `learns_ms`: see
    `StableWithin`."""

    name = "settled_within"
    promise = (
        "once churn and faults have ended and the bound has passed, each partition that a member of a group had is owned by "
        "exactly one member, according to the members themselves, as long as any member runs, and partitions no longer move"
    )
    needs = frozenset({"member"})
    timed = True

    def __init__(self, bound_ms: int, learns_ms: int = 0) -> None:
        super().__init__()
        self._bound_ms = bound_ms
        self._quiet = Quiet(learns_ms)
        self._owners = _Owners()
        self._running: dict[str, set[str]] = {}
        self._seen: dict[str, dict[Place, Line]] = {}
        """For each group the partitions that a member owned, with the last line about each."""
        self._late: list[Line] = []
        """Lines after the bound by which members got or lost partitions, if nothing was
        disturbed later."""
        self._ended_at = 0

    @on(*Quiet.handlers)
    @on(*kinds_of("member"))
    def _follow(self, line: Line, event: object) -> None:
        since = self._quiet.since
        self._quiet.see(line)
        if self._quiet.since != since:
            self._late.clear()
        if line.stream == "member" and line.group is not None:
            self._told(line, line.group, event)

    def _told(self, line: Line, group: str, event: Any) -> None:
        match event:
            case MemberStarted():
                self._running.setdefault(group, set()).add(event.client)
            case MemberClosing() | MemberClosed() | MemberCrashed() | MemberFailed():
                self._running.get(group, set()).discard(event.client)
            case PartitionsAssigned() | PartitionsRevoked() | PartitionsLost():
                seen = self._seen.setdefault(group, {})
                seen.update(dict.fromkeys(event.partitions, line))
                if event.partitions and line.at_ms > self._quiet.since + self._bound_ms:
                    self._late.append(line)
        self._owners.see(line)

    def passed(self, now_ms: int) -> None:
        self._ended_at = now_ms

    def finish(self) -> None:
        if self._ended_at < self._quiet.since + self._bound_ms:
            return
        for line in self._late[:1]:
            what = "is assigned" if line.kind is PartitionsAssigned else "loses"
            text = f"{line.event.client} of group {line.group} {what} partitions"
            self.blame(
                line, f"{text}, although there was no churn or fault since {self._quiet.since} ms"
            )
        for group, seen in self._seen.items():
            if not self._running.get(group):
                continue
            for place, line in seen.items():
                owners = self._owners.owners_of(group, place)
                if len(owners) != 1:
                    owned = (
                        f"is owned by {' and '.join(sorted(owners))}" if owners else "has no owner"
                    )
                    text = f"{place[0]}-{place[1]} {owned} in group {group}"
                    self.blame(line, f"{text}, {self._bound_ms} ms after the last churn or fault")
                    break
