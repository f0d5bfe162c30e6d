"""Liveness: when nothing is done to a group any more, it comes to rest. Each judge has a bound, which
its maker gives."""

from __future__ import annotations

from typing import NamedTuple

from ..history.consumer_groups import ConsumerGroups
from .base import Judge, Line
from .ended_members import EndedMembers
from .quiet import Quiet
from .settled import Settled

_BUSY = frozenset({"RebalanceStarted", "GenerationStarted", "GroupUnloaded"})
_AT_REST = frozenset({"GenerationStored", "GroupEmptied", "GroupDeleted"})
_REFUSALS = 10
"""So many refusals of one kind has each client that is well, at most: a rebalance costs one."""


class _Change(NamedTuple):
    line: Line
    rests: bool


class StableWithin(Judge):
    """Once nothing is done any more, a group is Stable (or Empty) within the bound, and stays so;
    the dead are out of it."""

    name = "stable_within"
    promise = (
        "when churn and faults are over, each group is Stable or Empty within the bound, and stays so; and a member whose process has "
        "ended is one no longer than its session lasts, so that others are given what it had; then each member's application has what its "
        "group gave it, and each partition that was there is somebody's"
    )
    needs = frozenset({"group", "member"})
    of_streams = frozenset({"cluster", "fault", "group", "member"})
    timed = True

    def __init__(self, bound_ms: int, learns_ms: int = 0) -> None:
        """`learns_ms`: so long may a client take to learn that a topic came, grew or went
        (metadata.max.age.ms)."""
        super().__init__()
        self._bound_ms = bound_ms
        self._quiet = Quiet(learns_ms)
        self._ended_at = 0
        self._changes: dict[str, list[_Change]] = {}
        self._consumers = ConsumerGroups()  # its own: deleted topics keep their names here
        self._ended = EndedMembers()
        self._settled = Settled()

    def see(self, line: Line) -> None:
        kind = line["type"]
        self.passed(line["at_ms"])
        self._ended.see(line)
        self._settled.see(line)
        self._quiet.see(line)
        if line["stream"] != "group":
            return
        if (group := self._consumers.see(line)) is not None:
            self._changes.setdefault(line["group"], []).append(_Change(line, group.rests()))
        elif kind in _BUSY or kind in _AT_REST or kind == "GroupLoaded":
            rests = kind in _AT_REST or (
                kind == "GroupLoaded" and line["state"] in ("Stable", "Empty")
            )
            self._changes.setdefault(line["group"], []).append(_Change(line, rests))

    def passed(self, now_ms: int) -> None:
        self._ended_at = now_ms

    def finish(self) -> None:
        due = self._quiet.since + self._bound_ms
        if self._ended_at < due:
            return
        for group, member, since, line in self._ended.overdue(due):
            self.blame(
                line,
                f"{member} has ended, and is a member of group {group} still, {due - since} ms later",
            )
        restless = False
        for group, changes in self._changes.items():
            before = [change for change in changes if change.line["at_ms"] <= due]
            restless |= not changes[-1].rests or len(before) < len(changes)
            if before and not before[-1].rests:
                line = before[-1].line
                self.blame(
                    line,
                    f"{line['type']} came last in group {group}, {self._bound_ms} ms after the last churn or fault",
                )
            for change in changes[len(before) :]:
                if change.line["type"] in ("RebalanceStarted", "GroupEpochBumped"):
                    self.blame(
                        change.line,
                        f"group {group} rebalances, although nothing was done to it since {self._quiet.since} ms",
                    )
        for unsettled in (
            () if restless else self._settled.unsettled(self._consumers, self._quiet.since)
        ):
            self.blame(unsettled.line, unsettled.text)


class RefusalsEnd(Judge):
    """Once nothing is done any more, no client asks again and again for what is refused."""

    name = "refusals_end"
    promise = (
        "when churn and faults are over, and the bound has passed, no client is refused the same again and again: it has learnt who leads, "
        "who coordinates and what it is a member of; requests that are sent twice on purpose do not count"
    )
    needs = frozenset({"wire", "member"})
    of_streams = frozenset({"cluster", "fault", "member"})
    also = frozenset({"RequestRefused"})

    def __init__(self, bound_ms: int, learns_ms: int = 0) -> None:
        """`learns_ms`: as of `StableWithin`."""
        super().__init__()
        self._bound_ms = bound_ms
        self._quiet = Quiet(learns_ms)
        self._refused: dict[tuple[str, str, str], list[Line]] = {}
        """By client, API and error; of one client and API: those that came first, up to one too
        many."""
        self._repeats: set[str] = set()
        """Clients that send requests twice."""

    def see(self, line: Line) -> None:
        if line["type"] == "RequestRefused":
            self._of_request(line)
            return
        if line["type"] == "RequestRepeated":
            self._repeats.add(line["client"])
        since = self._quiet.since
        self._quiet.see(line)
        if self._quiet.since != since:
            self._refused.clear()

    def _of_request(self, line: Line) -> None:
        if line["at_ms"] <= self._quiet.since + self._bound_ms or not line.get("client"):
            return
        for error in line["errors"]:
            lines = self._refused.setdefault((line["client"], line["api"], error), [])
            if len(lines) <= _REFUSALS:
                lines.append(line)

    def finish(self) -> None:
        for (client, api, error), lines in self._refused.items():
            if len(lines) > _REFUSALS and client not in self._repeats:
                self.blame(
                    lines[-1],
                    f"{client} is refused {api} with {error} time and again, although nothing was done since {self._quiet.since} ms",
                )


class FewRebalances(Judge):
    """A group has no more generations, or a consumer group assignments, than the bound."""

    name = "most_rebalances"
    promise = "a group has at most so many generations, or a consumer group new assignments, as the scenario allows"
    looks_at = frozenset({"GenerationStarted", "TargetAssigned"})

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most
        self._begun: dict[str, int] = {}

    def see(self, line: Line) -> None:
        if line["type"] == "GenerationStarted" or (
            line["type"] == "TargetAssigned" and line["assignor"] is not None
        ):
            begun = self._begun[line["group"]] = self._begun.get(line["group"], 0) + 1
            if begun == self._most + 1:
                self.blame(
                    line,
                    f"group {line['group']} begins its generation number {begun}; {self._most} are allowed",
                )
