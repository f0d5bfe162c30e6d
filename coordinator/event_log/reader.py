"""Reading a log as plain dictionaries: what a page, a report or a pipeline needs. Does not depend
on groups or on the protocol.

A file may hold several runs, one after the other; each begins with its header. `read` gives the
last run, or the one that is asked for by name; `runs` lists them. Lenient where a log may honestly
be odd: a last line cut short (its writer was killed) is left out, unknown types, streams and fields
are kept. Anything else that is no log is refused with file, line, and what would be right; a
hostile file raises LogError and nothing else.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from os import PathLike, fspath
from typing import Any, BinaryIO, Final, NamedTuple, NoReturn

from ..common.printable import printable
from .envelope import FORMAT_VERSION, HEADER_TYPE
from .fields import Complaint, checked
from .fields import shortened as shortened
from .strict_json import loads

Line = dict[str, Any]

_KINDS: tuple[tuple[str, type], ...] = (
    ("seq", int),
    ("at_ms", int),
    ("run", str),
    ("stream", str),
    ("type", str),
)
_NAMES = {int: "an integer", str: "a string"}
_HEADER_MARK: Final = f'"{HEADER_TYPE}"'
HEADER_BYTES: Final = _HEADER_MARK.encode()
"""The bytes in every header, and seldom elsewhere."""


_AT_ONCE: Final = 4 << 20
_NO_LINE: Final = 64 << 20
"""No line of a log has so many bytes."""
_NO_UTF8: Final = "\ufffd"
"""The character read for bytes not in UTF-8. The log itself is ASCII."""


class LogError(ValueError):
    """Something that is no event log: where, what stands there, what would be right."""

    def __init__(self, name: str, number: int, what: str) -> None:
        super().__init__(printable(f"{name}, line {number}: {what}"))
        self.number = number


class Run(NamedTuple):
    """One run in a file: its name, the number of its header's line (from 1), and where that line
    begins (in bytes)."""

    name: str
    number: int
    offset: int


class Lines(Iterator[Line]):
    """The lines of one run as dictionaries. `name` is the log's, `number` that of the line given
    last."""

    def __init__(self, texts: Iterable[str], name: str, before: int = 0) -> None:
        self.name = name
        self._texts = iter(texts)
        self._parser = Parser(name, before)
        self._ended = False

    @property
    def number(self) -> int:
        """The number of the line that was given last."""
        return self._parser.number

    def __next__(self) -> Line:
        for text in self._texts:
            line = self._parser.parse(text)
            if line is not None:
                return line
        if not self._ended:
            self._ended = True
            self._parser.finish()
        raise StopIteration


def runs(path: str | PathLike[str]) -> list[Run]:
    """The runs in a file, in their order. Raises OSError. A file that is no log has none."""
    found: list[Run] = []
    offset, number = 0, 1
    with open(path, "rb") as file:
        for lines in _whole_lines(file):
            at = counted = 0
            while (at := lines.find(HEADER_BYTES, at)) >= 0:
                begin, at = lines.rfind(b"\n", 0, at) + 1, lines.find(b"\n", at) + 1 or len(lines)
                number += lines.count(b"\n", counted, begin)
                counted = begin
                name = run_begun_by(str(lines[begin:at], "utf-8", "replace"))
                if name is not None:
                    found.append(Run(name, number, offset + begin))
            number += lines.count(b"\n", counted)
            offset += len(lines)
    return found


def _whole_lines(file: BinaryIO) -> Iterator[bytes]:
    """A file in pieces of some MiB that end with a line; the last one as it is."""
    rest, most = b"", _AT_ONCE
    while block := file.read(most):
        data = rest + block
        end = data.rfind(b"\n") + 1
        rest = data[end:]
        if end:
            most = _AT_ONCE
            yield data[:end]
        elif len(data) > _NO_LINE:
            rest, most = b"", _AT_ONCE
            yield data
        else:
            most *= 2  # one line is longer than a piece
    if rest:
        yield rest


def read(path: str | PathLike[str], run: str | None = None) -> Iterator[Line]:
    """The lines of a run, header first: of the last one, or of the last that is called `run`.

    Raises LogError, and OSError if the file cannot be read.
    """
    name = fspath(path)
    found = runs(path)
    at = _chosen(found, run, name)
    if (
        not found or found[0].number != 1
    ):  # no log from its first line on: reading it says what is wrong
        return Lines(_texts(path, 0, None), name)
    end = found[at + 1].offset if at + 1 < len(found) else None
    return Lines(_texts(path, found[at].offset, end), name, found[at].number - 1)


def read_lines(lines: Iterable[str], name: str = "log", run: str | None = None) -> Iterator[Line]:
    """The same from lines of text. One without its newline can only be the last; if it is cut short
    it is left out."""
    found: list[Run] = []
    texts: list[str] = []
    kept: tuple[list[str], int] = texts, 0
    for number, text in enumerate(lines, 1):
        begun = run_begun_by(text)
        if begun is not None:
            found.append(Run(begun, number, 0))
            if number > 1:
                texts = []
            if run is None or begun == run:
                kept = texts, number - 1
        texts.append(text)
    _chosen(found, run, name)
    return Lines(kept[0], name, kept[1])


class LineNumbers:
    """Which line of a log has which `seq`. A log that was filtered has gaps; each of them is kept,
    and nothing else."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._seqs: list[int] = []
        self._numbers: list[int] = []

    def add(self, seq: int, number: int) -> None:
        """The next line."""
        if not self._seqs or number - seq != self._numbers[-1] - self._seqs[-1]:
            self._seqs.append(seq)
            self._numbers.append(number)

    def error(self, seq: int, what: str) -> LogError:
        """The error about the line with this `seq`."""
        at = max(0, bisect_right(self._seqs, seq) - 1)
        number = self._numbers[at] + seq - self._seqs[at] if self._seqs else 1
        return LogError(self.name, number, f"seq {seq}: {what}")


