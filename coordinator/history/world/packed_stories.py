"""A timeline's memory of a log in a file, so that a million lines need not be in memory: the place
of each line in the file, and each group's story in packed form.

Recent entries are kept as they are; older ones are read again or unpacked on demand. Neither
changes what a timeline says. This module must not know how the file is read.
"""

from __future__ import annotations

import pickle
import zlib
from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, MutableMapping, MutableSequence
from itertools import islice
from typing import Any, Final, Generic, Protocol, TypeVar, overload

from coordinator.events.line import Line

from .groups.epochs import EpochView
from .views import Entry, Note, Rebalance

_KEPT_LINES: Final = 2048
"""Number of the newest lines that are kept at least; twice as many at most."""
_GONE: Final = -1
"""Stands for the place of a line that no later one refers to."""
_KEPT_ENTRIES: Final = 64
"""Number of the newest entries that are kept unpacked, because they may still change."""
_TOGETHER: Final = 16
"""Number of entries that are packed as one."""
_NONE: Final = -1


T = TypeVar("T", bound=Rebalance | Note | EpochView)


class LogFile(Protocol):
    """The file of a log. `offset`: place of the line that is read now."""

    offset: int

    def line_at(self, offset: int) -> Line:
        """Read a line again. Raises LogError, OSError."""


class FiledLines(MutableMapping[int, Line]):
    """Lines by number. Add them in the order of the log."""

    def __init__(self, file: LogFile) -> None:
        self._file = file
        self._recent: dict[int, tuple[int, Line]] = {}
        self._seqs = array("q")
        self._offsets = array("q")

    def __setitem__(self, seq: int, line: Line) -> None:
        recent = self._recent
        recent[seq] = self._file.offset, line
        if len(recent) > 2 * _KEPT_LINES:
            for old in list(islice(recent, _KEPT_LINES)):
                self._seqs.append(old)
                self._offsets.append(recent.pop(old)[0])

    def __getitem__(self, seq: int) -> Line:
        found = self._recent.get(seq)
        if found is not None:
            return found[1]
        return self._file.line_at(self._offsets[self._place(seq)])

    def __contains__(self, seq: object) -> bool:
        try:
            return seq in self._recent or (isinstance(seq, int) and self._place(seq) >= 0)
        except KeyError:
            return False

    def __delitem__(self, seq: int) -> None:
        if self._recent.pop(seq, None) is None:
            self._offsets[self._place(seq)] = _GONE

    def _place(self, seq: int) -> int:
        at = bisect_left(self._seqs, seq)
        if at == len(self._seqs) or self._seqs[at] != seq or self._offsets[at] == _GONE:
            raise KeyError(seq)
        return at

    def __iter__(self) -> Iterator[int]:
        yield from (
            seq for seq, offset in zip(self._seqs, self._offsets, strict=True) if offset != _GONE
        )
        yield from self._recent

    def __len__(self) -> int:
        return sum(1 for _ in self)


class FiledStory(MutableSequence[T], Generic[T]):
    """The story of a group, in order. Only the newest entries can be changed."""

    def __init__(self) -> None:
        self._packed: list[bytes] = []
        self._seqs = array("q")
        self._generations = array("q")
        self._open: dict[int, T] = {}
        """Old entries that may still change."""
        self._recent: list[T] = []
        self._unpacked: tuple[int, list[T]] = (_NONE, [])

    def __len__(self) -> int:
        return len(self._seqs) + len(self._recent)

    @overload
    def __getitem__(self, at: int) -> T: ...

    @overload
    def __getitem__(self, at: slice) -> list[T]: ...

    def __getitem__(self, at: int | slice) -> T | list[T]:
        if isinstance(at, slice):
            return [self[each] for each in range(*at.indices(len(self)))]
        place = self._in_recent(at)
        if place >= 0:
            return self._recent[place]
        return self._old(place + len(self._seqs))

    @overload
    def __setitem__(self, at: int, value: T) -> None: ...

    @overload
    def __setitem__(self, at: slice, value: Iterable[T]) -> None: ...

    def __setitem__(self, at: int | slice, value: T | Iterable[T]) -> None:
        raise TypeError("entries of a story are added and taken back, not replaced")

    def __delitem__(self, at: int | slice) -> None:
        for each in reversed(range(len(self))[at] if isinstance(at, slice) else [at]):
            place = self._in_recent(each)
            assert place >= 0, "what is packed does not change"
            del self._recent[place]

    def insert(self, at: int, value: T) -> None:
        """Add an entry; old ones are packed."""
        place = max(0, at - len(self._seqs))
        self._recent.insert(place, value)
        if len(self._recent) >= _KEPT_ENTRIES + _TOGETHER:
            last = next(
                (each for each in reversed(self._recent) if not isinstance(each, Note)), None
            )
            for at, each in enumerate(self._recent[:_TOGETHER], len(self._seqs)):
                if each is last or not _is_over(each):
                    self._open[at] = each
            self._pack(self._recent[:_TOGETHER])
            del self._recent[:_TOGETHER]

    def __iter__(self) -> Iterator[T]:
        for begin, packed in zip(range(0, len(self._seqs), _TOGETHER), self._packed, strict=True):
            for at, entry in enumerate(_unpacked(packed), begin):
                yield self._open.get(at, entry)
        yield from self._recent

    def among(self, seqs: Collection[int], generations: Collection[int]) -> Iterator[T]:
        """Yield the entries of these lines, the rebalances to these generations, and possibly
        others."""
        for at, (seq, generation) in enumerate(zip(self._seqs, self._generations, strict=True)):
            if seq in seqs or generation in generations or at in self._open:
                yield self._old(at)
        yield from self._recent

    def _in_recent(self, at: int) -> int:
        if not -len(self) <= at < len(self):
            raise IndexError(at)
        return at % len(self) - len(self._seqs)

    def _old(self, at: int) -> T:
        if at in self._open:
            return self._open[at]
        number, place = divmod(at, _TOGETHER)
        if self._unpacked[0] != number:
            self._unpacked = number, _unpacked(self._packed[number])
        return self._unpacked[1][place]

    def _pack(self, entries: list[T]) -> None:
        self._packed.append(zlib.compress(pickle.dumps(entries, pickle.HIGHEST_PROTOCOL), 1))
        for entry in entries:
            self._seqs.append(entry.seq)
            generation = entry.generation if isinstance(entry, Rebalance) else None
            self._generations.append(_NONE if generation is None else generation)


def _unpacked(packed: bytes) -> list[Any]:
    entries: list[Any] = pickle.loads(zlib.decompress(packed))
    return entries


def among(
    entries: Iterable[Entry], seqs: Collection[int], generations: Collection[int]
) -> Iterable[Entry]:
    """Yield from a story the entries of these lines, the rebalances to these generations, and
    all that are not packed."""
    return entries.among(seqs, generations) if isinstance(entries, FiledStory) else entries


def _is_over(entry: Rebalance | Note | EpochView) -> bool:
    """Return True if an entry that another one followed cannot change any more: it has an end,
    and no member that it names still stands still."""
    if isinstance(entry, EpochView):
        return entry.ended_ms is not None
    return not isinstance(entry, Rebalance) or all(
        share.pause is None or share.pause.to_ms is not None for share in entry.shares
    )
