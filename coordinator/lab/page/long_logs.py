"""Opens a long log in seconds: steps stay in the file, and commits are counted instead of folded.

In a log of a million lines nearly all are successful commits. They change no state, no member
and no owner, but they are signs of life. `Commits` recognises their lines without reading them
as JSON and remembers the last one of each member, so that an expiry is still explained by the
right sign of life. A reader can step to them as to any other line; they are not drawn as dots.
"""

from __future__ import annotations

import re
from array import array
from collections import deque
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import BinaryIO, Final, Protocol

from coordinator.events.line import Line, LogError
from coordinator.events.reader import Parser
from coordinator.history.world.timeline import Timeline

_COMMIT: Final = re.compile(
    rb'\{"seq":(\d{1,18}),"at_ms":(\d{1,18}),"run":"[^"\\]*","stream":"(?:'
    rb'wire","type":"Request(?:Seen|Answered)","cause":(?:\d+|null),"group":"([^"\\]*)"(?:,"generation":\d+)?(?:,"member":"([^"\\]*)")?'
    rb'(?:,"broker":\d+)?,"api":"offset_(?:commit|fetch)"|'
    rb'group","type":"OffsetsCommitted","cause":(?:\d+|null),"group":"([^"\\]*)")'
)


_MOST_RECENT: Final = 6000
"""Number of the newest lines that are kept: those that a live picture asks for."""


class Steps(Protocol):
    """The lines that a reader steps through."""

    def add(self, line: Line) -> None:
        """Add the next step."""

    def __len__(self) -> int: ...

    def instants(self) -> Sequence[int]:
        """Return the instant of each step."""

    def read(self, begin: int, end: int) -> list[Line]:
        """Return some steps."""


class KeptSteps:
    """Steps in memory."""

    def __init__(self) -> None:
        self._lines: list[Line] = []

    def add(self, line: Line) -> None:
        """See `Steps`."""
        self._lines.append(line)

    def __len__(self) -> int:
        return len(self._lines)

    def instants(self) -> Sequence[int]:
        """See `Steps`."""
        return [line.at_ms for line in self._lines]

    def read(self, begin: int, end: int) -> list[Line]:
        """See `Steps`."""
        return self._lines[begin:end]


class FileSteps:
    """Steps that stay in their file: 16 bytes each here, and the newest lines. `offset`: place
    of the line that is read now, set by the reader."""

    def __init__(self, path: str) -> None:
        self.offset = 0
        self._path = path
        self._instants = array("q")
        self._offsets = array("q")
        self._recent: deque[Line | None] = deque(maxlen=_MOST_RECENT)

    def add(self, line: Line) -> None:
        """See `Steps`."""
        self._add(line.at_ms, line)

    def pass_over(self, at_ms: int) -> None:
        """Add a step whose line was not read."""
        self._add(at_ms, None)

    def _add(self, at_ms: int, line: Line | None) -> None:
        self._instants.append(at_ms)
        self._offsets.append(self.offset)
        self._recent.append(line)

    def __len__(self) -> int:
        return len(self._offsets)

    def instants(self) -> Sequence[int]:
        """See `Steps`."""
        return self._instants

    def read(self, begin: int, end: int) -> list[Line]:
        """See Steps. Raises LogError, OSError."""
        offsets = self._offsets[begin:end]
        first = len(self._offsets) - len(self._recent)
        kept = islice(self._recent, max(0, begin - first), max(0, end - first))
        lines: list[Line | None] = [*[None] * min(len(offsets), max(0, first - begin)), *kept]
        if None not in lines:
            return [line for line in lines if line is not None]
        with open(self._path, "rb") as file:
            return [
                self._line(file, offset) if line is None else line
                for offset, line in zip(offsets, lines, strict=True)
            ]

    def line_at(self, offset: int) -> Line:
        """Read a line again, step or not. Raises LogError, OSError."""
        with open(self._path, "rb") as file:
            return self._line(file, offset)

    def _line(self, file: BinaryIO, offset: int) -> Line:
        file.seek(offset)
        parser = Parser(self._path)
        parser.seq = 0  # in the midst of a run
        line = parser.parse(file.readline().decode("utf-8", "replace"))
        if line is None:
            raise LogError(self._path, 1, "the file was changed while it was read")
        return line


class Commits:
    """Lines of commits that are counted, and what is known of them."""

    def __init__(self) -> None:
        self.count = 0
        self._last: dict[tuple[bytes, bytes], int] = {}
        self._told: dict[bytes, int] = {}

    def takes(self, text: bytes, parser: Parser, steps: FileSteps, timeline: Timeline) -> bool:
        """Return True if the line is a commit; then it is counted."""
        found = _COMMIT.match(text)
        if found is None or not text.endswith(b"}"):
            return False
        seq, at_ms = int(found[1]), int(found[2])
        if seq <= parser.seq:
            return False  # its order is wrong: reading it says so
        parser.seq, parser.number = seq, parser.number + 1
        steps.pass_over(at_ms)
        timeline.end_ms = max(timeline.end_ms, at_ms)
        self.count += 1
        if found[4]:
            self._last[found[3], found[4]] = at_ms
        elif found[5] is not None:
            self._told[found[5]] = self._told.get(found[5], 0) + 1
        return True

    def tell(self, timeline: Timeline) -> None:
        """Tell the timeline, before a line is folded, what the counted commits mean for members
        and groups."""
        for (name, member_id), at_ms in self._last.items():
            group = timeline.groups.get(name.decode("utf-8", "replace"))
            member = (
                group.members.get(member_id.decode("utf-8", "replace"))
                if group is not None
                else None
            )
            if member is not None and at_ms >= member.seen_ms:
                member.seen_ms, member.seen_by = at_ms, "offset_commit"
        for name, count in self._told.items():
            group = timeline.groups.get(name.decode("utf-8", "replace"))
            if group is not None:
                group.commits += count
        self._last.clear()
        self._told.clear()


def by_seq(lines: Iterable[Line]) -> dict[int, Line]:
    """Return lines by their number."""
    return {line.seq: line for line in lines}
