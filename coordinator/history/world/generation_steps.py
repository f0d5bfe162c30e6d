"""Requests, responses and callbacks on the way to each generation, in order: what `explain
--detail` shows beside the sentences.

Collects while `timeline` reads the log, if asked to. The same refusal of the same member within
one rebalance is one step with a count: a member that waits for a slow one may get
REBALANCE_IN_PROGRESS hundreds of times.
"""

from __future__ import annotations

from coordinator.events.line import Line
from coordinator.events.members import PartitionsAssigned
from coordinator.events.wire import RequestAnswered, RequestRefused, RequestSeen

from .kept_lines import KeptLines
from .views import GroupView, Step

_SHOWN = frozenset({"join_group", "sync_group", "leave_group", "heartbeat"})
_COMMITS = frozenset({"offset_commit", "txn_offset_commit"})


class Steps:
    """`lines`: all lines so far by number, to find the request of a response."""

    def __init__(self, lines: KeptLines) -> None:
        self._lines = lines
        self._refusals: dict[tuple[object, ...], Step] = {}
        self._before: dict[str, list[Step]] = {}

    def wire(self, group: GroupView | None, line: Line, injected: str) -> None:
        """Note a line of stream `wire`. `injected`: the fault that refused it, or "". A group
        that does not exist yet gets its first steps when it does."""
        event, refused = line.event, line.kind is RequestRefused
        if line.group is None or not isinstance(
            event, RequestSeen | RequestAnswered | RequestRefused
        ):
            return
        api = event.api
        if api not in _SHOWN and not (api in _COMMITS and refused):
            return
        if api == "leave_group" and line.kind is RequestAnswered:
            return
        name = group.name(line.member) if group is not None else None
        seen = None if line.cause is None else self._lines.get(line.cause)
        step = Step(line.at_ms, name, line, seen, injected=injected)
        if group is None:
            self._before.setdefault(line.group, []).append(step)
            return
        if isinstance(event, RequestRefused):
            number = group.current.seq if group.current is not None else -1
            key = (group.group, number, group.state, line.member, api, injected, *event.errors)
            if line.member and key in self._refusals:
                self._refusals[key].times += 1
                return
            self._refusals[key] = step
        self._add(group, step)

    def callback(self, group: GroupView, name: str, line: Line) -> None:
        """Note a line of stream `member`."""
        self._add(group, Step(line.at_ms, name, line))

    def group_came(self, group: GroupView) -> None:
        """Note a group's first event: steps before it belong to its first rebalance."""
        group.steps += self._before.pop(group.group, [])

    @staticmethod
    def _add(group: GroupView, step: Step) -> None:
        current = group.current
        event = step.line.event
        late = isinstance(event, PartitionsAssigned) or (
            isinstance(event, RequestSeen | RequestAnswered | RequestRefused)
            and event.api == "sync_group"
        )
        if current is not None and (
            group.state in ("PreparingRebalance", "CompletingRebalance")
            or (group.state == "Stable" and late)
        ):
            current.steps.append(step)
        else:
            group.steps.append(step)
