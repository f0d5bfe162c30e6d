"""The command `coordinator tables`: its options, output and exit status. What each table holds is in
`coordinator/lab/pipeline/schemas.py`."""

from __future__ import annotations

import sys
import time
from argparse import ArgumentTypeError, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from .. import Subparsers, UsageError, command_config

DESCRIPTION: Final = """Turn event logs into Parquet tables, on Spark.

LOGS are files or directories (plain, gzip or zstd, one run in a file or many), or
kafka://HOST:PORT/TOPIC: a log that `coordinator serve --log-topic` publishes. Lines that cannot be
read go to table `quarantine`; the counts add up. docs/tables.md describes the tables,
docs/pipeline.md what to do with them."""

KAFKA_CLIENT = "a file of properties for Kafka's consumer says how to get in"


def add_parser(subparsers: Subparsers) -> None:
    """Declare the options of `tables`."""
    parser = subparsers.add_parser(
        "tables",
        help="event logs to Parquet tables, on Spark",
        description=DESCRIPTION,
        allow_abbrev=False,
    )
    parser.add_argument(
        "logs",
        metavar="LOGS",
        nargs="+",
        help="event logs, directories with *.jsonl, *.jsonl.gz and *.jsonl.zst, or kafka://HOST:PORT/TOPIC",
    )
    parser.add_argument(
        "--out", type=out_directory, required=True, metavar="DIR", help="where the tables go"
    )
    parser.add_argument(
        "--master",
        metavar="URL",
        help="Spark's master: local[2], spark://HOST:PORT, ... (default: all cores here)",
    )
    parser.add_argument("--command-config", metavar="FILE", help=f"for kafka://: {KAFKA_CLIENT}")
    parser.add_argument(
        "--replace", action="store_true", help="replace tables that are there already"
    )


def out_directory(text: str) -> str:
    """Return the path of an output directory. Raises ArgumentTypeError for an empty path, which
    would mean the current directory."""
    if not text.strip():
        raise ArgumentTypeError(f"{text!r} is no directory: give a path, such as out")
    return text


def topic_settings(logs: Sequence[str]) -> dict[str, str]:
    """Return the session's settings for logs that are Kafka topics. Raises PipelineError."""
    if not any(log.startswith("kafka://") for log in logs):
        return {}
    try:
        from coordinator.lab.pipeline.spark.kafka import kafka_settings
    except ImportError as error:
        from coordinator.lab.pipeline.spark.session import PipelineError, missing

        raise PipelineError(missing(error)) from None
    return kafka_settings(logs)


def client_settings(path: str | None, logs: Sequence[str]) -> dict[str, str]:
    """Return the security settings of Kafka's own consumer. Raises UsageError."""
    if path is None:
        return {}
    if not any(log.startswith("kafka://") for log in logs):
        raise UsageError("--command-config: to get in where? None of the logs is kafka://...")
    return command_config.properties(path)


def run(args: Namespace) -> int:
    """Make the tables; return 0, 2 if they cannot be made, or 130 if interrupted."""
    from coordinator.lab.pipeline.sources import SourceError, log_files
    from coordinator.lab.pipeline.spark.folders import check_out
    from coordinator.lab.pipeline.spark.session import PipelineError, session, working

    client = client_settings(args.command_config, args.logs)
    try:
        check_out(Path(args.out), replace=args.replace)
        files = [log for log in args.logs if not log.startswith("kafka://")]
        if files:
            log_files(files)
        spark = session("coordinator tables", args.master, settings=topic_settings(args.logs))
        with working(
            spark, f"the tables in {args.out} are not whole; mend that and run the command again"
        ):
            from coordinator.lab.pipeline.spark.tables import make_tables

            began = time.perf_counter()
            made = make_tables(spark, args.logs, args.out, replace=args.replace, client=client)
    except (SourceError, PipelineError) as error:
        raise UsageError(str(error)) from None
    except KeyboardInterrupt:
        print("\nstopped before its end: the tables are not whole; run it again", file=sys.stderr)
        return 130
    counts = made.counts
    print(
        f"{counts.runs} runs of {made.files} files in {made.chunks} chunks; {time.perf_counter() - began:.1f} s"
    )
    rest = f"{counts.quarantined} quarantined, {counts.cut_short} cut short, {counts.blank} blank"
    print(f"{counts.lines} lines: {counts.events} events, {rest}")
    print(", ".join(f"{name} {number}" for name, number in made.rows.items() if number))
    return 0
