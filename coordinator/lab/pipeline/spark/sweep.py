"""Sweeps on Spark: the driver puts simulations into bins of some seconds; a task simulates and
folds one bin and writes its files.

A bin is a chunk of the tables in `DIR/tables`. The file of table `cells` is written last, so a
chunk that has it is complete. A lost task is repeated and loses only its bin. A sweep that was
interrupted goes on: a simulation with a row in `cells` is not repeated, and unfinished chunks
are removed first.
"""

from __future__ import annotations

import gc
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from math import ceil
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from coordinator.base.version import __version__

from ..placement import bins
from ..schemas import SCHEMA_VERSION, TABLES
from ..sweeps import KEEPS, Cell, Sweep, cells, plan_of, run_cell
from ..windows import Begins
from .folders import MANIFEST, PLAN, STARTED, SUCCESS, check_sweep_out
from .parquet import TableWriter
from .progress import watched
from .session import PipelineError

_BIN_MS, _SHORTEST_BIN_MS = 6_000.0, 1_500.0
_BINS_A_SLOT = 6
_RESULT = "chunk long, rows string, problem string"
_RESULT_SCHEMA = pa.schema([("chunk", pa.int64()), ("rows", pa.string()), ("problem", pa.string())])
_LARGE = 100_000.0
"""The weight of a simulation of about 800 members for ten minutes."""


class Swept(NamedTuple):
    """Result of `run_sweep`: cells of the whole sweep, those that were done before, and how the
    cells ended."""

    cells: int
    before: int
    by_status: dict[str, int]
    first_problem: str | None


def plan_bins(weights: Sequence[float], slots: int) -> list[list[int]]:
    """Return the numbers of the cells in each bin, the longest bin first. A bin takes some
    seconds (weights are ms), and each slot gets several."""
    total = sum(weights)
    wanted = min(
        max(ceil(total / _BIN_MS), slots * _BINS_A_SLOT), max(slots, ceil(total / _SHORTEST_BIN_MS))
    )
    return bins(weights, max(1, min(len(weights), wanted)))


def run_sweep(
    spark: Any,
    sweep: Sweep,
    out: str | os.PathLike[str],
    tell: Callable[[str], None] = lambda text: None,
) -> Swept:
    """Simulate what is not done yet. `tell` gets the progress. Raises PipelineError; then the sweep
    can go on later."""
    from pyspark.sql.functions import col

    folder, every = Path(out).absolute(), cells(sweep)
    _prepare(folder, sweep)
    done = _done(folder)
    left = [cell for cell in every if cell.cell_id not in done]
    if left:
        weights = _weights(left, every, done)
        planned = plan_bins(weights, spark.sparkContext.defaultParallelism)
        first = 1 + max(_chunks(folder), default=-1)
        rows = [
            (first + number, json.dumps([left[each] for each in one]))
            for number, one in enumerate(planned)
        ]
        work = spark.createDataFrame(
            [(number, *row) for number, row in enumerate(rows)],
            "place int, chunk int, cells string",
        )
        about: dict[str, Any] = {
            "scenario": sweep.scenario,
            "text": sweep.text,
            "keep": sweep.keep,
            "windows": sweep.windows,
        }
        body = partial(_simulate_bins, out=str(folder), **about)
        placed = (
            work.repartitionById(len(rows), col("place")).drop("place").mapInArrow(body, _RESULT)
        )
        told = watched(spark, placed.collect, len(rows), f"{len(left)} simulations", tell)
        problems = [row["problem"] for row in told if row["problem"]]
        if problems:
            raise PipelineError(
                f"{problems[0]}: mend that and run the command again; it goes on where it stopped"
            )
    return _finish(folder, every, len(every) - len(left))


def _prepare(folder: Path, sweep: Sweep) -> None:
    plan = plan_of(sweep)
    check_sweep_out(folder, plan)
    try:
        (folder / "tables").mkdir(parents=True, exist_ok=True)
        if sweep.keep == "logs":
            (folder / "logs").mkdir(exist_ok=True)
        hidden = folder / f".{PLAN}"
        hidden.write_text(json.dumps(plan, indent=2) + "\n")
        os.replace(hidden, folder / PLAN)
        (folder / "tables" / STARTED).write_text(
            "A sweep is going on; _SUCCESS comes when it is whole.\n"
        )
        (folder / "tables" / SUCCESS).unlink(missing_ok=True)
    except OSError as error:
        raise PipelineError(
            f"--out {folder}: cannot be written: {error.strerror or error}"
        ) from None


def _chunks(folder: Path) -> set[int]:
    return {
        int(path.parent.name.removeprefix("chunk="))
        for path in (folder / "tables" / "cells").glob("chunk=*/cells.parquet")
    }


