"""The report of a directory: Spark finds the worst rebalances and counts the rest,
`coordinator/lab/pipeline/page.py` makes the page; CSV, SVG and PNG files stand beside it."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path
from typing import Any, TypeVar

from ..measures import MEASURES, Difference, Point, Summary
from ..naming import Names, names_of
from ..page import RUN_COLUMNS, Facts, Worst, grouped, page, seconds
from ..sweeps import replay_command
from . import plots
from .analysis import Analysis, analyse, runs_of, write_csv, write_statistics
from .folders import manifest_of, tables_in, whole
from .session import PipelineError

WORST, LOOKED_AT, RUNS_SHOWN, QUARANTINE_SHOWN = 20, 500, 200, 20
PAGE = "index.html"
R = TypeVar("R", Summary, Difference, Point)
_PLOTTED = ("longest_rebalance_s", "rebalancing_s", "unavailable_partition_s", "moved")


def make_report(spark: Any, folder: str | os.PathLike[str], out: Path | None = None) -> Path:
    """Write the report into `out` (default: `DIR/report`); returns the page. Raises
    PipelineError."""
    tables = tables_in(folder)
    target = Path(folder) / "report" if out is None else out
    if target.resolve() in (tables.resolve(), Path(folder).resolve()):
        raise PipelineError(
            f"--out {target}: there are the tables, a report has a directory of its own; without --out {folder}/report"
        )
    whole_names = analyse(spark, folder)
    names = names_of(whole_names.variants)
    analysis = _named(whole_names, names)
    try:
        with whole(target):
            worst = _worst(spark, tables)
            runs = _runs(spark, tables)
            named_runs = [(row[0], names.of.get(row[1], row[1]), *row[2:]) for row in runs]
            facts = Facts(
                title=f"Consumer groups: {Path(folder).resolve().name}",
                manifest=manifest_of(tables),
                runs=named_runs,
                variants=analysis.variants,
                summaries=analysis.summaries,
                differences=analysis.differences,
                weighed=analysis.weighed,
                frontier=analysis.frontier,
                worst=worst,
                verdicts=_verdicts(spark, tables),
                quarantine=_quarantine(spark, tables),
                plots=_plots(spark, tables, analysis, target),
                common=names.common,
            )
            write_statistics(whole_names, target)
            write_csv(
                target / "worst.csv",
                Worst._fields,
                [(*each[:10], "; ".join(each.causes), each.command, each.runs) for each in worst],
            )
            write_csv(target / "runs.csv", RUN_COLUMNS, runs)
            hidden = target / f".{PAGE}"
            hidden.write_text(page(facts), encoding="utf-8")
            os.replace(hidden, target / PAGE)
    except OSError as error:
        raise PipelineError(
            f"{error.filename or target}: cannot be written: {error.strerror or error}"
        ) from None
    return target / PAGE


def _named(analysis: Analysis, names: Names) -> Analysis:
    """Return the analysis with the variants' short names."""

    def named(rows: list[R]) -> list[R]:
        return [row._replace(variant=names.of[row.variant]) for row in rows]

    return analysis._replace(
        variants=[names.of[variant] for variant in analysis.variants],
        summaries=named(analysis.summaries),
        differences=[
            each._replace(against=names.of[each.against]) for each in named(analysis.differences)
        ],
        frontier=named(analysis.frontier),
    )


def _read(spark: Any, tables: Path, name: str) -> Any:
    return spark.read.parquet(str(tables / name)).drop("chunk")


def _worst(spark: Any, tables: Path) -> list[Worst]:
    """Return the rebalances with the longest time without an owner, including one that had not
    ended."""
    from pyspark.sql.functions import col, desc_nulls_last

    if not (tables / "rebalances").exists():  # a sweep that kept its metrics only
        return []
    runs = _read(spark, tables, "runs").select(
        "run_id", "log", "run", "scenario", "settings", "seed"
    )
    rows = (
        _read(spark, tables, "rebalances")
        .where(col("initial_delay_ms").isNull())
        .orderBy(
            desc_nulls_last("unowned_partition_ms"), desc_nulls_last("duration_ms"), "run_id", "seq"
        )
        .limit(LOOKED_AT)
        .join(runs, "run_id")
        .orderBy(
            desc_nulls_last("unowned_partition_ms"), desc_nulls_last("duration_ms"), "run_id", "seq"
        )
    )
    found = [
        Worst(
            row["run_id"],
            row["group_id"],
            row["generation"],
            row["started_ms"],
            row["duration_ms"],
            row["outcome"],
            row["moved"],
            row["lost"],
            row["unowned_partition_ms"],
            row["why"],
            row["causes"],
            _command(row),
        )
        for row in rows.collect()
    ]
    variants = runs_of(spark, tables).select("run_id", "variant").collect()
    return grouped(found, {row["run_id"]: row["variant"] for row in variants}, WORST)


