"""The owners of a group's partitions over time, and for how long nobody worked on them.

A partition counts from the instant at which the group agreed to read its topic. Nobody works on
it while it has no owner, while no live broker leads it, or while all of its owners do nothing.
Where a member was silent until it expired, nobody knows when it stopped: that time counts for
the upper bound alone.

Does not read the log: `fold` calls it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Final, NamedTuple

from .processes import Key, Process
from .tracks import Track

PERHAPS: Final = "silent"
"""The answer to whether a partition was lost while its owners may have worked on it."""


class Owned(NamedTuple):
    """The owners of a partition, by the index of their processes. `still`: those that do nothing.
    `silent`: those that may do nothing. `leaderless`: no live broker leads the partition."""

    owners: tuple[int, ...]
    still: frozenset[int]
    silent: frozenset[int]
    leaderless: bool

    @property
    def lost(self) -> bool | str:
        """Return True if nobody works on the partition, False if somebody does, else PERHAPS."""
        if self.leaderless or self.still.issuperset(self.owners):
            return True
        return PERHAPS if self.silent and self.silent >= {*self.owners} - self.still else False


class Span(NamedTuple):
    """A time in which a partition had the same owners. `lost`: see `Owned`."""

    begin: int
    end: int
    owners: tuple[int, ...]
    lost: bool | str


class Lost(NamedTuple):
    """Milliseconds in which nobody worked on a partition, summed over partitions: the least that
    the log proves, and the most that it allows."""

    least_ms: int = 0
    most_ms: int = 0


_NOBODY: Final = frozenset[int]()


class Partitions:
    """The partitions of one group."""

    def __init__(self) -> None:
        self._tracks: dict[Key, Track[Owned]] = {}
        self._owners: dict[Key, tuple[int, ...]] = {}
        self._wanted: dict[str, int] = {}
        self._grown: dict[Key, int] = {}
        self._still: set[int] = set()
        """Processes that do nothing."""
        self._leaderless: set[Key] = set()

    def want(self, topic: str, at_ms: int) -> None:
        """Note that the group has agreed to read a topic: from then on its partitions wait for
        an owner."""
        self._wanted.setdefault(topic, at_ms)

    def keep_topics(self, topics: Collection[str], at_ms: int) -> None:
        """Note that the group reads these topics alone: partitions of others do not wait for an
        owner any more."""
        for topic in [topic for topic in self._wanted if topic not in topics]:
            del self._wanted[topic]
            for key, track in self._tracks.items():
                if key[0] == topic and not self._owners[key]:
                    track.set(None, at_ms)

    def grow(self, topic: str, numbers: Iterable[int], at_ms: int) -> None:
        """Note that a topic which is read got these partitions."""
        self._grown.update(((topic, number), at_ms) for number in numbers)

    def add(self, process: Process, keys: Iterable[Key], at_ms: int) -> None:
        """Add partitions to a process."""
        for key in keys:
            self._owners[key] = tuple(sorted({*self._owners.get(key, ()), process.index}))
            self._draw(key, at_ms)

    def remove(self, process: Process, keys: Iterable[Key], at_ms: int) -> None:
        """Remove partitions from a process."""
        for key in keys:
            self._owners[key] = tuple(
                index for index in self._owners.get(key, ()) if index != process.index
            )
            self._draw(key, at_ms)

    def refresh(self, process: Process, at_ms: int) -> None:
        """Note that a process does nothing, or works again."""
        (self._still.add if process.still else self._still.discard)(process.index)
        for key in process.partitions:
            self._draw(key, at_ms)

    def was_silent(self, process: Process, since_ms: int) -> None:
        """Note that a process may have done nothing since an instant."""
        self._revise(
            process,
            since_ms,
            lambda owned: owned._replace(silent=owned.silent | {process.index}),
        )

    def was_alive(self, process: Process, since_ms: int) -> None:
        """Note that a process worked since an instant, other than it seemed."""
        self._revise(
            process,
            since_ms,
            lambda owned: owned._replace(still=owned.still - {process.index}),
        )

    def _revise(self, process: Process, since_ms: int, change: Callable[[Owned], Owned]) -> None:
        def of_its(owned: Owned) -> Owned:
            return change(owned) if process.index in owned.owners else owned

        for key in process.partitions:
            if key in self._tracks:
                self._tracks[key].revise(since_ms, of_its)

    def without_leader(self, key: Key, lost: bool, at_ms: int) -> None:
        """Note that a partition lost its live leader, or has one again."""
        (self._leaderless.add if lost else self._leaderless.discard)(key)
        if key in self._tracks:
            self._set(key, at_ms)

    def _draw(self, key: Key, at_ms: int) -> None:
        if key not in self._tracks:
            self._tracks[key] = Track()
            since = max(self._wanted.get(key[0], at_ms), self._grown.get(key, 0))
            self._tracks[key].set(Owned((), _NOBODY, _NOBODY, False), min(since, at_ms))
        self._set(key, at_ms)

    def _set(self, key: Key, at_ms: int) -> None:
        owners = self._owners[key]
        still = frozenset(self._still.intersection(owners)) if self._still else _NOBODY
        leaderless = bool(owners) and key in self._leaderless
        self._tracks[key].set(Owned(owners, still, _NOBODY, leaderless), at_ms)

    # -- what became of them

    def known(self) -> list[Key]:
        """Return the partitions that were ever owned, in order."""
        return sorted(self._tracks)

    def spans(self, key: Key, end_ms: int, since_ms: int = -1) -> list[Span]:
        """Return the spans of a partition up to an instant; only those that end after
        `since_ms`."""
        spans: list[Span] = []
        for begin, end, owned in self._tracks[key].between(since_ms, end_ms):
            before = spans[-1] if spans else None
            lost = bool(owned.owners) and owned.lost
            if before is not None and before[1:] == (begin, owned.owners, lost):
                spans[-1] = before._replace(end=end)
            else:
                spans.append(Span(begin, end, owned.owners, lost))
        return spans

    def lost(self, end_ms: int, since_ms: int = -1) -> Iterator[tuple[Key, Span]]:
        """Yield the spans in which nobody worked on a partition, or perhaps nobody did. `since_ms`:
        as of `spans`."""
        for key in self._tracks:
            for span in self.spans(key, end_ms, since_ms):
                if span.lost or not span.owners:
                    yield key, span

    def sums(self, end_ms: int) -> Lost:
        """Return the time that was lost up to an instant."""
        least_ms = most_ms = 0
        for _, span in self.lost(end_ms):
            most_ms += span.end - span.begin
            least_ms += 0 if span.lost == PERHAPS else span.end - span.begin
        return Lost(least_ms, most_ms)

    def unowned_ms(self, end_ms: int) -> int:
        """Return the part of the lost time in which a partition had no owner although it had had
        one before."""
        total = 0
        for key in self._tracks:
            spans = self.spans(key, end_ms)
            later = spans[1:] if spans and not spans[0].owners else spans
            total += sum(span.end - span.begin for span in later if not span.owners)
        return total

    def still_ms(self, end_ms: int) -> int:
        """Return the part of the lost time in which partitions had owners: these did nothing, or
        perhaps nothing, or no live broker led the partition."""
        return sum(span.end - span.begin for _, span in self.lost(end_ms) if span.owners)
