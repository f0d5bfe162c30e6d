"""Folds a piece of a log: its runs, the lines that cannot be read, and counts that add up.

A bad line goes to quarantine, with its place and the error, and the fold goes on with the next.
Each run has a parser of its own, so a run of another version, or without a header, harms only
itself. `lines` = `events` + `quarantined` + `blank` + `cut_short`.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from coordinator.base.contradictions import UNFIT, what_failed
from coordinator.events.line import LogError
from coordinator.events.reader import Parser, run_begun_by

from ..schemas import Row
from ..sources import Piece, Text, texts
from .run import RunFold

_SHOWN = 200


class Counts(NamedTuple):
    """Numbers of a piece's lines, by their outcome."""

    lines: int = 0
    events: int = 0
    quarantined: int = 0
    blank: int = 0
    cut_short: int = 0
    runs: int = 0

    def plus(self, other: Counts) -> Counts:
        """Return the sum of both."""
        return Counts(*(mine + its for mine, its in zip(self, other, strict=True)))

    def add_up(self) -> bool:
        """Return True if every line is accounted for."""
        return self.lines == self.events + self.quarantined + self.blank + self.cut_short


def fold_piece(
    piece: Piece, emit: Callable[[str, Row], None], about: Mapping[str, str] | None = None
) -> Counts:
    """Fold all runs of a piece. A file that cannot be read to its end is a row in quarantine.
    Raises OSError if it cannot be opened."""
    fold = _PieceFold(piece.path, emit, about, piece.earlier)
    last = Text(piece.line - 1, piece.begin, "")
    try:
        for text in texts(piece):
            last = text
            fold.line(text)
    except (EOFError, zlib.error) as error:
        fold.unreadable(last, error)
    except OSError as error:
        if (
            last.number < piece.line and error.errno is not None
        ):  # the system's; what a decompressor says of bytes has no number
            raise
        fold.unreadable(last, error)
    fold.end()
    return fold.counts()


def fold_texts(
    lines: Iterable[str],
    log: str,
    emit: Callable[[str, Row], None],
    about: Mapping[str, str] | None = None,
) -> Counts:
    """Fold lines of text, such as those of a log in memory."""
    fold, offset = _PieceFold(log, emit, about), 0
    for number, text in enumerate(lines, 1):
        fold.line(Text(number, offset, text))
        offset += len(text.encode())
    fold.end()
    return fold.counts()


class _PieceFold:
    def __init__(
        self,
        log: str,
        emit: Callable[[str, Row], None],
        about: Mapping[str, str] | None,
        earlier: int = 0,
    ) -> None:
        self._log = log
        self._emit = emit
        self._about = about
        self._lines = self._events = self._quarantined = self._blank = self._cut = self._runs = 0
        self._names: dict[str, int] = {}
        self._earlier = earlier
        self._fold: RunFold | None = None
        self._begin(None)

    def counts(self) -> Counts:
        return Counts(
            self._lines, self._events, self._quarantined, self._blank, self._cut, self._runs
        )

    def line(self, text: Text) -> None:
        self._lines += 1
        name = run_begun_by(text.text)
        if name is not None:
            self.end()
            self._begin(name)
        self._parser.number, seq = text.number - 1, self._parser.seq
        try:
            line = self._parser.parse(text.text)
            if line is None:
                self._nothing(text)
                return
            if line.run != self._run:
                raise LogError(
                    self._log,
                    text.number,
                    f"a line of run {line.run!r} among those of run {self._run!r}",
                )
            assert self._fold is not None  # the parser wants a header first
            self._fold.feed(line)
        except LogError as error:
            self._parser.seq = seq
            self._quarantine(text, str(error))
        except UNFIT as error:
            self._parser.seq = seq
            self._quarantine(
                text,
                f"not what its type has ({what_failed(error)}); docs/event_log.md says what it has",
            )
        else:
            self._events += 1

    def unreadable(self, last: Text, error: Exception) -> None:
        """Note that reading the file ended in an error after a line."""
        end = last.offset + len(last.text.encode())
        self._emit(
            "quarantine",
            (
                self._log,
                last.number + 1,
                end,
                self._run_id,
                f"cannot be read any further: {error}",
                "",
            ),
        )
        self._quarantined += 1
        self._lines += 1
        self._bad += 1

    def end(self) -> None:
        """Finish the fold of the current run."""
        if self._fold is not None and self._fold.lines:
            self._fold.finish(quarantined=self._bad, cut_short=self._short)
            self._runs += 1
        self._fold = None

    def _begin(self, name: str | None) -> None:
        self._run = name
        self._parser = Parser(self._log)
        self._bad, self._short = 0, False
        self._run_id: str | None = None
        self._fold = None
        if name is not None:
            times = self._names[name] = self._names.get(name, self._earlier) + 1
            self._earlier = 0
            self._run_id = f"{self._log}#{name}" + (f"~{times}" if times > 1 else "")
            self._fold = RunFold(
                self._run_id, self._log, self._emit, about=self._about, numbered=True
            )

    def _nothing(self, text: Text) -> None:
        if text.text.strip():
            self._cut += 1
            self._short = True
        else:
            self._blank += 1

    def _quarantine(self, text: Text, reason: str) -> None:
        self._quarantined += 1
        self._bad += 1
        shown = text.text.rstrip("\n")[:_SHOWN]
        self._emit("quarantine", (self._log, text.number, text.offset, self._run_id, reason, shown))
