"""The common part of judges of share groups: values by ranges of offsets, the handling of the
stream `share`, and the history of a group's setting."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import Generic, TypeVar

from coordinator.events.availability import LogTruncated
from coordinator.events.cluster import ConfigChanged
from coordinator.events.handlers import Reader, on
from coordinator.events.share_partitions import (
    RecordsAcknowledged,
    RecordsAcquired,
    RecordsArchived,
    RecordsReleased,
)
from coordinator.events.share_states import (
    ShareStateDeleted,
    ShareStateSnapshotted,
    ShareStateUpdated,
)

from .base import NEVER, Judge, Line

Key = tuple[str, str, int]
"""A share partition: group, topic and partition number."""
V = TypeVar("V")
Ending = RecordsAcknowledged | RecordsReleased | RecordsArchived
"""Events that end a member's hold of records."""
Moving = RecordsAcquired | Ending
"""Events that change the state of records in flight."""


class Spans(Generic[V]):
    """Values by ranges of offsets that do not overlap."""

    __slots__ = ("_found", "_starts")

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._found: list[tuple[int, V]] = []  # last offset, value

    def within(self, first: int, last: int) -> Iterator[tuple[int, int, V]]:
        """Yield the ranges that overlap this one, cut to it, in order."""
        at = max(bisect_right(self._starts, first) - 1, 0)
        while at < len(self._starts) and self._starts[at] <= last:
            end, value = self._found[at]
            if end >= first:
                yield max(first, self._starts[at]), min(last, end), value
            at += 1

    def put(self, first: int, last: int, value: V | None) -> None:
        """Set the value of a range; None removes it."""
        low = bisect_right(self._starts, first) - 1
        if low < 0 or self._found[low][0] < first:
            low += 1
        high = bisect_right(self._starts, last)
        starts: list[int] = []
        found: list[tuple[int, V]] = []
        if low < high and self._starts[low] < first:
            starts.append(self._starts[low])
            found.append((first - 1, self._found[low][1]))
        if value is not None:
            starts.append(first)
            found.append((last, value))
        if low < high and self._found[high - 1][0] > last:
            starts.append(last + 1)
            found.append(self._found[high - 1])
        self._starts[low:high], self._found[low:high] = starts, found


Highest = TypeVar("Highest", int, tuple[int, int])


def put_highest(spans: Spans[Highest], first: int, last: int, value: Highest) -> None:
    """Set a value as `put` does, unless the present one is higher: a share coordinator keeps the
    highest delivery count, and a write that is tried again may come after a later one."""
    higher = [each for each in spans.within(first, last) if each[2] > value]
    spans.put(first, last, value)
    for at, end, known in higher:
        spans.put(at, end, known)


class LostStates(Reader):
    """Share partitions of which a later share coordinator may lack stored states: a record of
    `__share_group_state` was on the former leader's disk alone."""

    def __init__(self) -> None:
        self._stored: dict[int, Key] = {}

    @on(ShareStateSnapshotted, ShareStateUpdated, ShareStateDeleted)
    def _was_stored(
        self, line: Line, _: ShareStateSnapshotted | ShareStateUpdated | ShareStateDeleted
    ) -> None:
        if line.broker is not None:
            self._stored[line.seq] = key_of(line)

    def by(self, event: LogTruncated) -> set[Key]:
        """Return the share partitions of which this truncation loses something."""
        if event.topic != "__share_group_state":
            return set()
        return {self._stored[seq] for seq in event.lost if seq in self._stored}


class StateEpochs:
    """State epoch of each share partition, as share coordinators store it. It rises when the
    state is initialised again. `by_hand`: True if offsets of a group may have been altered
    without a line in the log; then the state may begin again at the same epoch."""

    def __init__(self, *, by_hand: bool) -> None:
        self._by_hand = by_hand
        self._known: dict[Key, int] = {}

    def begins_anew(self, key: Key, event: ShareStateSnapshotted) -> bool:
        """Note a snapshot; return True if it initialises the state again."""
        before = self._known.get(key)
        self._known[key] = event.state_epoch
        is_empty = not event.batches and event.complete_count <= 0
        return is_empty and (self._by_hand or before is None or event.state_epoch > before)

    def forget(self, key: Key) -> None:
        """Forget a state that was deleted, or whose last records were lost with a broker."""
        self._known.pop(key, None)


class SettingOfGroups:
    """One setting of groups, a whole number, from the log. `default`: its value for a group
    without one of its own, or None if that is unknown."""

    def __init__(self, name: str, default: int | None) -> None:
        self._name = name
        self.default = default
        self._told: dict[str, list[tuple[int, int | None]]] = {}
        """For each group the instants at which the setting was changed, with the values; None:
        the default."""

    def changed(self, line: Line, event: ConfigChanged) -> None:
        """Note a change of configuration."""
        if event.resource != "group":
            return
        told = self._told.setdefault(event.name, [])
        before = told[-1][1] if told else None
        value = None if event.replace else before
        for name, _, text in event.changes:
            if name == self._name:
                value = int(text) if text is not None and text.isdecimal() else None
        if value != before:
            told.append((line.at_ms, value))

    def now(self, group: str) -> int | None:
        """Return the value in force for a group."""
        told = self._told.get(group)
        value = told[-1][1] if told else None
        return self.default if value is None else value

    def since(self, group: str, at_ms: int) -> list[int | None]:
        """Return all values that were in force for a group at this instant or later, in order."""
        told = [(-1, None), *self._told.get(group, ())]
        ends_ms = [*(began_ms for began_ms, _ in told[1:]), NEVER]
        return [
            self.default if value is None else value
            for (_, value), end_ms in zip(told, ends_ms, strict=True)
            if end_ms >= at_ms
        ]


def key_of(line: Line) -> Key:
    """Return the share partition of a line."""
    return line.group or "", line.topic or "", line.partition or 0


def told(line: Line) -> str:
    """Return the share partition of a line as text."""
    return f"{line.topic}-{line.partition} of share group {line.group}"


class JudgeOfShares(Judge):
    """A judge of share groups. It has no verdict on a log without share groups."""

    needs = frozenset({"share"})
    unasked = True
