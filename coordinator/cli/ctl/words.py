"""What the commands of `coordinator ctl` are built with: nouns, verbs, their common options, and
how options and answers read."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any, NamedTuple

from .. import Subparsers, UsageError

Call = Callable[[Any, argparse.Namespace], Any]
Tell = Callable[[Any], str]


class Leaf(NamedTuple):
    """What a command calls, and how its answer reads. A `Tell` that answers "" prints nothing."""

    call: Call
    tell: Tell


class Words:
    """Builds the commands: each noun with its verbs, every verb with the common options."""

    def __init__(self, subparsers: Subparsers) -> None:
        self._nouns = subparsers
        self.common = argparse.ArgumentParser(add_help=False)
        self.common.add_argument(
            "--control",
            metavar="URL",
            help="the control port, such as http://127.0.0.1:8080 (COORDINATOR_CONTROL)",
        )
        self.common.add_argument(
            "--format",
            choices=("text", "json"),
            default="text",
            help="how to print the answer (default text)",
        )

    def noun(self, name: str, told: str) -> Callable[..., argparse.ArgumentParser]:
        """A noun; what it gives makes its verbs: `verb(name, told, call, tell)`."""
        parser = self._nouns.add_parser(
            name, help=told, description=told[:1].upper() + told[1:] + ".", allow_abbrev=False
        )
        verbs = parser.add_subparsers(dest="verb", metavar="verb", title="verbs", required=True)

        def verb(name: str, told: str, call: Call, tell: Tell) -> argparse.ArgumentParser:
            return self._leaf(verbs, name, told, Leaf(call, tell))

        return verb

    def alone(self, name: str, told: str, call: Call, tell: Tell) -> argparse.ArgumentParser:
        """A command without verbs."""
        return self._leaf(self._nouns, name, told, Leaf(call, tell))

    def _leaf(self, where: Any, name: str, told: str, leaf: Leaf) -> argparse.ArgumentParser:
        parser: argparse.ArgumentParser = where.add_parser(
            name,
            help=told,
            description=told[:1].upper() + told[1:] + ".",
            parents=[self.common],
            allow_abbrev=False,
        )
        parser.set_defaults(leaf=leaf)
        return parser


def done(answer: Any) -> str:
    """A verb that has nothing to tell."""
    return ""


def fault_told(answer: Any) -> str:
    """A fault: its number, by which `ctl fault` knows it, and what it does."""
    return f"{answer['number']}: {answer['text']}"


def pairs(option: str, given: list[str] | None) -> dict[str, str]:
    """NAME=VALUE options as a table. Raises UsageError."""
    found = {}
    for text in given or ():
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise UsageError(f"{option} {text!r}: write NAME=VALUE")
        found[name] = value
    return found


def offsets(option: str, given: list[str] | None) -> dict[str, int]:
    """TOPIC-PARTITION=OFFSET options as a table. Raises UsageError."""
    found = {}
    for name, value in pairs(option, given).items():
        if not value.isdecimal():
            raise UsageError(
                f"{option} {name}={value}: write TOPIC-PARTITION=OFFSET, such as orders-0=10"
            )
        found[name] = int(value)
    return found


def table(rows: list[list[Any]]) -> str:
    """Rows in columns."""
    texts = [["" if cell is None else str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in texts
    )
