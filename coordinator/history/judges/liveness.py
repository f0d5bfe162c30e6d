"""Judges liveness: when disturbances are over, each group comes to rest. Each judge has a bound
in ms, given by its caller."""

from __future__ import annotations

from typing import Final, NamedTuple

from coordinator.events.groups import GroupDeleted, GroupLoaded, GroupUnloaded
from coordinator.events.groups.classic import (
    GenerationStarted,
    GenerationStored,
    GroupEmptied,
    MemberRejoined,
    RebalanceStarted,
)
from coordinator.events.groups.consumer import GroupEpochBumped, TargetAssigned
from coordinator.events.handlers import on
from coordinator.events.members import RequestRepeated
from coordinator.events.wire import RequestAnswered, RequestRefused, RequestSeen

from ..world.groups.consumer_groups import CHANGES, ConsumerGroups
from .awaited import Awaited, awaited_by
from .base import Judge, Line
from .ended_members import EndedMembers
from .quiet import Quiet
from .settled import Settled

_CHANGES: Final = (
    RebalanceStarted,
    GenerationStarted,
    GenerationStored,
    GroupEmptied,
    GroupDeleted,
    GroupUnloaded,
    GroupLoaded,
)
_REFUSALS = 10
"""Highest number of refusals of one kind for a healthy client: a rebalance causes one."""


class _Change(NamedTuple):
    line: Line
    rests: bool
    state: str
    """State of the group from then on."""


class StableWithin(Judge):
    """Judges that, once disturbances are over, each group is Stable or Empty within the bound,
    and stays so, without members whose process has ended."""

    name = "stable_within"
    promise = (
        "once churn and faults have ended, each group becomes Stable or Empty within the bound and stays so. A member whose "
        "process has ended is removed when its session ends, at the latest, so that others get its partitions. Then each member's "
        "application has the partitions that its group assigned to it, and each partition that was owned before has an owner"
    )
    needs = frozenset({"group", "member"})
    timed = True

    def __init__(self, bound_ms: int, learns_ms: int = 0) -> None:
        """`learns_ms`: longest time in which a client learns that a topic was created, changed
        or deleted (metadata.max.age.ms)."""
        super().__init__()
        self._bound_ms = bound_ms
        self._quiet = Quiet(learns_ms)
        self._ended_at = 0
        self._changes: dict[str, list[_Change]] = {}
        self._consumers = ConsumerGroups()  # its own: deleted topics keep their names here
        self._ended = EndedMembers()
        self._settled = Settled()
        self._awaited = Awaited()
        self._said: dict[int, str] = {}
        """The reasons that clients gave for joining, by the lines of their requests and of the
        immediate consequences."""

    @on(RequestSeen)
    def _asked(self, line: Line, event: RequestSeen) -> None:
        if event.reason and event.api == "join_group":
            self._said[line.seq] = event.reason

    @on(RequestAnswered, RequestRefused)
    def _answered(self, line: Line, _: RequestAnswered | RequestRefused) -> None:
        if line.cause is not None:
            self._said.pop(line.cause, None)

    @on(*EndedMembers.handlers, *Settled.handlers, *Quiet.handlers, *Awaited.handlers)
    @on(*CHANGES, *_CHANGES)
    def _follow(self, line: Line, event: object) -> None:
        for part in (self._ended, self._settled, self._quiet):
            part.see(line)
        if line.stream != "group":
            return
        if line.cause in self._said and isinstance(event, MemberRejoined | RebalanceStarted):
            self._said[line.seq] = self._said[line.cause]
        self._awaited.see(line)
        if (group := self._consumers.see(line)) is not None:
            self._changes.setdefault(line.group or "", []).append(
                _Change(line, group.rests(), group.state())
            )
        elif isinstance(event, _CHANGES):
            rests = isinstance(event, GenerationStored | GroupEmptied | GroupDeleted) or (
                isinstance(event, GroupLoaded) and event.state in ("Stable", "Empty")
            )
            state = self._awaited.state(line.group or "")
            self._changes.setdefault(line.group or "", []).append(_Change(line, rests, state))

    def passed(self, now_ms: int) -> None:
        self._ended_at = now_ms

    def finish(self) -> None:
        due = self._quiet.since + self._bound_ms
        if self._ended_at < due:
            return
        for group, member, since, line in self._ended.overdue(due):
            self.blame(
                line,
                f"{member} has ended, but is still a member of group {group} {due - since} ms later",
            )
        restless = False
        for group, changes in self._changes.items():
            before = [change for change in changes if change.line.at_ms <= due]
            restless |= not changes[-1].rests or len(before) < len(changes)
            if before and not before[-1].rests:
                last = before[-1]
                self.blame(
                    last.line,
                    f"group {group} {self._waits(group, last, last is changes[-1])}, {self._bound_ms} ms after the last churn or fault",
                )
            for change in changes[len(before) :]:
                if change.line.kind in (RebalanceStarted, GroupEpochBumped):
                    self.blame(
                        change.line,
                        f"group {group} rebalances ({self._reason(change.line)}), although nothing disturbed it since "
                        f"{self._quiet.since} ms",
                    )
        for unsettled in (
            () if restless else self._settled.unsettled(self._consumers, self._quiet.since)
        ):
            self.blame(unsettled.line, unsettled.text)

    def _reason(self, line: Line) -> str:
        said = self._said.get(line.seq)
        return f"{line.event.reason}" + (f', saying "{said}"' if said else "")

    def _waits(self, group: str, change: _Change, is_so_still: bool) -> str:
        """Return the state of a group that is not at rest, and the members that it waits for."""
        if change.line.kind is GroupUnloaded:
            return "is not loaded by any coordinator"
        consumers = self._consumers.get(group)
        what = awaited_by(consumers) if consumers is not None else self._awaited.by(group)
        return f"is {change.state}" + (f" and waits for {what}" if what and is_so_still else "")


