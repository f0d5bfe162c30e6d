"""The command `coordinator sweep`: its options, output and exit status. Its runs are made by
`coordinator/lab/pipeline/spark/sweep.py`."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path
from typing import Final

from .. import Subparsers, UsageError
from .tables import out_directory

DESCRIPTION: Final = """Run a scenario over settings and seeds, on Spark.

SWEEP is a TOML file that names a scenario, what varies, and the seeds (docs/pipeline.md). A sweep
that was interrupted goes on where it stopped. Status 1 if a simulation ended in an error."""


def add_parser(subparsers: Subparsers) -> None:
    """Declare the options of `sweep`."""
    parser = subparsers.add_parser(
        "sweep",
        help="simulations over a grid of settings, on Spark",
        description=DESCRIPTION,
        allow_abbrev=False,
    )
    parser.add_argument("sweep", metavar="SWEEP", help="a sweep file")
    parser.add_argument(
        "--out",
        type=out_directory,
        required=True,
        metavar="DIR",
        help="where the sweep's tables (and logs) go",
    )
    parser.add_argument(
        "--master",
        metavar="URL",
        help="Spark's master: local[2], spark://HOST:PORT, ... (default: all cores here)",
    )


def run(args: Namespace) -> int:
    """Run the sweep; return 0, 1 if a simulation failed, 2 if the sweep cannot be run, or 130 if
    interrupted."""
    from coordinator.lab.pipeline.spark.folders import check_sweep_out
    from coordinator.lab.pipeline.spark.session import PipelineError, session, working
    from coordinator.lab.pipeline.sweeps import SweepError, plan_of, read_sweep

    try:
        sweep = read_sweep(args.sweep)
        if sweep.note:
            print(f"coordinator sweep: {sweep.note}", file=sys.stderr)
        check_sweep_out(Path(args.out), plan_of(sweep))
        spark = session("coordinator sweep", args.master)
        with working(spark, "mend that; the same command goes on where it stopped"):
            from coordinator.lab.pipeline.spark.sweep import run_sweep

            swept = run_sweep(spark, sweep, args.out, tell)
    except (SweepError, PipelineError) as error:
        raise UsageError(str(error)) from None
    except KeyboardInterrupt:
        print(
            "\nstopped before its end; the same command goes on where it stopped", file=sys.stderr
        )
        return 130
    before = f", {swept.before} of them done before" if swept.before else ""
    print(
        f"{swept.cells} simulations of {sweep.scenario}: {len(sweep.variants)} variants, {len(sweep.seeds)} seeds{before}"
    )
    print(", ".join(f"{count} {status}" for status, count in sorted(swept.by_status.items())))
    if swept.first_problem is not None:
        print(f"the first that is not ok: {swept.first_problem}")
    return 1 if swept.by_status.get("failed") else 0


def tell(text: str) -> None:
    """Print the progress over the last one on a terminal; elsewhere print none, which would fill
    a log."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
