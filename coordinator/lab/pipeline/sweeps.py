"""A sweep: a scenario, settings that vary, seeds; and the simulation of one cell. Pure Python:
Spark only decides where a cell is simulated.

A cell is one simulation. Its id is made of the scenario's text, its settings, its seed and this
package's version, so that a sweep that goes on later knows its finished cells. The keys of
`sweep.toml` are described in docs/pipeline.md.
"""

from __future__ import annotations

import hashlib
import json
import random
import time
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from math import prod
from pathlib import Path
from typing import Any, Final, NamedTuple

from coordinator.base.contradictions import what_failed
from coordinator.base.version import __version__
from coordinator.events.line import Line
from coordinator.events.unwritten import UnwrittenLog
from coordinator.history.judges import ALL, Judgement

from ..simulator.environment import EPOCH_MS
from ..simulator.files import catalogue
from ..simulator.files.model import Scenario
from ..simulator.files.reading import ScenarioError
from ..simulator.files.scenario import read_scenario
from ..simulator.files.schema import TABLES as KEYS
from ..simulator.files.schema import duration_ms
from ..simulator.run import STREAMS, bounds_of, judges_of, run_scenario
from .fold.run import RunFold
from .schemas import SCHEMA_VERSION, TABLES, Row
from .windows import Begins, Traffic, WindowCounts, churn_number, windows_in

_OF_METRICS: Final = ("runs", "metrics", "verdicts", "findings", "windows", "cells")
KEEPS: Final[Mapping[str, Collection[str]]] = {
    "metrics": _OF_METRICS,
    "tables": TABLES,
    "logs": _OF_METRICS,
    "windows": ("runs", "windows", "cells"),
}
"""The tables of a sweep, by the value of `keep`. Without verdicts, runs are judged only by what
their scenario says must hold."""
_CHOICES: Final = ("metrics", "tables", "logs")
"""Values of `keep` in a sweep file. "windows" alone has no metrics, which `analyse` and `report` need: the
curve uses it."""
_MOST_CELLS = 1_000_000
_MOST_COMBINATIONS = 1 << 62
_Axis = list[tuple[str, list[str]]]
"""The values of one key: the name of each, and its settings."""


class SweepError(ValueError):
    """A sweep is invalid; the message names the place, the error, and the values that are right."""


class Variant(NamedTuple):
    """One combination of the settings that vary: its name, and all its settings, including those
    of the whole sweep."""

    name: str
    settings: tuple[str, ...]


class Sweep(NamedTuple):
    """A checked sweep file."""

    scenario: str
    text: str
    variants: tuple[Variant, ...]
    seeds: tuple[int, ...]
    keep: str
    windows: Begins = ()
    note: str = ""
    """A note for the author of the file."""


class Cell(NamedTuple):
    """One simulation. `number`: its place in the sweep. `weight`: its expected cost in ms."""

    cell_id: str
    number: int
    variant: str
    settings: tuple[str, ...]
    seed: int
    weight: float


def read_sweep(path: str) -> Sweep:
    """Read a sweep file. Raises SweepError."""
    try:
        raw = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise SweepError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SweepError(
            f"{path}: {error}; a sweep is a TOML file, docs/pipeline.md has an example"
        ) from None
    unknown = [
        key
        for key in raw
        if key not in ("scenario", "seeds", "keep", "set", "vary", "sample", "windows")
    ]
    if unknown:
        raise SweepError(
            f"{path}: {unknown[0]} is no key of a sweep: its keys are scenario, seeds, keep, set, [vary], [sample], [windows]"
        )
    name, text = _scenario_text(path, raw.get("scenario"))
    keep = raw.get("keep", "metrics")
    if keep not in _CHOICES:
        raise SweepError(f"{path}: keep = {keep!r}: one of {', '.join(_CHOICES)}")
    seeds = _seeds(path, raw.get("seeds", 20))
    variants, shortest, note = _variants(path, raw, name, text, len(seeds))
    return Sweep(
        name, text, variants, seeds, keep, _windows(path, raw.get("windows", {}), shortest), note
    )


