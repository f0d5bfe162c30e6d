"""All tables of one run: `RunFold` sees its lines in order and emits rows."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any, Final

from coordinator.base.contradictions import UNFIT, what_failed
from coordinator.events.availability import CoordinatorStopped
from coordinator.events.faults import RunEnded
from coordinator.events.line import Line
from coordinator.events.run import RunStarted
from coordinator.history.judges import ALL, Verdict
from coordinator.history.world.groups.spans import BEGUN
from coordinator.history.world.world import Completed, World

from ..schemas import TABLES, Row
from .cluster import Faults, Reassignments, Transactions, detail
from .deliveries import Deliveries
from .epochs import Epochs
from .metrics import Metrics
from .observer import Observer, Subject
from .ownership import Members, Ownership
from .rebalances import Rebalances
from .requests import Commits, Requests
from .seen import Seen
from .verdicts import JudgeMaker, Verdicts

_SUBJECTS: Final[tuple[type[Subject], ...]] = (
    Rebalances,
    Epochs,
    Ownership,
    Members,
    Requests,
    Commits,
    Deliveries,
    Transactions,
    Reassignments,
    Faults,
    Seen,
)


class RunFold:
    """One run: call `feed` for its lines, header first, then `finish`.

    `emit` gets a table's name and a row. `about`: the `scenario` and `settings` (JSON) of a
    simulation. `judges`: those of the tables; `beside`: judges that only `verdicts` asks.
    `tables`: the tables whose rows are emitted; lines that none of them needs are not read.
    `also`: further readers of the lines that count. Table `events` has the other lines, too.
    `numbered`: check that no line is missing, by the lines' numbers.
    """

    def __init__(
        self,
        run_id: str,
        log: str,
        emit: Callable[[str, Row], None],
        *,
        about: Mapping[str, str] | None = None,
        judges: Sequence[JudgeMaker] = ALL,
        beside: Sequence[JudgeMaker] = (),
        tables: Collection[str] = TABLES,
        also: Sequence[Observer] = (),
        numbered: bool = False,
    ) -> None:
        self.run_id = run_id
        self._log = log
        self._sink = emit
        self._about = about or {}
        self._verdicts = Verdicts(self._emit, judges, beside)
        self._tables = frozenset(tables)
        self._counts = "metrics" in self._tables
        """Count the rows of all tables, for table `metrics`."""
        self._world = World(numbered=numbered)
        self._world.subscribe(Completed, self._rebalance_completed)
        self._observers: tuple[Observer, ...] = (
            *[
                kind(self._emit)
                for kind in _SUBJECTS
                if self._counts or not self._tables.isdisjoint(kind.tables)
            ],
            self._verdicts,
            *also,
        )
        for observer in self._observers:
            observer.subscribe(self._world)
        self._events = "events" in self._tables
        self._seeing: dict[tuple[str, type], list[Callable[[Line], object]]] = {}
        """The readers of lines, by stream and class of event."""
        self._metrics = Metrics()
        self._staged: list[tuple[str, Row]] = []
        self._header: tuple[str, RunStarted] | None = None
        self._complete = False
        self._groups: set[str] = set()
        self._rebalances = self._completed = 0
        self.end_ms = 0
        self.lines = 0

    def feed(self, line: Line) -> None:
        """Read one line. Raises one of UNFIT for a line that lacks a field of its type; such a
        line is no event and emits nothing."""
        self._staged.clear()
        world, gaps = self._world, self._world.gaps
        counted = world.see(line)
        if world.gaps != gaps:
            self._verdicts.gap()
        for each in counted:
            self._show(each)
        kind, at_ms = line.kind, line.at_ms
        if line.stream == "run":
            self._header = line.run, line.event
        elif line.group is not None and line.stream == "group":
            self._groups.add(line.group)
        self._complete = kind is RunEnded or kind is CoordinatorStopped
        if at_ms > self.end_ms:
            self.end_ms = at_ms
        self.lines += 1
        if self._counts:
            self._metrics.event(line)
        row = self._event(line) if self._events else ()
        if self._staged:
            self._flush()
        if row:
            self._sink("events", row)

    def _show(self, line: Line) -> None:
        """Show a line that counts, and that the world has seen, to its readers."""
        stream, kind = line.stream, line.kind
        seeing = self._seeing.get((stream, kind))
        if seeing is None:
            seeing = self._seeing[stream, kind] = [
                one.see for one in self._observers if one.looks_at(line)
            ]
        for see in seeing:
            see(line)
        if stream == "group" and line.group is not None:
            self._rebalances += kind in BEGUN

    def _rebalance_completed(self, _: Completed) -> None:
        self._completed += 1

    def _event(self, line: Line) -> Row:
        return (
            self.run_id,
            line.seq,
            line.at_ms,
            line.stream,
            line.name,
            line.cause,
            line.group,
            line.generation,
            line.member,
            line.broker,
            line.topic,
            line.partition,
            detail(line),
        )

    def finish(self, *, quarantined: int = 0, cut_short: bool = False) -> None:
        """Handle the end of the run's log."""
        self._staged.clear()
        damage = []
        parts: list[tuple[str, Callable[[], None]]] = [
            ("World", partial(self._world.finish, self.end_ms))
        ]
        parts += [(type(each).__name__, each.finish) for each in self._observers]
        for name, finish in parts:
            try:
                finish()
            # a line of which one part took something before another part found it unfit
            except UNFIT as error:
                damage.append(f"{name}: {what_failed(error)}")
        run, header = self._header or ("", None)
        self._emit(
            "runs",
            (
                self._log,
                run,
                *_about_run(header),
                self._about.get("scenario"),
                self._about.get("settings"),
                self.end_ms,
                self.lines,
                quarantined,
                cut_short,
                len(self._groups),
                self._rebalances,
                self._completed,
                self._complete,
                "; ".join(damage) or None,
                self._world.gaps,
                self._world.missing,
            ),
        )
        if self._counts:
            lost = self._world.timeline.lost_time.total(self.end_ms)
            self._metrics.finish(self.end_ms, lost, self._emit)
        self._flush()
        # they hold this object, and it holds all that it knows of the run: nobody should have to
        # look for that
        self._observers = ()
        self._seeing.clear()

    def verdicts(self, streams: frozenset[str]) -> list[Verdict]:
        """Return the verdicts of all judges, those of the tables first. Call it after `finish`.
        `streams`: the streams that the log is known to have."""
        return self._verdicts.verdicts(streams)

    def _emit(self, table: str, row: tuple[Any, ...]) -> None:
        own = (self.run_id, *row)
        if table in self._tables:
            self._staged.append((table, own))
        if self._counts:
            self._metrics.take(table, own)

    def _flush(self) -> None:
        for table, row in self._staged:
            self._sink(table, row)
        self._staged.clear()


def _about_run(header: RunStarted | None) -> tuple[object, ...]:
    """Return format, product, seed, the zero on the wall clock, and settings."""
    if header is None:
        return (0, None, None, None, None)
    seed = None if header.seed is None else str(header.seed)
    config = json.dumps(header.config, separators=(",", ":"))
    return (header.format, header.product or None, seed, header.epoch_ms, config)
