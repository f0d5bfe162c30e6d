"""The command `coordinator demo`: it checks that the three client libraries are installed and starts the
demonstration, which is in `coordinator/lab/demo/`."""

from __future__ import annotations

import signal
import sys
from argparse import Namespace
from importlib.util import find_spec
from pathlib import Path
from shutil import get_terminal_size
from textwrap import wrap
from typing import Final

from . import Subparsers, UsageError

DESCRIPTION: Final = """Run three client libraries in one group on a real server, rebalance it, tell
it as it happens, and judge it.

Needs kafka-python, aiokafka and confluent-kafka (the extra `dev` has them; `make demo` installs
them). Takes half a minute. Status 0 if all went well, 1 if a judge found fault or something did not
come about, 2 if it cannot start."""

CLIENTS = {"kafka": "kafka-python", "aiokafka": "aiokafka", "confluent_kafka": "confluent-kafka"}


def add_parser(subparsers: Subparsers) -> None:
    """Declare the options of `demo`."""
    parser = subparsers.add_parser(
        "demo",
        help="watch three client libraries share a topic, and why",
        description=DESCRIPTION,
        allow_abbrev=False,
    )
    parser.add_argument(
        "--log",
        metavar="PATH",
        type=Path,
        help="where the event log goes (default: a new folder for temporary files)",
    )


def run(args: Namespace) -> int:
    """Perform the demo. Raises UsageError if a client library is missing or the log cannot be
    written."""
    missing = [package for module, package in CLIENTS.items() if find_spec(module) is None]
    if missing:
        raise UsageError(
            f"{', '.join(missing)} not installed: pip install {' '.join(missing)}, or run `make demo`"
        )
    from tempfile import mkdtemp

    from coordinator.lab.demo.play import run as perform

    folder = Path(mkdtemp(prefix="coordinator-demo-"))
    log: Path = args.log if args.log is not None else folder / "run.jsonl"
    try:
        if log.exists():
            raise UsageError(
                f"--log {log}: the file exists already, and is left alone: name another one"
            )
        log.open("xb").close()
        log.unlink()
    except OSError as error:
        raise UsageError(f"--log {log}: cannot write there: {error.strerror or error}") from None
    signal.signal(signal.SIGTERM, _stop)
    try:
        return 0 if perform(folder, log, _say) else 1
    except KeyboardInterrupt:
        print(f"\nstopped before the end. Log: {log}")
        return 130


def _say(text: str) -> None:
    """Print a line; on a terminal, fold a long indented line under its own beginning."""
    if text.startswith(" ") and sys.stdout.isatty():
        indent = " " * max(12, len(text) - len(text.lstrip()))
        width = max(60, get_terminal_size().columns)
        text = "\n".join(
            wrap(
                text,
                width,
                subsequent_indent=indent,
                break_long_words=False,
                break_on_hyphens=False,
            )
        )
    if (sys.stdout.encoding or "ascii").lower().replace("-", "") != "utf8":
        text = text.translate({ord("■"): "#", ord("·"): "."})
    print(text, flush=True)


def _stop(*_: object) -> None:
    """Handle SIGTERM: exit as any program does, so that child processes are ended."""
    sys.exit(128 + signal.SIGTERM)