def _windows(path: str, given: object, shortest: Scenario) -> Begins:
    """Read the windows. `shortest`: the scenario of the simulation that ends first."""
    if not isinstance(given, dict):
        raise SweepError(
            f"{path}: windows = {given!r}: give [windows] with names and when each begins"
        )
    found: list[tuple[int, tuple[str, int | str]]] = []
    for name, value in given.items():
        told = f"{path}: windows: {name} = {value!r}"
        number, begin = churn_number(value), duration_ms(value)
        if number is not None:
            begin = _first_ms(shortest, number, told)
        if begin is None:
            raise SweepError(
                f'{told}: give when it begins, such as "2m", or a piece of churn, such as "churn 1"'
            )
        if begin >= shortest.duration_ms:
            raise SweepError(
                f"{told}: a simulation is over by then: it lasts {shortest.duration_ms} ms"
            )
        found.append((begin, (name, begin if number is None else value)))
    return tuple(window for _, window in sorted(found, key=lambda each: each[0]))


def _first_ms(scenario: Scenario, number: int, told: str) -> int:
    """Return the earliest instant of a piece of churn."""
    if number >= len(scenario.churn):
        raise SweepError(f"{told}: the scenario has {len(scenario.churn)} pieces of churn")
    churn = scenario.churn[number]
    if churn["when"] is not None:
        raise SweepError(f"{told}: it waits for {churn['when']!r}: give one that has `at`")
    return int(churn["at"])


def _scenario_text(path: str, given: object) -> tuple[str, str]:
    if not isinstance(given, str):
        raise SweepError(
            f'{path}: scenario is missing: the name of a shipped one or a file, such as scenario = "crash_loop"'
        )
    try:
        if given.endswith(".toml") or "/" in given:
            return given, (Path(path).parent / given).read_text(encoding="utf-8")
        return given, catalogue.text(given)
    except (OSError, ScenarioError) as error:
        raise SweepError(f"{path}: scenario = {given!r}: {error}") from None


def _seeds(path: str, given: object) -> tuple[int, ...]:
    ends = (1, given) if type(given) is int else given
    match ends:
        case (int(first), int(last)) | [int(first), int(last)] if 0 <= first <= last < 1 << 63:
            if last - first >= _MOST_CELLS:
                raise SweepError(
                    f"{path}: seeds = {given!r}: {last - first + 1} seeds; {_MOST_CELLS} simulations are the most"
                )
            return tuple(range(first, last + 1))
    raise SweepError(
        f"{path}: seeds = {given!r}: give how many, such as 20, or the first and the last, such as [1, 20]"
    )


def _variants(
    path: str, raw: Mapping[str, Any], name: str, text: str, seeds: int
) -> tuple[tuple[Variant, ...], Scenario, str]:
    """Return the variants, the scenario of the shortest simulation, and a note about them."""
    common = raw.get("set", [])
    if not isinstance(common, list) or not all(isinstance(each, str) for each in common):
        raise SweepError(
            f'{path}: set = {common!r}: give an array of texts, such as set = ["duration=5m"]'
        )
    kinds = _kinds(path, text, name, tuple(common))
    vary = raw.get("vary", {})
    if not isinstance(vary, dict):
        raise SweepError(
            f"{path}: vary = {vary!r}: give [vary] with keys and an array of values for each"
        )
    axes: list[_Axis] = []
    for key, values in vary.items():
        if not isinstance(values, list) or not values:
            raise SweepError(f"{path}: vary: {key} = {values!r}: give an array of values")
        told = [_told(value) for value in values]
        twice = next((value for number, value in enumerate(told) if value in told[:number]), None)
        if twice is not None:
            raise SweepError(f"{path}: vary: {key}: {twice} is named twice: name it once")
        of_members = "." not in key and key not in KEYS[""].keys and key in KEYS["members"].keys
        paths = [f"members.{kind}.{key}" for kind in kinds] if of_members else [key]
        axes.append(
            [
                (f"{key}={_told(value)}", [f"{one}={_told(value)}" for one in paths])
                for value in values
            ]
        )
    numbers, note = _chosen(path, prod(map(len, axes)), raw.get("sample"), seeds)
    chosen = tuple(_variant(axes, number, tuple(common)) for number in numbers)
    every = (_checked(path, text, name, variant.settings) for variant in chosen)
    return chosen, min(every, key=lambda scenario: scenario.duration_ms), note


