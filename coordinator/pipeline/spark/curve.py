"""`python -m coordinator.pipeline.spark.curve`: compute the curve on Spark, and write its page, plots and figures into docs/curve."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from functools import reduce
from pathlib import Path
from typing import Any

from ..curve import EVENTS, MEASURED, PROTOCOLS, SIZES, CurvePoint, curve_page, curve_sweep, plot_name, read_live
from ..statistics import quantile
from . import plots
from .analysis import write_csv
from .folders import tables_in
from .session import PipelineError, session, working
from .sweep import run_sweep

SCENARIO = Path("docs/curve/scenario.toml")


def points_of(spark: Any, folders: Sequence[Path]) -> list[tuple[CurvePoint, str]]:
    """Every estimate of some sweeps with its settings, by protocol and size. Raises PipelineError."""
    from pyspark.sql.functions import array_sort, col, collect_list, element_at, split
    from pyspark.sql.functions import first as any_of

    every = [tables_in(folder) for folder in folders]

    def read(name: str) -> Any:
        return reduce(lambda one, other: one.unionByName(other), (spark.read.parquet(str(tables / name)) for tables in every))

    windows = read("windows").join(read("cells").select("run_id", "variant", "settings"), "run_id")
    lists = [array_sort(collect_list(measure.column)).alias(measure.column) for measure in MEASURED]
    grouped = windows.groupBy("variant", "name").agg(any_of("settings").alias("settings"), *lists)
    sized = grouped.withColumn("members", element_at(split("variant", ": "), -1).cast("int"))
    found = []
    for row in sized.orderBy(col("members"), "variant", "name").collect():
        for measure in MEASURED:
            estimate = quantile([value * measure.scale for value in row[measure.column]], 0.5)
            protocol = row["variant"].rpartition(": ")[0]
            found.append((CurvePoint(protocol, row["members"], row["name"], measure.column, estimate), " ".join(row["settings"])))
    protocols = list(PROTOCOLS)
    return sorted(found, key=lambda pair: (protocols.index(pair[0].protocol), pair[0].members))


def write_curve(spark: Any, folders: Sequence[Path], out: Path, command: str) -> None:
    """The page, the plots and the figures of sweeps that are done; `out/live.csv` is what was measured beside them.

    Raises PipelineError and OSError.
    """
    found = points_of(spark, folders)
    points = [point for point, _ in found]
    columns = ("protocol", "members", "event", "measure", "median", "low", "high", "coverage", "runs", "settings")
    write_csv(out / "curve.csv", columns, [(*point[:4], *point.estimate, settings) for point, settings in found])
    for event in EVENTS:
        for measure in MEASURED:
            own = [point for point in points if (point.event, point.measure) == (event, measure.column)]
            series: dict[str, list[tuple[float, float, float, float]]] = {}
            for point in own:
                series.setdefault(point.protocol, []).append((point.members, *point.estimate[:3]))
            plots.save(plots.curves(series, "members of the group", measure.title), out, plot_name(event, measure), png=False)
    live = out / "live.csv"
    try:
        measured = read_live(live.read_text(encoding="utf-8")) if live.exists() else []
    except ValueError as error:
        raise PipelineError(f"{live}: {error}; `python -m benchmarks.curve_live` makes one") from None
    (out / "README.md").write_text(curve_page(points, command, measured), encoding="utf-8")


def read_sizes(text: str, seeds: int) -> dict[int, int]:
    """How many seeds each size has: `10,100,500:3` are two sizes with `seeds` and one with three. Raises ValueError."""
    found: dict[int, int] = {}
    for each in text.split(","):
        size, colon, own = each.partition(":")
        found[int(size)] = int(own) if colon else seeds
    if min(found) < 10 or min(found.values()) < 1:
        raise ValueError(text)
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Compute; 0, 1 if a simulation failed, 2 for what cannot be, 130 if it was interrupted."""
    parser = argparse.ArgumentParser(prog="curve", description=__doc__, allow_abbrev=False)
    parser.add_argument(
        "--sizes", default=",".join(map(str, SIZES)), metavar="SIZE[:SEEDS],...",
        help="members of the groups, each with its own number of seeds if it has one (default: %(default)s)")  # fmt: skip
    parser.add_argument("--seeds", type=int, default=20, help="simulations of each point (default: %(default)s)")
    parser.add_argument("--work", default="curve-run", help="where the tables go, a directory for each size (default: %(default)s)")
    parser.add_argument("--out", default="docs/curve", help="where the page goes (default: %(default)s)")
    parser.add_argument("--master", help="Spark's master (default: all cores here)")
    args = parser.parse_args(argv)
    try:
        sizes = read_sizes(args.sizes, args.seeds)
    except ValueError:
        print("curve: error: --sizes: whole numbers from 10 on, such as 10,100 or 10,500:3; --seeds: from 1 on", file=sys.stderr)
        return 2
    folders = {size: Path(args.work) / f"members-{size}" for size in sizes}
    ended: Counter[str] = Counter()
    try:
        text = SCENARIO.read_text(encoding="utf-8")
        spark = session("the curve", args.master)
        with working(spark, "mend that; the same command goes on where it stopped"):
            for size, seeds in sizes.items():
                sweep = curve_sweep(text, [size], seeds)
                ended.update(run_sweep(spark, sweep, folders[size], lambda told: print(told, file=sys.stderr, flush=True)).by_status)
            out = Path(args.out)
            out.mkdir(parents=True, exist_ok=True)
            write_curve(spark, list(folders.values()), out, f"make curve SIZES={args.sizes} SEEDS={args.seeds}")
    except (PipelineError, OSError) as error:
        print(f"curve: error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nstopped before its end; the same command goes on where it stopped", file=sys.stderr)
        return 130
    told = ", ".join(f"{count} {status}" for status, count in sorted(ended.items()))
    print(f"{ended.total()} simulations: {told}; {args.out}/README.md")
    return 1 if ended["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
