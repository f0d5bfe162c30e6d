"""Metrics and statistics on Spark: the runs of each variant are gathered in one row, and a task
computes its quantiles and differences.

A variant is what a sweep varied. For tables from logs it is the scenario and settings of the
runs, or else all runs together.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from ..measures import Difference, Point, Summary, compare, frontier_of, summarise, weighed
from .folders import tables_in, whole
from .session import PipelineError

_OUT = "variant string, results string"
_OUT_SCHEMA = pa.schema([("variant", pa.string()), ("results", pa.string())])
LOGS = "all runs"


class Analysis(NamedTuple):
    """Statistics of every variant, in the order of the sweep."""

    variants: list[str]
    runs: int
    summaries: list[Summary]
    differences: list[Difference]
    weighed: tuple[str, str]
    """The measures of the frontier."""
    frontier: list[Point]


def runs_of(spark: Any, tables: Path) -> Any:
    """Return table `metrics` with each run's variant, seed, and place in the sweep."""
    from pyspark.sql.functions import coalesce, col, concat_ws, lit, when

    def read(name: str) -> Any:
        return spark.read.parquet(str(tables / name)).drop("chunk")

    cells = read("cells").select("run_id", "variant", "number", col("seed").alias("cell_seed"))
    runs = read("runs").select("run_id", "scenario", "settings", col("seed").alias("log_seed"))
    told = when(col("scenario").isNotNull(), concat_ws(" ", "scenario", "settings"))
    return (
        read("metrics")
        .join(runs, "run_id")
        .join(cells, "run_id", "left")
        .withColumn("variant", coalesce("variant", told, lit(LOGS)))
        .withColumn("seed", coalesce("cell_seed", col("log_seed").try_cast("long")))
        .withColumn("number", coalesce("number", lit(0)))
        .drop("scenario", "settings", "log_seed", "cell_seed")
    )


def analyse(spark: Any, folder: str | os.PathLike[str]) -> Analysis:
    """Return the statistics of the runs in a directory of tables or of a sweep. Raises
    PipelineError."""
    from pyspark.sql.functions import collect_list, lit, struct
    from pyspark.sql.functions import min as least

    tables = tables_in(folder)
    if not (tables / "metrics").exists():
        raise PipelineError(
            f"{folder}: this sweep has no metrics: it is one of the curve's, which keeps only what its windows count"
        )
    frame = runs_of(spark, tables)
    grouped = frame.groupBy("variant").agg(
        least("number").alias("first"), collect_list(struct(*frame.columns)).alias("runs")
    )
    order = [
        row["variant"]
        for row in grouped.select("variant", "first").orderBy("first", "variant").collect()
    ]
    if not order:
        raise PipelineError(f"{folder}: there are no runs in these tables")
    (first,) = grouped.where(grouped["variant"] == lit(order[0])).collect()
    body = partial(_statistics, against=order[0], base=[row.asDict() for row in first["runs"]])
    results = {
        row["variant"]: json.loads(row["results"])
        for row in grouped.drop("first").mapInArrow(body, _OUT).collect()
    }
    summaries = [Summary(*row) for variant in order for row in results[variant]["summaries"]]
    differences = [
        Difference(*row) for variant in order[1:] for row in results[variant]["differences"]
    ]
    return Analysis(
        order,
        sum(results[variant]["runs"] for variant in order),
        summaries,
        differences,
        weighed(order),
        frontier_of(summaries, weighed(order)),
    )


def _statistics(
    batches: Iterable[Any], against: str, base: Sequence[dict[str, Any]]
) -> Iterator[Any]:
    for batch in batches:
        for row in batch.to_pylist():
            runs = sorted(row["runs"], key=lambda run: (run["number"], run["run_id"]))
            results = {
                "runs": len(runs),
                "summaries": summarise(row["variant"], runs),
                "differences": compare(row["variant"], runs, against, base),
            }
            yield pa.RecordBatch.from_pylist(
                [{"variant": row["variant"], "results": json.dumps(results)}], _OUT_SCHEMA
            )


def write(analysis: Analysis, out: Path) -> None:
    """Write the statistics as CSV files to a directory, then `_SUCCESS`. Raises PipelineError."""
    try:
        with whole(out):
            write_statistics(analysis, out)
    except OSError as error:
        raise PipelineError(f"{out}: cannot be written: {error.strerror or error}") from None


def write_statistics(analysis: Analysis, out: Path) -> None:
    """Write the statistics as CSV files among others of a directory. Raises OSError."""
    for name, kind, rows in (
        ("summary", Summary, analysis.summaries),
        ("differences", Difference, analysis.differences),
        ("frontier", Point, analysis.frontier),
    ):
        write_csv(out / f"{name}.csv", kind._fields, rows)


def write_csv(path: Path, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write one CSV file, which appears when it is complete. Raises OSError."""
    hidden = path.with_name(f".{path.name}")
    with hidden.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)
    os.replace(hidden, path)