def _kinds(path: str, text: str, name: str, common: tuple[str, ...]) -> list[str]:
    """Return the names of a scenario's kinds of consumers. Raises SweepError.

    The sweep's own settings may contradict each other as long as the varied ones do not settle
    it; then they are left out here.
    """
    try:
        scenario = _checked(path, text, name, common)
    except SweepError:
        scenario = _checked(path, text, name, ())
    return [kind.name for kind in scenario.members]


def _variant(axes: Sequence[_Axis], number: int, common: tuple[str, ...]) -> Variant:
    """Return one combination of the grid, by its number; the last axis changes fastest. The grid
    is never made as a whole."""
    combination: list[tuple[str, list[str]]] = []
    for axis in reversed(axes):
        number, at = divmod(number, len(axis))
        combination.insert(0, axis[at])
    return Variant(
        " ".join(each[0] for each in combination),
        (*common, *(setting for each in combination for setting in each[1])),
    )


def _told(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _checked(path: str, text: str, name: str, settings: tuple[str, ...]) -> Scenario:
    try:
        return read_scenario(text, name, settings)
    except ScenarioError as error:
        raise SweepError(f"{path}: {error}") from None


def _chosen(path: str, grid: int, sample: object, seeds: int) -> tuple[Sequence[int], str]:
    """Return the numbers of the combinations to simulate: the first, with which the others are
    compared, and as many others as the sample allows. Also a note if the sample is larger than
    the grid."""
    size, note = grid, ""
    if sample is not None:
        if (
            not isinstance(sample, dict)
            or type(given := sample.get("size")) is not int
            or given < 1
            or set(sample) - {"size", "seed"}
        ):
            raise SweepError(
                f"{path}: sample = {sample!r}: give [sample] with size, and seed if you like"
            )
        if given > grid:
            note = f"{path}: sample: size = {given}, but there are only {grid} combinations: all of them are taken"
        size = min(given, grid)
    if grid > _MOST_COMBINATIONS:
        raise SweepError(
            f"{path}: vary: {grid} combinations; {_MOST_COMBINATIONS} are the most: vary less"
        )
    if size * seeds > _MOST_CELLS:
        raise SweepError(
            f"{path}: {size * seeds} simulations; {_MOST_CELLS} are the most: take a [sample] of the grid"
        )
    if size == grid:
        return range(grid), note
    seed = sample.get("seed", 1) if isinstance(sample, dict) else 1
    return sorted({0, *random.Random(f"sample {seed}").sample(range(1, grid), size - 1)}), note


def plan_of(sweep: Sweep) -> dict[str, Any]:
    """Return the facts of a sweep that stand in its directory, as JSON values; a sweep that goes
    on must have the same."""
    plan: dict[str, Any] = {
        "version": __version__,
        "schema_version": SCHEMA_VERSION,
        "keep": sweep.keep,
        "scenario": sweep.scenario,
        "text": hashlib.sha256(sweep.text.encode()).hexdigest(),
        "variants": [[each.name, list(each.settings)] for each in sweep.variants],
        "windows": [list(window) for window in sweep.windows],
    }
    return plan


def cells(sweep: Sweep) -> list[Cell]:
    """Return every simulation of a sweep, in order: variant by variant, seed by seed."""
    found: list[Cell] = []
    for variant in sweep.variants:
        scenario = read_scenario(sweep.text, sweep.scenario, variant.settings)
        members = sum(kind.count for kind in scenario.kinds)
        weight = 20 + scenario.duration_ms / 1000 * members * 0.2
        for seed in sweep.seeds:
            key = json.dumps([sweep.text, variant.settings, seed, __version__])
            cell_id = hashlib.sha256(key.encode()).hexdigest()[:16]
            found.append(Cell(cell_id, len(found), variant.name, variant.settings, seed, weight))
    return found


@lru_cache(maxsize=256)
def _scenario(text: str, name: str, settings: tuple[str, ...]) -> Scenario:
    return read_scenario(text, name, settings)


def run_cell(
    cell: Cell,
    scenario: str,
    text: str,
    emit: Callable[[str, Row], None],
    *,
    log_path: str | None = None,
    windows: Begins = (),
    tables: Collection[str] = TABLES,
) -> None:
    """Simulate, judge and fold one cell; emit the rows of its run and its own of table `cells`.
    A simulation that ends in an error is a cell with status `failed`. `log_path`: write the log
    there, too; raises OSError. `tables`: the tables to emit, as in KEEPS."""
    began = time.process_time()
    run_id: str | None = f"{cell.cell_id}#{cell.seed:x}"
    staged: list[tuple[str, Row]] = []
    lines: list[Line] = []
    try:
        checked = _scenario(text, scenario, cell.settings)
        own = windows_in(windows, checked, cell.seed)
        traffic = Traffic(own)
        counts = WindowCounts(own, checked.duration_ms) if own else None
        judged = "verdicts" in tables
        asked = judges_of(checked) if judged or checked.judges else bounds_of(checked)
        judges = [one for one in ALL if judged or one in asked]
        beside = [one for one in asked if one not in ALL]
        fold = RunFold(
            str(run_id),
            cell.cell_id,
            lambda table, row: staged.append((table, row)),
            about={"scenario": scenario, "settings": json.dumps(cell.settings)},
            judges=judges,
            beside=beside,
            tables=tables,
            also=() if counts is None else (counts,),
        )
        folding = _Folding(fold, None if log_path is None else lines)
        log = UnwrittenLog(
            folding.take,
            seed=cell.seed,
            epoch_ms=EPOCH_MS,
            wire=judged or bool(checked.judges),
            kafka_version=checked.release.number,
        )
        run_scenario(checked, cell.seed, log, traffic.watch)
        folding.finish()
        staged.extend(
            ("windows", (run_id, *row)) for row in (() if counts is None else counts.rows(traffic))
        )
        names = {one().name for one in asked}
        broken = [
            verdict.judge
            for verdict in fold.verdicts(STREAMS)
            if verdict.judge in names and verdict.judgement is Judgement.BROKEN
        ]
        status, problem = ("broken", ", ".join(broken)) if broken else ("ok", None)
    except Exception as error:  # whatever is wrong with one simulation must not stop the others
        staged, run_id, lines = [], None, []
        status, problem = "failed", what_failed(error)
    if log_path is not None and lines:
        _write_log(log_path, lines)
    for table, row in staged:
        emit(table, row)
    cpu_ms = round((time.process_time() - began) * 1000)
    emit(
        "cells",
        (
            cell.cell_id,
            cell.number,
            run_id,
            scenario,
            cell.variant,
            list(cell.settings),
            cell.seed,
            status,
            problem,
            cpu_ms,
        ),
    )


class _Folding:
    """Folds the lines of a simulation as they come. `kept`: a list for all lines, or None."""

    def __init__(self, fold: RunFold, kept: list[Line] | None) -> None:
        self._fold = fold
        self._kept = kept
        self._failure: Exception | None = None

    def take(self, line: Line) -> None:
        """Handle the next line. An error is kept for `finish`, because it is not the writer's."""
        if self._kept is not None:
            self._kept.append(line)
        if self._failure is None:
            try:
                self._fold.feed(line)
            except Exception as error:
                self._failure = error

    def finish(self) -> None:
        """Handle the end of the simulation. Raises the error of a line."""
        if self._failure is not None:
            raise self._failure
        self._fold.finish()


def _write_log(path: str, lines: Sequence[Line]) -> None:
    import gzip
    import os

    hidden = f"{path}.part"
    with gzip.GzipFile(hidden, "wb", mtime=0) as file:
        file.writelines(f"{line.text}\n".encode() for line in lines)
    os.replace(hidden, path)


def replay_command(scenario: str, settings: Sequence[str], seed: int) -> Iterator[str]:
    """Yield the words of the command that repeats a simulation and writes its log."""
    yield from ("coordinator", "simulate", scenario, "--seed", str(seed))
    for setting in settings:
        yield from ("--set", setting)
    yield from ("--log", "run.jsonl")