def _done(folder: Path) -> dict[str, int]:
    """Remove everything that belongs to no finished chunk; return the cost of each finished cell
    in ms."""
    whole = _chunks(folder)
    _remove_half_files(folder / "tables")
    for path in (folder / "tables").glob("*/chunk=*"):
        if int(path.name.removeprefix("chunk=")) not in whole:
            shutil.rmtree(path, ignore_errors=True)
    found: dict[str, int] = {}
    for path in (folder / "tables" / "cells").glob("chunk=*/cells.parquet"):
        for row in pq.read_table(
            path, columns=["cell_id", "cpu_ms"], partitioning=None
        ).to_pylist():
            found[row["cell_id"]] = row["cpu_ms"]
    return found


def _remove_half_files(tables: Path) -> None:
    """Remove files under hidden names that a killed worker left, also in a chunk that another
    worker has finished since."""
    for path in tables.glob("*/chunk=*/.*"):
        path.unlink(missing_ok=True)


def _weights(left: Sequence[Cell], every: Sequence[Cell], done: dict[str, int]) -> list[float]:
    """Return the expected cost of each cell in ms: that of other cells of its variant, else by
    its size."""
    by_variant: dict[str, list[int]] = {}
    for cell in every:
        if cell.cell_id in done:
            by_variant.setdefault(cell.variant, []).append(done[cell.cell_id])
    sizes = {cell.variant: cell.weight for cell in every}
    scale = (
        median(median(costs) / sizes[variant] for variant, costs in by_variant.items())
        if by_variant
        else 1.0
    )
    return [
        float(median(by_variant[cell.variant]))
        if cell.variant in by_variant
        else cell.weight * scale
        for cell in left
    ]


def _simulate_bins(
    batches: Iterable[Any], out: str, scenario: str, text: str, keep: str, windows: Begins
) -> Iterator[Any]:
    for batch in batches:
        for row in batch.to_pylist():
            bin_ = [
                Cell(*cell)._replace(settings=tuple(cell[3])) for cell in json.loads(row["cells"])
            ]
            yield pa.RecordBatch.from_pylist(
                [simulate_bin(row["chunk"], bin_, Path(out), scenario, text, keep, windows)],
                _RESULT_SCHEMA,
            )


def simulate_bin(
    chunk: int,
    bin_: Sequence[Cell],
    out: Path,
    scenario: str,
    text: str,
    keep: str,
    windows: Begins,
) -> dict[str, Any]:
    """Simulate the cells of a bin, as a task, and write their chunk. An error of the file system
    is returned as `problem`."""
    only = KEEPS[keep]
    try:
        with TableWriter(
            out / "tables", chunk, keep=only if chunk == 0 else (), only=only
        ) as writer:
            for cell in bin_:
                path = str(out / "logs" / f"{cell.cell_id}.jsonl.gz") if keep == "logs" else None
                run_cell(
                    cell, scenario, text, writer.emit, log_path=path, windows=windows, tables=only
                )
                if (
                    cell.weight >= _LARGE
                ):  # thousands of members would stay in memory beside those of the next one
                    gc.collect()
    except OSError as error:
        return {
            "chunk": chunk,
            "rows": "",
            "problem": f"{error.filename or out}: {error.strerror or error}",
        }
    return {"chunk": chunk, "rows": json.dumps(writer.counts), "problem": ""}


def _finish(folder: Path, every: Sequence[Cell], before: int) -> Swept:
    """Check that each cell has exactly one row, and mark the sweep as complete."""
    tables = folder / "tables"
    _remove_half_files(tables)
    found: list[dict[str, Any]] = []
    for path in sorted((tables / "cells").glob("chunk=*/cells.parquet")):
        found.extend(
            pq.read_table(
                path, columns=["cell_id", "status", "problem"], partitioning=None
            ).to_pylist()
        )
    wanted = {cell.cell_id for cell in every}
    here = [row for row in found if row["cell_id"] in wanted]
    if len(here) != len(wanted) or {row["cell_id"] for row in here} != wanted:
        raise PipelineError(
            f"{folder}: {len(here)} rows for {len(wanted)} simulations: give a new directory"
        )
    rows = {
        name: sum(_row_count(path) for path in (tables / name).glob("chunk=*/*.parquet"))
        for name in TABLES
    }
    manifest = {
        "schema_version": SCHEMA_VERSION,
        "product": __version__,
        "cells": len(found),
        "runs": rows["runs"],
        "rows": rows,
    }
    try:
        (tables / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n")
        (tables / SUCCESS).touch()
        (tables / STARTED).unlink()
    except OSError as error:
        raise PipelineError(f"{tables}: cannot be written: {error.strerror or error}") from None
    by_status: dict[str, int] = {}
    for row in here:
        by_status[row["status"]] = by_status.get(row["status"], 0) + 1
    problems = [f"{row['status']}: {row['problem']}" for row in here if row["problem"]]
    return Swept(len(every), before, by_status, problems[0] if problems else None)


def _row_count(path: Path) -> int:
    return int(pq.read_metadata(path).num_rows)
