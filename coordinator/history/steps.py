"""Requests, answers and callbacks on the way to each generation, in order: what `explain --detail`
shows beside the sentences.

Collects while `timeline` folds, and only if it is asked to. The same refusal of the same member
within one rebalance is one step with a count: a member that waits for a slow one may be told
REBALANCE_IN_PROGRESS hundreds of times.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..event_log.reader import Line
from .views import GroupView, Step

_SHOWN = frozenset({"join_group", "sync_group", "leave_group", "heartbeat"})
_COMMITS = frozenset({"offset_commit", "txn_offset_commit"})


class Steps:
    """`lines`: all lines so far by their number, to find the request that an answer belongs to."""

    def __init__(self, lines: Mapping[int, Line]) -> None:
        self._lines = lines
        self._refusals: dict[tuple[object, ...], Step] = {}
        self._before: dict[str, list[Step]] = {}

    def wire(self, group: GroupView | None, line: Line, injected: str) -> None:
        """A line of stream `wire`; `injected`: the fault that made it a refusal, or "".

        A group that does not exist yet gets its first steps when it does.
        """
        api, kind = line.get("api", ""), line["type"]
        if "group" not in line or kind not in ("RequestSeen", "RequestAnswered", "RequestRefused"):
            return
        if api not in _SHOWN and not (api in _COMMITS and kind == "RequestRefused"):
            return
        if kind == "RequestAnswered" and api == "leave_group":
            return
        errors = line["errors"] if kind == "RequestRefused" else []
        name = group.name(line.get("member")) if group is not None else None
        step = Step(line["at_ms"], name, line, self._lines.get(line["cause"]), injected=injected)
        if group is None:
            self._before.setdefault(line["group"], []).append(step)
            return
        if kind == "RequestRefused":
            number = group.current.seq if group.current is not None else -1
            key = (group.group, number, group.state, line.get("member"), api, injected, *errors)
            if line.get("member") and key in self._refusals:
                self._refusals[key].times += 1
                return
            self._refusals[key] = step
        self._add(group, step)

    def callback(self, group: GroupView, name: str, line: Line) -> None:
        """A line of stream `member`."""
        self._add(group, Step(line["at_ms"], name, line))

    def group_came(self, group: GroupView) -> None:
        """The group's first event: what came before it belongs to its first rebalance."""
        group.steps += self._before.pop(group.group, [])

    @staticmethod
    def _add(group: GroupView, step: Step) -> None:
        current = group.current
        late = step.line["type"] == "PartitionsAssigned" or step.line.get("api") == "sync_group"
        if current is not None and (
            group.state in ("PreparingRebalance", "CompletingRebalance")
            or (group.state == "Stable" and late)
        ):
            current.steps.append(step)
        else:
            group.steps.append(step)
