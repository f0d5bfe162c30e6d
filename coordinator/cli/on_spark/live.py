"""The command `coordinator live`: its options and exit status. The stream that computes alerts is in
`coordinator/lab/pipeline/spark/live.py`."""

from __future__ import annotations

import time
from argparse import ArgumentTypeError, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from coordinator.base.printable import printable

from .. import Subparsers, UsageError
from .tables import KAFKA_CLIENT, client_settings, out_directory, topic_settings

DESCRIPTION: Final = """Follow a log while it grows and tell alerts, on Spark.

Told are rebalance storms, flapping members, commits of zombies, join phases and reassignments that
are stuck. DIR/alerts has them as Parquet, DIR/live.html shows the groups and the latest alerts. Run
again with the same DIR it goes on where it stopped."""

if TYPE_CHECKING:
    from coordinator.lab.pipeline.alerts import Alert


def add_parser(subparsers: Subparsers) -> None:
    """Declare the options of `live`."""
    parser = subparsers.add_parser(
        "live",
        help="follow a growing log, with alerts, on Spark",
        description=DESCRIPTION,
        allow_abbrev=False,
    )
    parser.add_argument(
        "log",
        metavar="LOG",
        help="the log of a running emulator, a file that may not be there yet, or kafka://HOST:PORT/TOPIC",
    )
    parser.add_argument(
        "--out",
        type=out_directory,
        required=True,
        metavar="DIR",
        help="where alerts, the page and the checkpoint go",
    )
    parser.add_argument(
        "--for",
        type=_seconds,
        default=None,
        metavar="SECONDS",
        dest="seconds",
        help="stop after so long",
    )
    parser.add_argument(
        "--stuck-join",
        type=_seconds,
        default=60.0,
        metavar="SECONDS",
        help="of a join phase (default: 60)",
    )
    parser.add_argument(
        "--storm",
        type=_number,
        default=5,
        metavar="N",
        help="alert at so many rebalances in a minute (default: 5)",
    )
    parser.add_argument("--command-config", metavar="FILE", help=f"for kafka://: {KAFKA_CLIENT}")
    parser.add_argument(
        "--master",
        metavar="URL",
        help="Spark's master: local[2], spark://HOST:PORT, ... (default: all cores here)",
    )


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1e9:
        raise ArgumentTypeError(f"{text!r}: give seconds, such as 60")
    return value


def _number(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or not 0 < int(text) < 1_000_000:
        raise ArgumentTypeError(f"{text!r}: give how many, a whole number from 1 on, such as 5")
    return int(text)


def run(args: Namespace) -> int:
    """Follow the log; return 0 after a signal to stop, 2 if the log cannot be followed."""
    from coordinator.lab.pipeline.alerts import Limits
    from coordinator.lab.pipeline.spark.session import PipelineError, reason, session, stop

    client = client_settings(args.command_config, [args.log])
    limits = Limits(storm=args.storm, stuck_join_ms=round(args.stuck_join * 1000))
    out = Path(args.out)
    if not args.log.startswith("kafka://"):
        _check_log(Path(args.log))
    try:
        out.mkdir(parents=True, exist_ok=True)
        settings = {"spark.sql.shuffle.partitions": "2", **topic_settings([args.log])}
        spark = session("coordinator live", args.master, settings=settings)
    except PipelineError as error:
        raise UsageError(str(error)) from None
    except OSError as error:
        raise UsageError(
            f"--out {args.out}: cannot be written: {error.strerror or error}"
        ) from None
    from coordinator.lab.pipeline.spark.live import Board, Follower

    try:
        follower = Follower(spark, args.log, Board(out, _tell), out / "checkpoint", limits, client)
        print(f"following {args.log}; {out}/live.html shows it", flush=True)
        end = None if args.seconds is None else time.monotonic() + args.seconds
        while end is None or time.monotonic() < end:
            follower.poll()
            time.sleep(0.2)
        follower.stop()
    except KeyboardInterrupt:
        pass
    except Exception as error:  # what a query ends in is Spark's
        raise UsageError(reason(error)) from None
    finally:
        stop(spark)
    return 0


def _check_log(log: Path) -> None:
    try:
        directory = log.is_dir()
    except OSError as error:  # a name that is too long, for example
        raise UsageError(f"{log}: cannot be read: {error.strerror or error}") from None
    if directory:
        raise UsageError(
            f"{log}: it is a directory; give the log's file, which `coordinator serve --log FILE` writes"
        )
    if not log.parent.is_dir():
        raise UsageError(
            f"{log}: there is no directory {log.parent}; give the path of a log, which may not be there yet"
        )


def _tell(alert: Alert) -> None:
    print(
        f"{alert.at_ms / 1000:10.3f} s  {printable(alert.group) or '(cluster)'}: {alert.kind}: {printable(alert.text)}",
        flush=True,
    )
