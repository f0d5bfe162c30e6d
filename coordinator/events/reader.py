"""Reading the lines of a log from text. Does not depend on groups, on the protocol or on files
(`files`).

A log may hold several runs, one after the other; each begins with its header. A last line that
is cut short (its writer was killed) is left out; unknown types, streams and fields are kept. Any
other text that is not a log is refused with file, line, and what would be right; a malicious
text raises LogError and nothing else.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple, NoReturn

from .envelope import FORMAT_VERSION, HEADER_TYPE
from .line import Line, LogError
from .strict_json import loads
from .values import shortened
from .vocabulary import TYPES, unknown

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

_NO_UTF8: Final = "\ufffd"
"""The character read for bytes not in UTF-8. The log itself is ASCII."""


class Run(NamedTuple):
    """One run in a file: its name, the number of its header's line (from 1), and the offset of that
    line in bytes.
    """

    name: str
    number: int
    offset: int


class Lines(Iterator[Line]):
    """An iterator over the lines of one run. `name` is the log's name, `number` the number of the
    latest line.
    """

    def __init__(self, texts: Iterable[str], name: str, before: int = 0) -> None:
        self.name = name
        self._texts = iter(texts)
        self._parser = Parser(name, before)
        self._ended = False

    @property
    def number(self) -> int:
        """Return the number of the latest line."""
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


def read_lines(lines: Iterable[str], name: str = "log", run: str | None = None) -> Iterator[Line]:
    """Return the lines of a run from lines of text, header first: of the last run, or of the last
    that is called `run`. A line without its newline can only be the last; if it is cut short it is
    left out. Raises LogError."""
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
    chosen_run(found, run, name)
    return Lines(kept[0], name, kept[1])


class LineNumbers:
    """Line numbers in a file by `seq`. A filtered log has gaps; only the gaps are stored."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._seqs: list[int] = []
        self._numbers: list[int] = []

    def add(self, seq: int, number: int) -> None:
        """Add the next line."""
        if not self._seqs or number - seq != self._numbers[-1] - self._seqs[-1]:
            self._seqs.append(seq)
            self._numbers.append(number)

    def error(self, seq: int, what: str) -> LogError:
        """Return the error about the line with this `seq`."""
        at = max(0, bisect_right(self._seqs, seq) - 1)
        number = self._numbers[at] + seq - self._seqs[at] if self._seqs else 1
        return LogError(self.name, number, f"seq {seq}: {what}")


def numbered(lines: Iterable[Line]) -> Iterator[tuple[int, Line]]:
    """Yield lines with their numbers in their file, or numbered from 1 if they are not from a file."""
    for index, line in enumerate(lines, 1):
        yield getattr(lines, "number", index), line


def run_begun_by(text: str) -> str | None:
    """Return the name of the run whose header this line is; None for any other line."""
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


def chosen_run(found: list[Run], run: str | None, name: str) -> int:
    """Return the index of a run among those found. Raises LogError if there is none of that name."""
    if run is None:
        return max(0, len(found) - 1)
    for at in range(len(found) - 1, -1, -1):
        if found[at].name == run:
            return at
    names = ", ".join(shortened(one.name) for one in found[-10:]) or "none"
    raise LogError(name, 1, f"there is no run {shortened(run)} in this log; its runs are {names}")


class Parser:
    """A parser of log lines, one at a time, also of a log that still grows. A header after other
    lines begins a new run.
    """

    def __init__(self, name: str = "log", before: int = 0) -> None:
        self.name = name
        self.number = before
        self.seq = -1

    def parse(self, text: str) -> Line | None:
        """Return the line of a text; None for an empty one and for one that is cut short. Raises
        LogError."""
        self.number += 1
        if not text.strip():
            return None
        if not text.isascii() and _NO_UTF8 in text:
            raise self._error("bytes that are no UTF-8: the line is damaged")
        try:
            plain = loads(text)
        except ValueError as error:
            if not text.endswith("\n"):
                return None
            raise self._error(
                f"not JSON ({error}): a log has one JSON object a line, such as `coordinator serve --log` writes"
            ) from None
        if not isinstance(plain, dict):
            raise self._error(
                f"{shortened(text)} is JSON, but no object: a log has one JSON object a line"
            )
        return self._line(plain)

    def finish(self) -> None:
        """End the reading. Raises LogError if there was no line at all."""
        if self.seq < 0:
            raise LogError(
                self.name, 1, "empty: the first line of a log is its run header (seq 0, RunStarted)"
            )

    def _line(self, plain: dict[str, Any]) -> Line:
        get = plain.get
        seq, at_ms, run = get("seq"), get("at_ms"), get("run")
        stream, name, cause = get("stream"), get("type"), get("cause")
        if not (
            type(seq) is int
            and type(at_ms) is int
            and type(run) is str
            and type(stream) is str
            and type(name) is str
        ):
            self._no_envelope(plain)
        if cause is not None and not (type(cause) is int and cause < seq):
            raise self._error(f'"cause": {shortened(cause)}: an earlier line\'s seq, or null')
        if self.seq < 0 or (seq == 0 and name == HEADER_TYPE):
            self._check_header(plain)
        elif seq <= self.seq:
            raise self._error(f"seq {seq} after {self.seq}: numbers only grow in one run's log")
        type_ = TYPES.get((stream, name))
        if type_ is None:
            type_ = unknown(stream, name)
        if not type_.holds(plain) and (wrong := type_.complaint(plain)):
            raise self._error(wrong)
        self.seq = seq
        return Line(
            seq,
            at_ms,
            run,
            type_,
            cause,
            get("group"),
            get("generation"),
            get("member"),
            get("broker"),
            get("topic"),
            get("partition"),
            None,
            plain,
            (self.name, self.number),
        )

    def _no_envelope(self, line: Mapping[str, Any]) -> NoReturn:
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