def numbered(lines: Iterable[Line]) -> Iterator[tuple[int, Line]]:
    """Lines with their numbers in their file, or counted from 1 where they come from no file."""
    for index, line in enumerate(lines, 1):
        yield getattr(lines, "number", index), line


def _texts(path: str | PathLike[str], begin: int, end: int | None) -> Iterator[str]:
    with open(path, "rb") as file:
        file.seek(begin)
        yield from (str(text, "utf-8", "replace") for text in _until(file, begin, end))


def _until(file: BinaryIO, at: int, end: int | None) -> Iterator[bytes]:
    for text in file:
        if end is not None and at >= end:
            return
        at += len(text)
        yield text


def run_begun_by(text: str) -> str | None:
    """The name of the run whose header this line is; None for any other line."""
    if _HEADER_MARK not in text:
        return None
    try:
        line = loads(text)
    except ValueError:
        return None
    if (
        not isinstance(line, dict)
        or (line.get("type"), line.get("seq")) != (HEADER_TYPE, 0)
        or not isinstance(line.get("run"), str)
    ):
        return None
    return str(line["run"])


def _chosen(found: list[Run], run: str | None, name: str) -> int:
    """The place of a run among those found. Raises LogError if there is none of that name."""
    if run is None:
        return max(0, len(found) - 1)
    for at in range(len(found) - 1, -1, -1):
        if found[at].name == run:
            return at
    names = ", ".join(shortened(one.name) for one in found[-10:]) or "none"
    raise LogError(name, 1, f"there is no run {shortened(run)} in this log; its runs are {names}")


class Parser:
    """Reads a log line by line, as it grows if need be. A header in its midst begins a new run."""

    def __init__(self, name: str = "log", before: int = 0) -> None:
        self.name = name
        self.number = before
        self.seq = -1

    def parse(self, text: str) -> Line | None:
        """One line; None for an empty one and for one that is cut short. Raises LogError."""
        self.number += 1
        if not text.strip():
            return None
        if not text.isascii() and _NO_UTF8 in text:
            raise self._error("bytes that are no UTF-8: the line is damaged")
        try:
            line = loads(text)
        except ValueError as error:
            if not text.endswith("\n"):
                return None
            raise self._error(
                f"not JSON ({error}): a log has one JSON object a line, such as `coordinator serve --log` writes"
            ) from None
        if not isinstance(line, dict):
            raise self._error(
                f"{shortened(text)} is JSON, but no object: a log has one JSON object a line"
            )
        self._check(line)
        return line

    def finish(self) -> None:
        """The end was reached. Raises LogError if there was no line at all."""
        if self.seq < 0:
            raise LogError(
                self.name, 1, "empty: the first line of a log is its run header (seq 0, RunStarted)"
            )

    def _check(self, line: Line) -> None:
        get = line.get
        seq, cause = get("seq"), get("cause")
        if not (
            type(seq) is int
            and type(get("at_ms")) is int
            and type(get("run")) is str
            and type(get("stream")) is str
            and type(get("type")) is str
        ):
            self._no_envelope(line)
        if cause is not None and not (type(cause) is int and cause < seq):
            raise self._error(f'"cause": {shortened(cause)}: an earlier line\'s seq, or null')
        if self.seq < 0 or (seq == 0 and line["type"] == HEADER_TYPE):
            self._check_header(line)
        elif seq <= self.seq:
            raise self._error(f"seq {seq} after {self.seq}: numbers only grow in one run's log")
        try:
            checked(line)
        except Complaint as error:
            raise self._error(str(error)) from None
        self.seq = seq

    def _no_envelope(self, line: Line) -> NoReturn:
        key, kind = next((key, kind) for key, kind in _KINDS if type(line.get(key)) is not kind)
        found = (
            f"{shortened(line[key])} where {_NAMES[kind]} should be"
            if key in line
            else f"no such field; it is {_NAMES[kind]}"
        )
        raise self._error(
            f'"{key}": {found}. Is this an event log? docs/event_log.md has its envelope'
        )

    def _check_header(self, line: Mapping[str, Any]) -> None:
        if line["type"] != HEADER_TYPE:
            kind = shortened(line["type"])
            raise self._error(
                f"{kind} comes first: the first line of a log is its run header (seq 0, {HEADER_TYPE})"
            )
        version = line.get("format")
        if type(version) is not int or not 1 <= version <= FORMAT_VERSION:
            raise self._error(
                f'"format": {shortened(version)}: this version reads formats 1 to {FORMAT_VERSION}; a newer `coordinator` may read it'
            )

    def _error(self, what: str) -> LogError:
        return LogError(self.name, self.number, what)
