"""The command `python -m coordinator.lab.pipeline.spark.curve`, which computes the cost of a
rebalance against the size of the group, on Spark. `coordinator/lab/pipeline/curve_runs.py` and
`curve_page.py` make the points and the page without Spark."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from functools import reduce
from pathlib import Path
from typing import Any, Final

from ..curve import EVENTS, MEASURED, SIZES, curve_sweep, plot_name
from ..curve_live import read_live
from ..curve_page import curve_page
from ..curve_runs import RunFigures, curve_text, known_of, points_of, read_runs, runs_text
from . import plots
from .folders import tables_in
from .session import PipelineError, session, working
from .sweep import run_sweep

DESCRIPTION: Final = """`python -m coordinator.lab.pipeline.spark.curve`: compute the curve on Spark, and write its page,
plots and figures into docs/curve."""
SCENARIO = Path("docs/curve/scenario.toml")


def figures_of(spark: Any, folders: Sequence[Path]) -> list[RunFigures]:
    """Return the figures of every simulation of some sweeps of the curve. Raises PipelineError."""
    every = [tables_in(folder) for folder in folders]

    def read(name: str) -> Any:
        return reduce(
            lambda one, other: one.unionByName(other),
            (spark.read.parquet(str(tables / name)) for tables in every),
        )

    measures = [measure.column for measure in MEASURED]
    of_cells = read("cells").select("run_id", "cell_id", "variant", "seed")
    windows = read("windows").select("run_id", "name", *measures).join(of_cells, "run_id")
    found = []
    for row in windows.collect():
        protocol, _, members = row["variant"].rpartition(": ")
        found.append(
            RunFigures(
                row["cell_id"],
                protocol,
                int(members),
                row["seed"],
                row["name"],
                tuple(row[each] for each in measures),
            )
        )
    return found


def write_curve(runs: Sequence[RunFigures], out: Path, command: str) -> None:
    """Write the page, the plots and the figures of simulations. `out/live.csv` has the values
    that were measured on live runs. Raises PipelineError, OSError."""
    points = list(points_of(runs))
    (out / "curve.csv").write_text(curve_text(points), encoding="utf-8")
    (out / "runs.csv").write_text(runs_text(runs), encoding="utf-8")
    for event in EVENTS:
        for measure in MEASURED:
            own = [
                point for point in points if (point.event, point.measure) == (event, measure.column)
            ]
            series: dict[str, list[tuple[float, float, float, float]]] = {}
            for point in own:
                figures = (point.median.value, point.p5, point.p95)
                series.setdefault(point.protocol, []).append(
                    (point.members, *(each * measure.scale for each in figures))  # type: ignore[arg-type]
                )
            plots.save(
                plots.curves(series, "members of the group", measure.title),
                out,
                plot_name(event, measure),
                png=False,
            )
    live = out / "live.csv"
    try:
        measured = read_live(live.read_text(encoding="utf-8")) if live.exists() else []
    except ValueError as error:
        raise PipelineError(
            f"{live}: {error}; `python -m benchmarks.curve_live` makes one"
        ) from None
    (out / "README.md").write_text(curve_page(points, command, measured), encoding="utf-8")


def _read_known(path: str) -> list[RunFigures]:
    try:
        return read_runs(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise PipelineError(f"--known {path}: {error}") from None


def read_sizes(text: str, seeds: int) -> dict[int, int]:
    """Return the number of seeds for each size: `10,100,500:3` are two sizes with `seeds` and
    one with three. Raises ValueError."""
    found: dict[int, int] = {}
    for each in text.split(","):
        size, colon, own = each.partition(":")
        found[int(size)] = int(own) if colon else seeds
    if min(found) < 10 or min(found.values()) < 1:
        raise ValueError(text)
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Compute; 0, 1 if a simulation failed, 2 for what cannot be, 130 if it was interrupted."""
    parser = argparse.ArgumentParser(prog="curve", description=DESCRIPTION, allow_abbrev=False)
    parser.add_argument(
        "--sizes",
        default=",".join(map(str, SIZES)),
        metavar="SIZE[:SEEDS],...",
        help="members of the groups, each with its own number of seeds if it has one (default: %(default)s)",
    )
    parser.add_argument(
        "--seeds", type=int, default=20, help="simulations of each point (default: %(default)s)"
    )
    parser.add_argument(
        "--work",
        default="curve-run",
        help="where the tables go, a directory for each size (default: %(default)s)",
    )
    parser.add_argument(
        "--out", default="docs/curve", help="where the page goes (default: %(default)s)"
    )
    parser.add_argument(
        "--known",
        metavar="FILE",
        help="take the figures of simulations that this runs.csv has, and simulate the others",
    )
    parser.add_argument("--master", help="Spark's master (default: all cores here)")
    args = parser.parse_args(argv)
    try:
        sizes = read_sizes(args.sizes, args.seeds)
    except ValueError:
        print(
            "curve: error: --sizes: whole numbers from 10 on, such as 10,100 or 10,500:3; --seeds: from 1 on",
            file=sys.stderr,
        )
        return 2
    ended: Counter[str] = Counter()
    taken = 0
    try:
        text = SCENARIO.read_text(encoding="utf-8")
        given = _read_known(args.known) if args.known else []
        runs: list[RunFigures] = []
        spark = session("the curve", args.master)
        with working(spark, "mend that; the same command goes on where it stopped"):
            for size, seeds in sizes.items():
                sweep, folder = (
                    curve_sweep(text, [size], seeds),
                    Path(args.work) / f"members-{size}",
                )
                known, missing = known_of(given, sweep)
                simulated: list[RunFigures] = []
                if missing:
                    swept = run_sweep(
                        spark,
                        sweep._replace(seeds=missing),
                        folder,
                        lambda told: print(told, file=sys.stderr, flush=True),
                    )
                    ended.update(swept.by_status)
                    simulated = figures_of(spark, [folder])
                here = {run.cell_id for run in simulated}
                others = [run for run in known if run.cell_id not in here]
                taken += len({run.cell_id for run in others})
                runs += simulated + others
            out = Path(args.out)
            out.mkdir(parents=True, exist_ok=True)
            write_curve(runs, out, f"make curve SIZES={args.sizes} SEEDS={args.seeds}")
    except (PipelineError, OSError) as error:
        print(f"curve: error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(
            "\nstopped before its end; the same command goes on where it stopped", file=sys.stderr
        )
        return 130
    told = ", ".join(f"{count} {status}" for status, count in sorted(ended.items()))
    known_too = f"; the figures of {taken} others were known" if taken else ""
    print(f"{ended.total()} simulations: {told or 'none'}{known_too}; {args.out}/README.md")
    return 1 if ended["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
