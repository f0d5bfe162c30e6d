"""Windows of a simulation: what each event of a scenario costs, from its instant until the next one's.

Counted from the rows of the run's own tables, and from the bytes on the simulated links, which no log has. Rules: a rebalance, or a group
epoch of a consumer group (KIP-848), belongs to the window in which it begins; a time without an owner is divided between the windows in
which it lies; heartbeats go on all the time, so that what an event costs is the traffic beyond that of the quiet seconds before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from .schemas import TABLES, Row

if TYPE_CHECKING:
    from ..simulator.world import World

Windows = tuple[tuple[str, int], ...]
"""Names and when each begins (ms), in order of time."""
QUIET_MS: Final = 30_000
COUNTED: Final = ("rebalances", "epochs", "ownership")
"""The tables whose rows windows are counted from."""
_AT: Final = {name: {column: at for at, column in enumerate(TABLES[name].names())} for name in COUNTED}


class Traffic:
    """Looks at how many bytes were sent, at the instants that the windows need. `watch` is for `run_scenario`."""

    def __init__(self, windows: Windows) -> None:
        self._windows = windows
        self._sent: dict[int, int] = {0: 0}
        self._world: World | None = None

    def watch(self, world: World) -> None:
        """Put the looks on the world's agenda."""
        self._world = world
        for _, begin in self._windows:
            for instant in {begin, max(begin - QUIET_MS, 0)}:
                world.at(instant, lambda instant=instant: self._look(world, instant))  # type: ignore[misc]

    def _look(self, world: World, instant: int) -> None:
        self._sent[instant] = world.sent_bytes()

    def sent(self, begin: int, end: int) -> int:
        """How many bytes were sent from one instant to another: of those looked at, or the end of the run."""
        return self._until(end) - self._until(begin)

    def _until(self, instant: int) -> int:
        if instant in self._sent or self._world is None:
            return self._sent.get(instant, 0)
        return self._world.sent_bytes()

    def quiet_rate(self, begin: int) -> float:
        """Bytes a millisecond in the quiet time before an instant; 0 where there is none."""
        before = max(begin - QUIET_MS, 0)
        return self.sent(before, begin) / (begin - before) if begin > before else 0.0


def window_rows(staged: Sequence[tuple[str, Row]], windows: Windows, end_ms: int, traffic: Traffic) -> list[Row]:
    """Rows of table `windows` without their run_id. `staged`: the rows of the run's other tables."""
    rebalances = [_dict("rebalances", row) for table, row in staged if table == "rebalances"] if windows else []
    epochs = [_dict("epochs", row) for table, row in staged if table == "epochs"] if windows else []
    gaps = list(_gaps([row for table, row in staged if table == "ownership"], end_ms)) if windows else []
    found: list[Row] = []
    for (name, begin), (_, end) in pairwise([*windows, ("", end_ms)]):
        own = [row for row in rebalances if begin <= row["started_ms"] < end]
        lengths = [row["duration_ms"] for row in own if row["duration_ms"] is not None]
        bumped = [row for row in epochs if begin <= row["started_ms"] < end]
        settled = [row for row in bumped if row["settled_ms"] is not None]
        calm = [*(row["stable_ms"] for row in own if row["stable_ms"] is not None), *(row["settled_ms"] for row in settled)]
        sent = traffic.sent(begin, end)
        found.append((
            name, begin, end, len(own), len(bumped), max(calm, default=begin) - begin, sum(lengths), max(lengths, default=0),
            sum(row["settled_ms"] - row["started_ms"] for row in settled),
            sum(max(min(to, end) - max(since, begin), 0) for since, to in gaps), sum(row["moved"] for row in (*own, *bumped)), sent,
            round(sent - traffic.quiet_rate(begin) * (end - begin))))  # fmt: skip
    return found


def _dict(table: str, row: Row) -> dict[str, Any]:
    return {column: row[at] for column, at in _AT[table].items()}


def _gaps(rows: Iterable[Row], end_ms: int) -> Iterable[tuple[int, int]]:
    """When no application had a partition, by the members' own word: from when to when."""
    at = _AT["ownership"]
    by_place: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        if row[at["view"]] == "member":
            by_place.setdefault((row[at["group_id"]], row[at["topic"]], row[at["partition"]]), []).append(row)
    for intervals in by_place.values():
        intervals.sort(key=lambda row: row[at["from_seq"]])
        begins = [*(row[at["from_ms"]] for row in intervals[1:]), end_ms]
        for row, begin in zip(intervals, begins, strict=True):
            if row[at["to_ms"]] is not None and begin > row[at["to_ms"]]:
                yield row[at["to_ms"]], begin