class RefusalsEnd(Judge):
    """Judges that, once disturbances are over, no client repeats a refused request again and
    again."""

    name = "refusals_end"
    promise = (
        "once churn and faults have ended and the bound has passed, no client's requests are refused again and again with the "
        "same error: each client knows the leaders, the coordinators and its own membership. Requests that are sent twice on "
        "purpose do not count"
    )
    needs = frozenset({"wire", "member"})

    def __init__(self, bound_ms: int, learns_ms: int = 0) -> None:
        """`learns_ms`: see `StableWithin`."""
        super().__init__()
        self._bound_ms = bound_ms
        self._quiet = Quiet(learns_ms)
        self._refused: dict[tuple[str, str, str], list[Line]] = {}
        """Refusals by client, API and error: the first ones, up to one too many."""
        self._repeats: set[str] = set()
        """Clients that send requests twice on purpose."""

    @on(*Quiet.handlers)
    def _done(self, line: Line, _: object) -> None:
        since = self._quiet.since
        self._quiet.see(line)
        if self._quiet.since != since:
            self._refused.clear()

    @on(RequestRepeated)
    def _repeated(self, _: Line, event: RequestRepeated) -> None:
        self._repeats.add(event.client)

    @on(RequestRefused)
    def _of_request(self, line: Line, event: RequestRefused) -> None:
        if line.at_ms <= self._quiet.since + self._bound_ms or not event.client:
            return
        for error in event.errors:
            lines = self._refused.setdefault((event.client, event.api, error), [])
            if len(lines) <= _REFUSALS:
                lines.append(line)

    def finish(self) -> None:
        for (client, api, error), lines in self._refused.items():
            if len(lines) > _REFUSALS and client not in self._repeats:
                self.blame(
                    lines[-1],
                    f"{client} is refused {api} with {error} again and again, although nothing was disturbed since {self._quiet.since} ms",
                )


class FewRebalances(Judge):
    """Judges that a group has no more generations, or a consumer group assignments, than the
    bound."""

    name = "most_rebalances"
    promise = "a group has at most as many generations, or a consumer group as many new target assignments, as the scenario allows"

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most
        self._begun: dict[str, int] = {}

    @on(GenerationStarted)
    def _generation(self, line: Line, _: GenerationStarted) -> None:
        self._count(line)

    def _count(self, line: Line) -> None:
        begun = self._begun[line.group or ""] = self._begun.get(line.group or "", 0) + 1
        if begun == self._most + 1:
            self.blame(
                line,
                f"group {line.group} begins its generation number {begun}; {self._most} are allowed",
            )

    @on(TargetAssigned)
    def _assigned(self, line: Line, event: TargetAssigned) -> None:
        if event.assignor is not None:
            self._count(line)
