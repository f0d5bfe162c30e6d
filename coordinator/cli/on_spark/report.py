"""The command `coordinator report`: its options and exit status. The page is made by
`coordinator/lab/pipeline/spark/report.py`."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path
from typing import Final

from .. import Subparsers, UsageError
from .tables import out_directory

DESCRIPTION: Final = """Make a page of the runs in DIR, with plots, statistics and the worst
rebalances, on Spark.

DIR has tables (`coordinator tables`) or a sweep that kept its tables (`keep = "tables"`). The page,
`DIR/report/index.html`, needs no network and no scripts; beside it stand the same numbers as CSV
and the plots as SVG and PNG."""


def add_parser(subparsers: Subparsers) -> None:
    """Declare the options of `report`."""
    parser = subparsers.add_parser(
        "report",
        help="an HTML report of a sweep or of tables",
        description=DESCRIPTION,
        allow_abbrev=False,
    )
    parser.add_argument("dir", metavar="DIR", help="a directory of tables, or of a sweep")
    parser.add_argument(
        "--out",
        type=out_directory,
        metavar="DIR",
        help="where the report goes (default: DIR/report)",
    )
    parser.add_argument(
        "--master",
        metavar="URL",
        help="Spark's master: local[2], spark://HOST:PORT, ... (default: all cores here)",
    )


def run(args: Namespace) -> int:
    """Make the report; return 0, 2 if the directory cannot be read or the report cannot be
    written, or 130 if interrupted."""
    from coordinator.lab.pipeline.spark.folders import check_writable, tables_in
    from coordinator.lab.pipeline.spark.session import PipelineError, session, working

    try:
        tables_in(args.dir)
        if args.out is not None and Path(args.out).exists() and not Path(args.out).is_dir():
            raise PipelineError(f"--out {args.out}: it is a file; give a directory")
        check_writable(Path(args.dir, "report") if args.out is None else Path(args.out))
        spark = session("coordinator report", args.master)
        with working(
            spark, f"mend that and run the command again; if {args.dir} is damaged, make it anew"
        ):
            from coordinator.lab.pipeline.spark.report import make_report

            made = make_report(spark, args.dir, None if args.out is None else Path(args.out))
    except PipelineError as error:
        raise UsageError(str(error)) from None
    except KeyboardInterrupt:
        print("\nstopped before its end: the report is not whole; run it again", file=sys.stderr)
        return 130
    print(made)
    return 0
