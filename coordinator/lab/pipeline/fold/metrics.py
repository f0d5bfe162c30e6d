"""Table `metrics`: a run's cost to its groups in one row, counted from the rows of the other tables
as they are emitted, so that the two cannot differ; and the time that the groups lost, by the
timeline.

A partition is unavailable, from its first owner on, whenever no member's application has it, by
the members' own lines (stream `member`). A crash is detected when the coordinator removes the
killed member; the expiry of a member that was not killed is a false one.
"""

from __future__ import annotations

from typing import Any, Final

from coordinator.events.line import Line
from coordinator.events.members import MemberCrashed
from coordinator.history.world.lost_time.partitions import Lost

from ..schemas import TABLES, Row
from .observer import Emit

_AT: Final = {
    name: {column: number for number, column in enumerate(table.names())}
    for name, table in TABLES.items()
}
"""The index of each column in a row."""


class Metrics:
    """Table `metrics`. Call `take` with every row of the other tables, except events, for which
    `event` gets the line; then `finish`."""

    def __init__(self) -> None:
        self._sums = dict.fromkeys(TABLES["metrics"].names()[1:], 0)
        self._free_since: dict[tuple[Any, ...], int] = {}
        self._crashed: dict[tuple[str | None, str], int] = {}
        self._events = 0
        self._consumer_groups: set[str] = set()
        """Groups whose first epoch was taken."""
        self._expired: list[tuple[str, str, int]] = []

    def take(self, table: str, row: Row) -> None:
        """Count a row of another table."""
        count = _COUNTS.get(table)
        if count is not None:
            count(self, row, _AT[table])

    def event(self, line: Line) -> None:
        """Count a row of table `events`, by its line."""
        self._events += 1
        if line.kind is MemberCrashed and line.member:
            self._crashed[line.group, line.member] = line.at_ms

    def finish(self, end_ms: int, lost: Lost, emit: Emit) -> None:
        """Emit the run's row. `lost`: the time that all its groups lost."""
        sums = self._sums
        sums["lost_at_least_ms"], sums["lost_at_most_ms"] = lost
        sums["events"] = self._events
        for free_since in self._free_since.values():
            self._unavailable(end_ms - free_since)
        for group, member, at_ms in self._expired:
            crashed_ms = self._crashed.get((group, member))
            if crashed_ms is None or crashed_ms > at_ms:
                sums["false_expiries"] += 1
            else:
                sums["detected"] += 1
                sums["detection_ms"] += at_ms - crashed_ms
                sums["longest_detection_ms"] = max(sums["longest_detection_ms"], at_ms - crashed_ms)
        emit("metrics", tuple(sums.values()))

    def _unavailable(self, length_ms: int) -> None:
        self._sums["unavailable_partition_ms"] += length_ms
        self._sums["longest_unavailable_ms"] = max(self._sums["longest_unavailable_ms"], length_ms)

    def _rebalance(self, row: Row, at: dict[str, int]) -> None:
        sums, took_ms = self._sums, row[at["duration_ms"]]
        sums["rebalances"] += 1
        for column in ("moved", "moved_between_processes", "revoked", "lost"):
            sums[column] += row[at[column]]
        if took_ms is not None:
            sums["stable"] += 1
            sums["rebalancing_ms"] += took_ms
            sums["join_phase_ms"] += row[at["join_phase_ms"]]
            sums["sync_phase_ms"] += row[at["sync_phase_ms"]]
            sums["longest_rebalance_ms"] = max(sums["longest_rebalance_ms"], took_ms)
        if row[at["initial_delay_ms"]] is not None:
            sums["first_joins"] += 1
            sums["first_join_ms"] += took_ms or 0
        else:
            sums["longest_later_ms"] = max(sums["longest_later_ms"], took_ms or 0)

    def _generation(self, row: Row, at: dict[str, int]) -> None:
        self._sums["generations"] += 1

    def _epoch(self, row: Row, at: dict[str, int]) -> None:
        self._sums["epochs"] += 1
        if row[at["group_id"]] not in self._consumer_groups:
            self._consumer_groups.add(row[at["group_id"]])
            self._sums["first_joins"] += 1
        self._sums["rebalances"] += 1
        for column in ("moved", "moved_between_processes"):
            self._sums[column] += row[at[column]]
        if row[at["settled_ms"]] is not None:
            self._sums["settling_ms"] += row[at["settled_ms"]] - row[at["started_ms"]]

    def _owned(self, row: Row, at: dict[str, int]) -> None:
        if row[at["view"]] != "member":
            return
        place = (row[at["group_id"]], row[at["topic"]], row[at["partition"]])
        free_since = self._free_since.pop(place, None)
        if free_since is not None:
            self._unavailable(row[at["from_ms"]] - free_since)
        if row[at["to_ms"]] is not None:
            self._free_since[place] = row[at["to_ms"]]

    def _member(self, row: Row, at: dict[str, int]) -> None:
        self._sums["members"] += 1
        if row[at["reason"]] == "session expired":
            self._expired.append((row[at["group_id"]], row[at["member_id"]], row[at["left_ms"]]))

    def _request(self, row: Row, at: dict[str, int]) -> None:
        self._sums["requests"] += 1
        if row[at["outcome"]] == "refused":
            self._sums["refused"] += 1
            self._sums["refused_commits"] += row[at["api"]] in (
                "offset_commit",
                "txn_offset_commit",
            )

    def _commit(self, row: Row, at: dict[str, int]) -> None:
        self._sums["commits"] += 1

    def _finding(self, row: Row, at: dict[str, int]) -> None:
        self._sums["findings"] += 1


_COUNTS: Final = {
    "rebalances": Metrics._rebalance,
    "generations": Metrics._generation,
    "epochs": Metrics._epoch,
    "ownership": Metrics._owned,
    "members": Metrics._member,
    "requests": Metrics._request,
    "commits": Metrics._commit,
    "findings": Metrics._finding,
}
