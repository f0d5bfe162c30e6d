"""The command `coordinator analyse`: its options, output and exit status. The statistics are computed
by `coordinator/lab/pipeline/spark/analysis.py`."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from coordinator.base.printable import printable

from .. import Subparsers, UsageError

DESCRIPTION: Final = """Tell the statistics of the runs in DIR, worked out on Spark.

DIR has tables (`coordinator tables`) or a sweep (`coordinator sweep`). Shown are, for each variant,
medians with 95 % intervals, and the differences from the first variant, paired by seed.
`DIR/analysis` has all of it as CSV, with the 90th and 99th percentiles."""

if TYPE_CHECKING:
    from coordinator.lab.pipeline.spark.analysis import Analysis


def add_parser(subparsers: Subparsers) -> None:
    """Declare the options of `analyse`."""
    parser = subparsers.add_parser(
        "analyse",
        help="statistics of a sweep or of tables, on Spark",
        description=DESCRIPTION,
        allow_abbrev=False,
    )
    parser.add_argument("dir", metavar="DIR", help="a directory of tables, or of a sweep")
    parser.add_argument(
        "--master",
        metavar="URL",
        help="Spark's master: local[2], spark://HOST:PORT, ... (default: all cores here)",
    )


def run(args: Namespace) -> int:
    """Analyse; return 0, 2 if the directory cannot be read, or 130 if interrupted."""
    from coordinator.lab.pipeline.spark.folders import tables_in
    from coordinator.lab.pipeline.spark.session import PipelineError, session, working

    try:
        tables_in(args.dir)
        spark = session("coordinator analyse", args.master)
        with working(
            spark, f"mend that and run the command again; if {args.dir} is damaged, make it anew"
        ):
            from coordinator.lab.pipeline.spark.analysis import analyse, write

            analysis = analyse(spark, args.dir)
            write(analysis, Path(args.dir) / "analysis")
    except PipelineError as error:
        raise UsageError(str(error)) from None
    except KeyboardInterrupt:
        print("\nstopped before its end; run it again", file=sys.stderr)
        return 130
    show(analysis)
    return 0


def show(analysis: Analysis) -> None:
    """Print medians, intervals and differences."""
    from coordinator.lab.pipeline.measures import MEASURES
    from coordinator.lab.statistics import told

    differences = {(each.variant, each.measure): each for each in analysis.differences}
    print(
        f"{analysis.runs} runs, {len(analysis.variants)} variants; medians, their 95 % intervals by ranks, and how sure those are"
    )
    for variant in analysis.variants:
        print(f"\n{printable(variant) or 'the scenario as it is'}")
        for each in analysis.summaries:
            if each.variant == variant and each.quantile == 0.5:
                measure = MEASURES[each.measure]
                text = f"{told(each.value, each.low, each.high, each.coverage)} {measure.unit}".rstrip()
                more = differences.get((variant, each.measure))
                paired = (
                    ""
                    if more is None
                    else f"   difference {told(more.value, more.low, more.high, more.coverage)}"
                )
                print(f"  {measure.title:48} {text:46}{paired}".rstrip())
    best = [point for point in analysis.frontier if point.best]
    if len(analysis.frontier) > 1:
        print("\nno other variant detects crashes sooner without more false expiries:")
        for point in best:
            print(f"  {printable(point.variant)}: {point.x:.4g} s, {point.y:.4g} false expiries")
