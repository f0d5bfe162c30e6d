"""Alarms while a log grows: one `Watch` for each group, fed line by line, whose state is plain
JSON.

Instants are the log's own. `due` and `expired` find what should have happened and did not, on
the caller's wall clock. Spark keeps one watch for each group as its state (`spark.live`); any
other program may feed one directly.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from coordinator.events.cluster import PartitionChange, PartitionChanged
from coordinator.events.groups import MemberJoined, RebalanceStarted
from coordinator.events.line import Line
from coordinator.events.wire import RequestRefused
from coordinator.history.world.groups.classic_groups import PREPARING, STATE_TYPES, ClassicGroup
from coordinator.history.world.refusals import STALE

CLUSTER: Final = ""
"""The key under which lines without a group are watched."""
WATCHED: Final = STATE_TYPES | {
    MemberJoined,
    RequestRefused,
    PartitionChanged,
}
"""Classes of the events that a watch reads."""
_ENDED: Final = (PartitionChange.REASSIGNMENT_COMPLETED, PartitionChange.REASSIGNMENT_CANCELLED)


class Limits(NamedTuple):
    """Limits beyond which an alarm is raised. Durations in milliseconds."""

    storm: int = 5
    """Number of rebalances of a group within `window_ms`."""
    flapping: int = 3
    """Number of times that a member (by its client id or group instance id) joined within
    `window_ms`."""
    window_ms: int = 60_000
    stuck_join_ms: int = 60_000
    stuck_reassignment_ms: int = 300_000


class Alert(NamedTuple):
    """An alarm: its group (empty: the cluster), its kind, the line that raised it, and a
    sentence."""

    group: str
    kind: str
    seq: int
    at_ms: int
    text: str


KINDS: Final = (
    "rebalance storm",
    "flapping member",
    "zombie commit",
    "stuck join phase",
    "stuck reassignment",
    "unreadable line",
)


class Watch:
    """The watch of one group. `saved()` returns its state as text, with which another process
    can go on."""

    def __init__(self, group: str, limits: Limits = Limits(), saved: str | None = None) -> None:
        self._group = group
        self._limits = limits
        state = json.loads(saved) if saved else {}
        self.group = ClassicGroup(state.get("state", ""), state.get("generation", -1))
        self.rebalances: list[int] = state.get("rebalances", [])
        """The instants of the rebalances that began within the window before the last line."""
        self._joined: dict[str, list[int]] = state.get("joined", {})
        self._pending: dict[str, list[Any]] = state.get("pending", {})
        """Each open step: its kind, the line that began it, and the wall clock at which it is
        overdue."""

    def saved(self) -> str:
        """Return the state as text."""
        return json.dumps(
            {
                "generation": self.group.generation,
                "state": self.group.state,
                "rebalances": self.rebalances,
                "joined": self._joined,
                "pending": self._pending,
            }
        )

    def see(self, line: Line, wall_ms: int) -> Iterator[Alert]:
        """Handle a line of this group. `wall_ms`: the present wall clock, at which steps that
        begin here start their time."""
        if line.kind in STATE_TYPES:
            self.group.follow(line)
            if self.group.state != PREPARING:
                self._pending.pop("join", None)
        if line.kind not in WATCHED:
            return
        match line.event:
            case RebalanceStarted():
                yield from self._storm(line)
                due_ms = wall_ms + self._limits.stuck_join_ms
                self._pending["join"] = ["stuck join phase", line.seq, line.at_ms, due_ms]
            case MemberJoined(member_id, instance_id, client_id):
                yield from self._flapping(line, instance_id or client_id or member_id)
            case RequestRefused() as event:
                yield from self._zombie(line, event)
            case PartitionChanged(topic, partition, PartitionChange.REASSIGNMENT_STARTED):
                due_ms = wall_ms + self._limits.stuck_reassignment_ms
                step = ["stuck reassignment", line.seq, line.at_ms, due_ms]
                self._pending[f"{topic}-{partition}"] = step
            case PartitionChanged(topic, partition, what) if what in _ENDED:
                self._pending.pop(f"{topic}-{partition}", None)

    def due(self) -> int | None:
        """Return the wall clock at which something is overdue; None if nothing is awaited."""
        return min((entry[3] for entry in self._pending.values()), default=None)

    def expired(self, wall_ms: int) -> Iterator[Alert]:
        """Yield the steps that are overdue by now, each once."""
        for name in [name for name, entry in self._pending.items() if entry[3] <= wall_ms]:
            kind, seq, at_ms, _ = self._pending.pop(name)
            what = (
                "its join phase has not ended"
                if name == "join"
                else f"the reassignment of {name} has not ended"
            )
            limit = (
                self._limits.stuck_join_ms if name == "join" else self._limits.stuck_reassignment_ms
            )
            yield Alert(self._group, kind, seq, at_ms, f"{what} {limit / 1000:g} s after it began")

    def _storm(self, line: Line) -> Iterator[Alert]:
        since = line.at_ms - self._limits.window_ms
        before = len(self.rebalances)
        self.rebalances = [at_ms for at_ms in self.rebalances if at_ms > since] + [line.at_ms]
        if len(self.rebalances) >= self._limits.storm > min(before, len(self.rebalances) - 1):
            text = f"{len(self.rebalances)} rebalances within {self._limits.window_ms / 1000:g} s"
            yield Alert(self._group, "rebalance storm", line.seq, line.at_ms, text)

    def _flapping(self, line: Line, name: str) -> Iterator[Alert]:
        since = line.at_ms - self._limits.window_ms
        times = [at_ms for at_ms in self._joined.get(name, ()) if at_ms > since] + [line.at_ms]
        self._joined = {each: found for each, found in self._joined.items() if found[-1] > since}
        self._joined[name] = times
        if len(times) == self._limits.flapping:
            text = f"{name} joined {len(times)} times within {self._limits.window_ms / 1000:g} s"
            yield Alert(self._group, "flapping member", line.seq, line.at_ms, text)

    def _zombie(self, line: Line, event: RequestRefused) -> Iterator[Alert]:
        errors = STALE.intersection(event.errors)
        if errors and event.api in ("offset_commit", "txn_offset_commit"):
            who = line.member or event.client or "somebody"
            text = f"a commit of {who} was refused: {', '.join(sorted(errors))}"
            yield Alert(self._group, "zombie commit", line.seq, line.at_ms, text)


def live_page(
    groups: Mapping[str, tuple[str, int, int]], alerts: list[Alert], lines: int, every_s: int
) -> str:
    """Return a small page of the present state: each group's state, generation and recent
    rebalances; the latest alerts. It reloads itself."""
    from html import escape

    from .page import table

    rows = [(group or "(cluster)", *told) for group, told in sorted(groups.items())]
    told = [
        (f"{alert.at_ms / 1000:.3f} s", alert.group or "(cluster)", alert.kind, alert.text)
        for alert in reversed(alerts)
    ]
    style = "body{font:15px system-ui;margin:2rem}td,th{padding:.2rem .8rem;text-align:left}"
    return (
        f"<!doctype html>\n<html lang='en'><head><meta charset='utf-8'><meta http-equiv='refresh' content='{every_s}'>"
        f"<title>Consumer groups, live</title><style>{style}</style></head>"
        f"<body><h1>Consumer groups, live</h1><p>{escape(f'{lines:,}')} lines read.</p><h2>Groups</h2>"
        + table(
            ("group", "state", "generation", "rebalances in the last minute of the log"),
            rows,
            (2, 3),
        )
        + "<h2>Alerts, the latest first</h2>"
        + table(("at", "group", "kind", "what"), told)
        + "</body></html>\n"
    )
