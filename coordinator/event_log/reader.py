"""Reading the log as plain dictionaries: what a page, a report or a pipeline needs, and nothing of the heart.

Lenient where a log may honestly be odd: a last line cut short (its writer was killed) is left out, unknown types, streams
and fields are kept. Anything else that is no log is refused with file, line, and what would be right.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from os import PathLike, fspath
from typing import Any

from .envelope import FORMAT_VERSION, HEADER_TYPE

Line = dict[str, Any]

_KINDS: tuple[tuple[str, type], ...] = (("seq", int), ("at_ms", int), ("run", str), ("stream", str), ("type", str))
_NAMES = {int: "an integer", str: "a string"}


class LogError(ValueError):
    """Something that is no event log: where, what stands there, what would be right."""

    def __init__(self, name: str, number: int, what: str) -> None:
        super().__init__(f"{name}, line {number}: {what}")
        self.number = number


def read(path: str | PathLike[str]) -> Iterator[Line]:
    """The lines of a log, header first. Raises LogError, and OSError if the file cannot be read."""
    with open(path, "rb") as file:
        yield from read_lines((str(line, "utf-8", "replace") for line in file), fspath(path))


def read_lines(lines: Iterable[str], name: str = "log") -> Iterator[Line]:
    """The same from lines of text. One without its newline can only be the last; if it is cut short it is left out."""
    parser = Parser(name)
    for text in lines:
        line = parser.parse(text)
        if line is not None:
            yield line
    parser.finish()


class Parser:
    """Reads a log line by line, as it grows if need be."""

    def __init__(self, name: str = "log") -> None:
        self.name = name
        self.number = 0
        self.seq = -1

    def parse(self, text: str) -> Line | None:
        """One line; None for an empty one and for one that is cut short. Raises LogError."""
        self.number += 1
        if not text.strip():
            return None
        try:
            line = json.loads(text)
        except ValueError as error:
            if not text.endswith("\n"):
                return None
            raise self._error(f"not JSON ({error}): a log has one JSON object a line, such as `coordinator serve --log` writes") from None
        if not isinstance(line, dict):
            raise self._error(f"{shortened(text)} is JSON, but no object: a log has one JSON object a line")
        self._check(line)
        return line

    def finish(self) -> None:
        """The end was reached. Raises LogError if there was no line at all."""
        if self.seq < 0:
            raise LogError(self.name, 1, "empty: the first line of a log is its run header (seq 0, RunStarted)")

    def _check(self, line: Line) -> None:
        for key, kind in _KINDS:
            if type(line.get(key)) is not kind:
                found = f"{line[key]!r} where {_NAMES[kind]} should be" if key in line else f"no such field; it is {_NAMES[kind]}"
                raise self._error(f'"{key}": {found}. Is this an event log? docs/event_log.md has its envelope')
        cause = line.get("cause")
        if cause is not None and not (type(cause) is int and cause < line["seq"]):
            raise self._error(f'"cause": {cause!r}: an earlier line\'s seq, or null')
        if self.seq < 0:
            self._check_header(line)
        elif line["seq"] <= self.seq:
            raise self._error(f"seq {line['seq']} after {self.seq}: numbers only grow in one run's log; explain runs one by one")
        self.seq = line["seq"]

    def _check_header(self, line: Line) -> None:
        if line["type"] != HEADER_TYPE:
            raise self._error(f"{line['type']} comes first: the first line of a log is its run header (seq 0, {HEADER_TYPE})")
        version = line.get("format")
        if type(version) is not int or not 1 <= version <= FORMAT_VERSION:
            raise self._error(f'"format": {version!r}: this version reads formats 1 to {FORMAT_VERSION}; a newer `coordinator` may read it')

    def _error(self, what: str) -> LogError:
        return LogError(self.name, self.number, what)


def shortened(text: str, most: int = 60) -> str:
    """A piece of a stranger's text that is fit for a message."""
    text = text.strip()
    return repr(text if len(text) <= most else text[:most] + "...")
