"""Follows a log file as it grows: the picture of its last run, fed line by line, and the readers
that wait for it.

A long file is read in slices, and there is a picture from the first slice on. A file that begins
a new run, or that was replaced, begins a new picture. If the file is no log, or no longer one, a
sentence says so. Reads the log's public format alone, so any process may write the file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from os import PathLike, fspath
from threading import Condition
from typing import Any

from coordinator.base.contradictions import UNFIT, what_failed
from coordinator.base.printable import printable
from coordinator.base.slices import uncollected
from coordinator.events.envelope import HEADER_TYPE
from coordinator.events.files import runs
from coordinator.events.line import Line, LogError
from coordinator.events.reader import Parser, Run

from . import in_pieces
from .exports.copying import CopyError
from .long_logs import FileSteps
from .picture import Picture

LONG_BYTES = 32 << 20
"""From this size on, commits are counted instead of folded."""
MOST_FOLDED = 1_000_000
"""Highest number of lines of a run that change its picture, since each is drawn. Counted commits
are not included."""
MOST_LINES = 5_000_000
"""Highest number of lines of a run, including commits: the page holds the instant of each."""
_HEADER = HEADER_TYPE.encode()
MOST_AT_ONCE = 1 << 20
"""Bytes read by one poll: other requests wait no longer than that takes."""
MOST_LINE = 64 << 20
"""Longest line in bytes."""
_TELLS = 1.5
"""While a long log is read, waiting readers get a new picture each time that it has grown by
this factor, because a picture takes time, too."""


class Follower:
    """One log file. `run`: the name of the run to show, and only that; None: the last run, even
    if it begins later. `called`: the name of the file for readers, if not its path. `grows`: the
    file may grow; otherwise its last line counts without a newline, and damaged lines are left
    out."""

    def __init__(
        self,
        path: str | PathLike[str],
        run: str | None = None,
        called: str | None = None,
        *,
        grows: bool = True,
    ) -> None:
        """Read the file as it is. Raises LogError, OSError."""
        self.path = fspath(path)
        self.called = self.path if called is None else called
        self.name = self.called.rpartition("/")[2]
        self.grows = grows
        self.version = 0
        self.problem: str | None = None
        self._run = run
        self._changed = Condition()
        self._ends: int | None = None
        self._plain: tuple[int, bytes] = (-1, b"")
        self._closed = False
        self.behind = False
        """The file has more lines, which the next poll reads."""
        self.cut = False
        """The file ended within a line."""
        self.damaged: list[str] = []
        """Errors in the middle of a file that does not grow; these lines are left out."""
        self._begin(*self._place())
        self.poll()
        if self.problem is not None:
            raise self._error  # nothing that could be shown: say so at once

    def _place(self) -> tuple[int, int]:
        """Return the offset at which the run begins, and the number of the line before it."""
        found = runs(self.path)
        at = len(found) - 1
        if self._run is not None:
            at = max(
                (place for place, one in enumerate(found) if one.name == self._run), default=-1
            )
            if at < 0:
                raise LogError(
                    self.called,
                    1,
                    f"there is no run {self._run} in this log; its runs are {_names(found)}",
                )
            self._ends = found[at + 1].offset if at + 1 < len(found) else None
        return (found[at].offset, found[at].number - 1) if found else (0, 0)

    def _begin(self, offset: int, before: int) -> None:
        self._is_long = os.stat(self.path).st_size - offset > LONG_BYTES
        self._steps = FileSteps(self.path)
        self.picture = Picture(steps=self._steps)
        self._parser = Parser(self.called, before)
        self._first = before + 1
        self._offset = self._begun = offset
        self._size = self._next_told = offset
        self.behind = False
        self._error = LogError(self.called, 1, "")

    def poll(self) -> bool:
        """Read the next slice of the file; return True if there was one. Waiting readers are
        notified."""
        with self._changed:
            before = self.version
            taken = False
            with self._failing():
                with open(self.path, "rb") as file:
                    self._size = file.seek(0, 2)
                    if self._size < self._offset:
                        self.problem = None  # another file than the one that could not be shown
                        self._begin(0, 0)
                        self._size = file.seek(0, 2)
                        self.version += 1
                    elif self.problem is not None:
                        return False
                    taken = self._take(file)
                    if not self.grows and not self.behind:
                        self._finish(file)
                if self._parser.seq < 0 and before == 0 and not self.behind:
                    self._parser.finish()
            if self.version != before:
                self._changed.notify_all()
            return taken or self.version != before

    def _finish(self, file: Any) -> None:
        """Read the last line of a file that does not grow, even without a newline, unless it is
        cut short."""
        file.seek(self._offset)
        text = file.read(MOST_LINE)
        if text.strip():
            self.cut = not _is_whole(text)
            if not self.cut or self._parser.seq < 0:
                self._lines(text)
            self._offset += len(text)
            self.version += 1

    @contextmanager
    def _failing(self) -> Iterator[None]:
        """Keep an error of reading or folding as `problem`."""
        try:
            yield
        except LogError as error:
            self._fail(error)
        except UNFIT as error:
            what = f"no line as docs/event_log.md has it ({what_failed(error)})"
            self._fail(LogError(self.called, self._parser.number, what))
        except OSError as error:
            said = f"cannot be read any more: {error.strerror or error}"
            self._fail(LogError(self.called, 1, said))

    def _take(self, file: Any) -> bool:
        """Read the next slice: whole lines, at least one if there is one."""
        end = self._size if self._ends is None else min(self._size, self._ends)
        most = MOST_AT_ONCE
        while True:
            file.seek(self._offset)
            data = file.read(min(most, end - self._offset))
            whole = data.rfind(b"\n") + 1
            self.behind = self._offset + len(data) < end
            if whole or not self.behind:
                break
            if most >= MOST_LINE:
                said = f"a line of more than {MOST_LINE >> 20} MiB: no event log has one"
                raise LogError(self.called, self._parser.number + 1, said)
            most *= 2  # one line is longer than a slice
        if not whole:
            return False
        uncollected(self._lines, data[: whole - 1])
        self._offset += whole
        if not self.behind or self._offset >= self._next_told:
            self._next_told = self._begun + int((self._offset - self._begun) * _TELLS)
            self.version += 1
        return True

    def _lines(self, data: bytes) -> None:
        """Read whole lines, the first of which stands at `_offset`."""
        at = self._offset
        for text in data.split(b"\n"):
            self._line(text, at)
            at += len(text) + 1

    def _line(self, text: bytes, offset: int) -> None:
        """Read one line at `offset`. Raises LogError and the errors of folding."""
        steps, picture = self._steps, self.picture
        steps.offset = offset
        if self._is_long:
            if picture.commits.takes(text, self._parser, steps, picture.fold.timeline):
                self._bounded()
                return
            picture.commits.tell(picture.fold.timeline)
        if (
            self._run is None
            and self._parser.seq >= 0
            and _HEADER in text
            and b'"seq":0,' in text.replace(b" ", b"")
        ):
            self._is_long, self._first = False, self._parser.number + 1
            steps = self._steps = FileSteps(self.path)
            steps.offset = offset
            picture = self.picture = Picture(steps=steps)
        line = self._parsed(text)
        if line is not None:
            picture.fold.feed(line)
            self._bounded()

    def _parsed(self, text: bytes) -> Line | None:
        """Return a line, or None if it is not drawn. A damaged line raises LogError, except in
        the middle of a file that does not grow."""
        try:
            return self._parser.parse(text.decode("utf-8", "replace") + "\n")
        except LogError as error:
            if self.grows or self._parser.seq < 0:
                raise
            self.damaged.append(str(error))
            return None

    def _bounded(self) -> None:
        """Raise LogError if the run is longer than a page can show."""
        count, commits = self._parser.number - self._first + 1, self.picture.commits.count
        if count > MOST_LINES or count - commits > MOST_FOLDED:
            last = self._parser.number - 1
            raise LogError(
                self.called,
                self._parser.number,
                (
                    f"this run is longer than the page can show: at most {MOST_LINES:,} lines, {MOST_FOLDED:,} of them no commits; "
                    f"show its beginning: `sed -n '{self._first},{last}p' LOG > part.jsonl; coordinator watch part.jsonl`"
                ),
            )

    def _fail(self, error: LogError) -> None:
        self.behind = False
        if self.problem is None:
            self.problem, self._error = str(error), error
            self.version += 1

    def plain(self) -> bytes:
        """Return the picture as JSON, or the sentence that says why there is none. `reading`:
        the bytes that were read and the file's total, while more is to be read."""
        with self._changed:
            if self._plain[0] != self.version:
                value: dict[str, Any] = {"error": self.problem}
                if self.problem is None:
                    value = {"name": self.name, "picture": self.picture.values(), "cut": self.cut}
                    if self.damaged:
                        value["damaged"] = len(self.damaged), printable(self.damaged[0])
                    if self.behind:
                        value["reading"] = self.reading()
                written = BytesIO()
                self._plain = self.version, b""
                for piece in in_pieces.text(value):
                    written.write(piece.encode("ascii"))
                self._plain = self.version, written.getvalue()
            return self._plain[1]

    def reading(self) -> tuple[int, int]:
        """Return the number of bytes of the run that were read, and their total."""
        end = self._size if self._ends is None else self._ends
        return self._offset - self._begun, end - self._begun

    def steps(self, begin: int, end: int) -> bytes:
        """Return some steps as JSON."""
        with self._changed:
            try:
                value: dict[str, Any] = {"steps": self.picture.steps(begin, end)}
            except (LogError, OSError) as error:  # the file is another one, or gone
                value = {"steps": [], "error": printable(str(error))}
            return json.dumps(value, separators=(",", ":")).encode("ascii")

    def copy(self, group: str) -> bytes:
        """Return a group as a scenario for the simulator, as JSON, or the sentence that says why
        not."""
        with self._changed:
            try:
                value = self.picture.fold.copier.copy(group)._asdict()
            except CopyError as error:
                value = {"error": str(error)}
            return json.dumps(value, separators=(",", ":")).encode("ascii")

    def wait(self, version: int, timeout_s: float) -> int:
        """Return the version when it differs from `version`, the time is over, or the follower
        is closed."""
        with self._changed:
            self._changed.wait_for(lambda: self.version != version or self._closed, timeout_s)
            return self.version

    @property
    def closed(self) -> bool:
        """Return True if the follower was closed."""
        return self._closed

    def close(self) -> None:
        """Release all waiting readers."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()


def _is_whole(text: bytes) -> bool:
    """Return True if a last line is complete."""
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _names(found: list[Run]) -> str:
    return ", ".join(one.name for one in found[-10:]) or "none"