def _command(row: Any) -> str:
    """Return the command that explains a rebalance: of its log, or of a simulation that is run
    again."""
    place = [
        "--group",
        row["group_id"],
        *([] if row["generation"] is None else ["--generation", str(row["generation"])]),
    ]
    if row["scenario"] is None:
        return shlex.join(["coordinator", "explain", row["log"], "--run", row["run"], *place])
    replay = shlex.join(
        replay_command(row["scenario"], json.loads(row["settings"] or "[]"), int(row["seed"]))
    )
    return f"{replay} && {shlex.join(['coordinator', 'explain', 'run.jsonl', *place])}"


def _runs(spark: Any, tables: Path) -> list[tuple[Any, ...]]:
    more = _read(spark, tables, "runs").select("run_id", "end_ms", "complete")
    rows = (
        runs_of(spark, tables)
        .join(more, "run_id")
        .orderBy("number", "run_id")
        .limit(RUNS_SHOWN)
        .collect()
    )
    return [
        (
            row["run_id"],
            row["variant"],
            None if row["seed"] is None else str(row["seed"]),
            seconds(row["end_ms"]),
            row["events"],
            row["rebalances"],
            seconds(row["rebalancing_ms"]),
            seconds(row["unavailable_partition_ms"]),
            row["moved"],
            row["complete"],
        )
        for row in rows
    ]


def _verdicts(spark: Any, tables: Path) -> list[tuple[Any, ...]]:
    from pyspark.sql.functions import count, lit
    from pyspark.sql.functions import sum as total

    grouped = _read(spark, tables, "verdicts").groupBy("judge", "judgement", "promise")
    grouped = grouped.agg(count(lit(1)).alias("n"), total("findings").alias("f"))
    return [
        (row["judge"], row["judgement"], row["n"], row["f"], row["promise"])
        for row in grouped.orderBy("judge", "judgement").collect()
    ]


def _quarantine(spark: Any, tables: Path) -> list[tuple[Any, ...]]:
    if not (tables / "quarantine").exists():
        return []
    rows = (
        _read(spark, tables, "quarantine").orderBy("log", "line").limit(QUARANTINE_SHOWN).collect()
    )
    return [(row["log"], row["line"], row["offset"], row["reason"], row["text"]) for row in rows]


def _plots(
    spark: Any, tables: Path, analysis: Analysis, target: Path
) -> dict[str, tuple[str, str]]:
    from pyspark.sql.functions import col, floor

    found: dict[str, tuple[str, str]] = {}
    for name in _PLOTTED:
        figure = plots.intervals(name, analysis.summaries)
        found[name] = (
            f"{MEASURES[name].title}: medians and their intervals, as sure as the table says",
            plots.save(figure, target, name),
        )
    if len(analysis.frontier) > 1:
        figure = plots.frontier(analysis.frontier, *analysis.weighed)
        found["frontier"] = (
            f"{' against '.join(MEASURES[name].title for name in analysis.weighed)}, medians",
            plots.save(figure, target, "frontier"),
        )
    if (tables / "rebalances").exists():
        seconds_ = floor(col("duration_ms") / 1000).cast("int").alias("second")
        ended = _read(spark, tables, "rebalances").where(
            col("duration_ms").isNotNull() & col("initial_delay_ms").isNull()
        )
        rows = ended.groupBy(seconds_).count().orderBy("second").collect()
        figure = plots.histogram(
            [(row["second"], row["count"]) for row in rows], "length of a rebalance, s"
        )
        found["durations"] = (
            "how long rebalances took, from their beginning until Stable, without the first join of a group that was empty",
            plots.save(figure, target, "durations"),
        )
        found |= _time_lines(spark, tables, target)
    return found


def _time_lines(spark: Any, tables: Path, target: Path) -> dict[str, tuple[str, str]]:
    """Return a plot of each group's rebalances over the time of the first run."""
    from pyspark.sql.functions import col, when

    first = runs_of(spark, tables).orderBy("number", "run_id").select("run_id").limit(1).collect()
    if not first:
        return {}
    run = first[0]["run_id"]
    rebalances = _read(spark, tables, "rebalances")
    rows = (
        rebalances.where(rebalances["run_id"] == run)
        .select(
            "group_id",
            "started_ms",
            "duration_ms",
            when(col("initial_delay_ms").isNotNull(), "first join").otherwise(col("outcome")),
        )
        .orderBy("group_id", "started_ms")
        .limit(plots.MOST_BARS)
        .collect()
    )
    runs = _read(spark, tables, "runs")
    (end,) = runs.where(runs["run_id"] == run).select("end_ms").collect()
    if not rows:
        return {}
    figure = plots.time_lines([tuple(row) for row in rows], end["end_ms"] or 0)
    return {
        "timeline": (
            f"rebalances of each group over the time of run {run}",
            plots.save(figure, target, "timeline"),
        )
    }
