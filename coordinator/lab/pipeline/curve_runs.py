"""Figures of the curve's single simulations, as in `docs/curve/runs.csv`: five rows for each
simulation, one for each event.

The curve shows the medians. A simulation is identified by the id of its cell, which depends on
the scenario, the settings, the seed and the product's version, so figures of another scenario or
version are never mixed in.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from io import StringIO
from typing import Final, NamedTuple

from ..statistics import quantile
from .curve import EVENTS, MEASURED, PROTOCOLS, CurvePoint, curve_settings
from .sweeps import Sweep, cells

RUN_COLUMNS: Final = (
    "cell_id",
    "protocol",
    "members",
    "seed",
    "event",
    *(measure.column for measure in MEASURED),
)


STATISTICS: Final[Mapping[str, Callable[[CurvePoint], float]]] = {
    "median": lambda point: point.median.value,
    "low": lambda point: point.median.low,
    "high": lambda point: point.median.high,
    "p5": lambda point: point.p5,
    "p95": lambda point: point.p95,
}
"""Columns of curve.csv about the simulations of a point: the median with its interval, and the 5
% and 95 % quantiles."""
CURVE_COLUMNS: Final = (
    "protocol",
    "members",
    "event",
    "statistic",
    *(measure.column for measure in MEASURED),
    "seeds",
    "coverage",
    "settings",
)


class RunFigures(NamedTuple):
    """The cost of one event in one simulation. `values`: one for each of MEASURED, as in table
    `windows`."""

    cell_id: str
    protocol: str
    members: int
    seed: int
    event: str
    values: tuple[int, ...]


def read_runs(text: str) -> list[RunFigures]:
    """Read the figures in a runs.csv. Raises ValueError for another file."""
    lines = list(csv.reader(text.splitlines()))
    if (
        not lines
        or tuple(lines[0]) != RUN_COLUMNS
        or any(len(line) != len(RUN_COLUMNS) for line in lines)
    ):
        raise ValueError(f"not a runs.csv of the curve: its columns are {','.join(RUN_COLUMNS)}")
    runs: dict[tuple[str, str], RunFigures] = {}
    for number, line in enumerate(lines[1:], 2):
        cell_id, protocol, members, seed, event, *values = line
        if protocol not in PROTOCOLS or event not in EVENTS or (cell_id, event) in runs:
            raise ValueError(
                f"line {number}: {protocol}, {event}: no protocol or event of the curve, or told before"
            )
        try:
            runs[cell_id, event] = RunFigures(
                cell_id, protocol, int(members), int(seed), event, tuple(map(int, values))
            )
        except ValueError:
            raise ValueError(
                f"line {number}: members, seed and figures are whole numbers"
            ) from None
    return list(runs.values())


def runs_text(runs: Iterable[RunFigures]) -> str:
    """Return a runs.csv, ordered by members, protocol, seed and event."""
    protocols, events = list(PROTOCOLS), list(EVENTS)

    def place(run: RunFigures) -> tuple[int, int, int, int]:
        return run.members, protocols.index(run.protocol), run.seed, events.index(run.event)

    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(RUN_COLUMNS)
    writer.writerows((*run[:5], *run.values) for run in sorted(runs, key=place))
    return out.getvalue()


def known_of(runs: Iterable[RunFigures], sweep: Sweep) -> tuple[list[RunFigures], tuple[int, ...]]:
    """Return the figures that belong to a sweep's simulations, and the seeds for which some
    variant lacks figures."""
    wanted = {cell.cell_id: cell.seed for cell in cells(sweep)}
    found = [run for run in runs if run.cell_id in wanted]
    events: dict[str, set[str]] = {}
    for run in found:
        events.setdefault(run.cell_id, set()).add(run.event)
    missing = {
        seed for cell_id, seed in wanted.items() if events.get(cell_id, set()) != EVENTS.keys()
    }
    return found, tuple(seed for seed in sweep.seeds if seed in missing)


def points_of(runs: Sequence[RunFigures]) -> Iterator[CurvePoint]:
    """Yield the estimates by protocol, members, event and measure."""
    values: dict[tuple[str, int, str, str], list[float]] = {}
    for run in runs:
        for measure, value in zip(MEASURED, run.values, strict=True):
            key = (run.protocol, run.members, run.event, measure.column)
            values.setdefault(key, []).append(value)
    protocols, events, columns = (
        list(PROTOCOLS),
        sorted(EVENTS),
        [measure.column for measure in MEASURED],
    )

    def place(key: tuple[str, int, str, str]) -> tuple[int, int, int, int]:
        return protocols.index(key[0]), key[1], events.index(key[2]), columns.index(key[3])

    for key in sorted(values, key=place):
        own = values[key]
        yield CurvePoint(
            *key, quantile(own, 0.5), quantile(own, 0.05).value, quantile(own, 0.95).value
        )


def curve_text(points: Iterable[CurvePoint]) -> str:
    """Return a curve.csv: the columns of runs.csv in the same units, a row for each statistic."""
    every: dict[tuple[str, int, str], dict[str, CurvePoint]] = {}
    for point in points:
        every.setdefault(point[:3], {})[point.measure] = point
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(CURVE_COLUMNS)
    for (protocol, members, event), by_measure in every.items():
        own = [by_measure[measure.column] for measure in MEASURED]
        settings = " ".join(curve_settings(protocol, members))
        for statistic, take in STATISTICS.items():
            figures = [f"{take(point):.12g}" for point in own]
            seeds, coverage = own[0].median.size, f"{own[0].median.coverage:.4f}"
            writer.writerow(
                (protocol, members, event, statistic, *figures, seeds, coverage, settings)
            )
    return out.getvalue()
