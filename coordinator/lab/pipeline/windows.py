"""Windows of a simulation: the cost of each event of a scenario, from its instant until the next
one's.

Counted from the run's lines, and from the bytes on the simulated links, which no log has. A
rebalance, or a group epoch of a consumer group (KIP-848), belongs to the window in which it
begins. A time without an owner is divided between the windows in which it lies. Heartbeats go on
all the time, so the cost of an event is the traffic above that of the quiet seconds before it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from coordinator.history.world.groups.settlings import Settling
from coordinator.history.world.groups.spans import Span, Spans
from coordinator.history.world.ownership.gaps import WithoutOwner
from coordinator.history.world.world import World

from ..simulator.churn import begins_at
from .fold.observer import Observer
from .schemas import Row

if TYPE_CHECKING:
    from ..simulator.files.model import Scenario
    from ..simulator.world import World as SimulatedWorld

Windows = tuple[tuple[str, int], ...]
"""Names of windows and their beginnings in ms, in order of time."""
Begins = tuple[tuple[str, int | str], ...]
"""Names of windows and their beginnings: ms after the beginning of the run, or the first instant
of a piece of churn, such as "churn 1", by its number from 1 on."""
QUIET_MS: Final = 30_000
_CHURN: Final = re.compile(r"churn ([1-9][0-9]{0,4})")
"""Pieces of churn in a sweep file's windows."""


def churn_number(begin: int | str) -> int | None:
    """Return the index, from 0 on, of the piece of churn with which a window begins; None for
    anything else."""
    found = _CHURN.fullmatch(begin) if isinstance(begin, str) else None
    return None if found is None else int(found[1]) - 1


def windows_in(begins: Begins, scenario: Scenario, seed: int) -> Windows:
    """Return the instants at which the windows of one simulation begin, with those that its seed
    draws."""
    found = []
    for name, begin in begins:
        number = churn_number(begin)
        found.append((name, int(begin) if number is None else begins_at(scenario, seed, number)))
    return tuple(sorted(found, key=lambda window: window[1]))


class Traffic:
    """Reads the number of bytes sent at the instants that the windows need. `watch` is for
    `run_scenario`."""

    def __init__(self, windows: Windows) -> None:
        self._windows = windows
        self._sent: dict[int, int] = {0: 0}
        self._world: SimulatedWorld | None = None

    def watch(self, world: SimulatedWorld) -> None:
        """Put the readings on the world's agenda."""
        self._world = world
        for _, begin in self._windows:
            for instant in {begin, max(begin - QUIET_MS, 0)}:
                world.at(instant, lambda instant=instant: self._look(world, instant))  # type: ignore[misc]

    def _look(self, world: SimulatedWorld, instant: int) -> None:
        self._sent[instant] = world.sent_bytes()

    def sent(self, begin: int, end: int) -> int:
        """Return the bytes sent between two instants, each of which is one that was noted before
        or the end of the run."""
        return self._until(end) - self._until(begin)

    def _until(self, instant: int) -> int:
        if instant in self._sent or self._world is None:
            return self._sent.get(instant, 0)
        return self._world.sent_bytes()

    def quiet_rate(self, begin: int) -> float:
        """Return bytes per ms in the quiet time before an instant; 0 if there is none."""
        before = max(begin - QUIET_MS, 0)
        return self.sent(before, begin) / (begin - before) if begin > before else 0.0


class WindowCounts(Observer):
    """The events in the windows of a run that lasts until `end_ms`. Call `rows` after `finish`."""

    def __init__(self, windows: Windows, end_ms: int) -> None:
        self._begins = [begin for _, begin in windows]
        self._windows = [
            _Window(name, begin, end)
            for (name, begin), (_, end) in pairwise([*windows, ("", end_ms)])
        ]
        self._end_ms = end_ms
        self._spans: Spans | None = None

    def subscribe(self, world: World) -> None:
        """Ask for what is counted."""
        self._spans = world.spans
        world.subscribe(Settling, self._epoch)
        world.subscribe(WithoutOwner, self._unavailable)

    def finish(self) -> None:
        """Handle the end of the run."""
        for one in self._spans.all.values() if self._spans is not None else ():
            window = self._window(one.started_ms)
            if window is not None:
                window.rebalanced(one)

    def rows(self, traffic: Traffic) -> list[Row]:
        """Return the rows of table `windows`, without their run_id."""
        return [window.row(traffic) for window in self._windows]

    def _window(self, at_ms: int) -> _Window | None:
        number = bisect_right(self._begins, at_ms) - 1
        return self._windows[number] if number >= 0 and at_ms < self._end_ms else None

    def _epoch(self, one: Settling) -> None:
        """Note that a group epoch is over."""
        started_ms = one.bumped.at_ms
        window = self._window(started_ms)
        if window is not None:
            window.bumped(started_ms, one.settled_ms, one.moved.by_member)

    def _unavailable(self, gap: WithoutOwner) -> None:
        """Divide a time in which no application had a partition between the windows."""
        since_ms, to_ms = gap
        if since_ms == to_ms:
            return
        number = max(bisect_right(self._begins, since_ms) - 1, 0)
        for window in self._windows[number:]:
            if window.begin_ms >= to_ms:
                break
            window.unavailable_ms += min(to_ms, window.end_ms) - max(since_ms, window.begin_ms)


class _Window:
    """Costs between two instants."""

    def __init__(self, name: str, begin_ms: int, end_ms: int) -> None:
        self.name = name
        self.begin_ms = begin_ms
        self.end_ms = end_ms
        self.unavailable_ms = 0
        self._calm_ms = begin_ms
        self._lengths: list[int] = []
        self._rebalances = self._epochs = self._settling_ms = self._moved = 0

    def rebalanced(self, one: Span) -> None:
        """Note a rebalance that began in this window."""
        self._rebalances += 1
        self._moved += one.moved.by_member
        if one.stored_ms is not None:
            self._lengths.append(one.stored_ms - one.started_ms)
            self._calm_ms = max(self._calm_ms, one.stored_ms)

    def bumped(self, started_ms: int, settled_ms: int | None, moved: int) -> None:
        """Note a group epoch that began in this window."""
        self._epochs += 1
        self._moved += moved
        if settled_ms is not None:
            self._settling_ms += settled_ms - started_ms
            self._calm_ms = max(self._calm_ms, settled_ms)

    def row(self, traffic: Traffic) -> Row:
        """Return the row of table `windows`, without the run_id."""
        sent = traffic.sent(self.begin_ms, self.end_ms)
        return (
            self.name,
            self.begin_ms,
            self.end_ms,
            self._rebalances,
            self._epochs,
            self._calm_ms - self.begin_ms,
            sum(self._lengths),
            max(self._lengths, default=0),
            self._settling_ms,
            self.unavailable_ms,
            self._moved,
            sent,
            round(sent - traffic.quiet_rate(self.begin_ms) * (self.end_ms - self.begin_ms)),
        )
