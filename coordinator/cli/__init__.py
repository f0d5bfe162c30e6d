"""The command line: `coordinator <command> ...`, also `python -m coordinator`.

One file a command, each with `add_parser(subparsers)` and `run(args) -> exit status`; only the
command that was asked for is imported. Wrong options say what is wrong, where, and what would be
right, on standard error, with exit status 2.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, Protocol

from coordinator.base.version import __version__

Subparsers = Any  # argparse names its type privately
COMMANDS = {
    "serve": "serving.serve",
    "ctl": "ctl",
    "peers": "members.peers",
    "reassign": "reassign",
    "explain": "explain",
    "diagnose": "diagnose",
    "watch": "watch",
    "lessons": "lessons",
    "diff": "diff",
    "simulate": "simulating.simulate",
    "shrink": "simulating.shrink",
    "ab": "simulating.ab",
    "swarm": "simulating.swarm",
    "scenarios": "simulating.scenarios",
    "tables": "on_spark.tables",
    "sweep": "on_spark.sweep",
    "analyse": "on_spark.analyse",
    "report": "on_spark.report",
    "live": "on_spark.live",
    "wire": "wire",
    "health": "serving.health",
    "demo": "demo",
}
"""The module of each command, below this package, in the order of `--help`."""


class UsageError(Exception):
    """An option or argument is wrong; the message names it, and the values that are right.
    Raised by commands; ends with status 2."""


def _whole_number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}: give a whole number") from None


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}: give a number") from None


class CommandParser(argparse.ArgumentParser):
    """A command's parser. An unknown option is reported as this command's error, with this
    command's usage."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.register("type", int, _whole_number)
        self.register("type", float, _number)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As argparse does, except that unknown arguments are not handed on to the parser of
        `coordinator` itself."""
        known, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return known, unknown


class Command(Protocol):
    """The functions of a command's module."""

    def add_parser(self, subparsers: Subparsers) -> None:
        """Declare the command's options."""

    def run(self, args: argparse.Namespace) -> int:
        """Run the command; return the exit status."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line and return the exit status: 2 for wrong usage, 130 after Ctrl-C in a
    command that does not handle it."""
    argv = sys.argv[1:] if argv is None else list(argv)
    try:
        return _carry_out(argv)
    except KeyboardInterrupt:
        from .interrupts import INTERRUPTED

        print(
            f"coordinator{''.join(f' {word}' for word in argv[:1] if word in COMMANDS)}: interrupted",
            file=sys.stderr,
        )
        return INTERRUPTED


def _carry_out(argv: list[str]) -> int:
    asked: list[str] = []
    if argv != ["--version"]:
        asked = [argv[0]] if argv and argv[0] in COMMANDS else list(COMMANDS)
    commands: dict[str, Command] = {
        name: import_module(f"{__name__}.{COMMANDS[name]}") for name in asked
    }
    parser = _parser(commands)
    args = parser.parse_args(argv)
    if args.command is None:
        parser.print_help()
        return 0
    try:
        return commands[args.command].run(args)
    except UsageError as error:
        from coordinator.base.printable import printable

        text = "\n".join(map(printable, str(error).split("\n")))
        print(f"coordinator {args.command}: error: {text}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # our reader went away, such as `head`
        sys.stderr.close()
        return 1


def _parser(commands: dict[str, Command]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="coordinator",
        description="A live emulator of Kafka's group coordinator, exact as Apache Kafka 4.4.0.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"coordinator {__version__}")
    subparsers = parser.add_subparsers(
        dest="command", metavar="command", title="commands", parser_class=CommandParser
    )
    for command in commands.values():
        command.add_parser(subparsers)
    return parser
