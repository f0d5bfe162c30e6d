"""Durable events of the groups of one partition of __consumer_offsets. They belong to the
partition, not to its leader.

The leader appends; a broker that loads the partition folds them (ERR-7). Events have offsets,
like records in Kafka. Below the high watermark they are compacted at once by key, as Kafka's
cleaner does in the end: a group's membership record by the next one, a commit by a later commit
of the same partition, all of a group by its deletion. Events above the high watermark are kept
as they are, for they may be truncated. With one replica the high watermark is the end. Folding
the remaining events gives the same group as folding all. Does not know served groups, time or
requests.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator
from itertools import chain
from operator import itemgetter
from typing import NamedTuple

from coordinator.events import groups as ev

from ..groups.durable_keys import KEYED, Targets, is_beginning, narrowed, owned, released
from ..groups.evolve import evolve
from ..groups.group import Group


class StoredEvent(NamedTuple):
    """A durable event with its offset and time."""

    offset: int
    at_ms: int
    group: str
    event: ev.Event


class DurableEvents:
    """Durable events of one partition of __consumer_offsets."""

    def __init__(self, *, replicated: bool = False) -> None:
        """`replicated`: `commit_up_to` moves the high watermark; otherwise it is the end."""
        self.end = 0
        """The offset of the next event."""
        self.high_watermark = 0
        self._replicated = replicated
        self._groups: dict[str, _CompactedEvents] = {}
        self._tail: list[StoredEvent] = []
        self._waiting: dict[int, dict[str, None]] = {}

    # -- writing

    def append(self, at_ms: int, group: str, event: ev.Event) -> int:
        """Append an event; return its offset."""
        offset = self.end
        self.end = end = offset + 1
        committed = type(event) is ev.OffsetsCommitted  # which come most
        if not committed:
            self._note_transaction(group, event)
        if self._replicated:
            self._tail.append(StoredEvent(offset, at_ms, group, event))
            return offset
        self.high_watermark = end
        compacted = self._groups.get(group) if committed else None
        if compacted is None:
            self._compact(offset, at_ms, group, event)
        else:
            compacted.put(offset, at_ms, event)
        return offset

    def commit_up_to(self, high_watermark: int) -> None:
        """Raise the high watermark: every replica has the events before it, so they are never
        truncated.
        """
        reached = [stored for stored in self._tail if stored.offset < high_watermark]
        del self._tail[: len(reached)]
        for stored in reached:
            self._compact(*stored)
        self.high_watermark = max(self.high_watermark, min(high_watermark, self.end))

    def truncate(self, to_offset: int) -> None:
        """Remove the events from an offset on: a replica without them became the leader."""
        assert to_offset >= self.high_watermark, (
            f"what stands before {self.high_watermark} is never lost"
        )
        self._tail = [stored for stored in self._tail if stored.offset < to_offset]
        self.end = min(self.end, to_offset)
        self._waiting = {}
        for stored in self.events():
            self._note_transaction(stored.group, stored.event)

    def clear(self) -> None:
        """Remove all events after the partition was deleted; a new one begins at offset 0."""
        self.end = self.high_watermark = 0
        self._groups.clear()
        self._tail.clear()
        self._waiting.clear()

    # -- reading

    def events(self, from_offset: int = 0) -> Iterator[StoredEvent]:
        """Yield the remaining events from an offset on, by offset."""
        compacted = [
            StoredEvent(offset, at_ms, group, event)
            for group, events in self._groups.items()
            for offset, at_ms, event in events.rows()
            if offset >= from_offset
        ]
        return chain(
            sorted(compacted, key=lambda stored: stored.offset),
            (s for s in self._tail if s.offset >= from_offset),
        )

    def groups(self) -> list[str]:
        """Return the ids of the groups that a load finds."""
        if not self._tail:
            return list(self._groups)
        found = dict.fromkeys(self._groups)
        for stored in self._tail:
            if type(stored.event) is ev.GroupDeleted:
                found.pop(stored.group, None)
            else:
                found.setdefault(stored.group)
        return list(found)

    def events_of(self, group: str) -> list[tuple[int, ev.Event]]:
        """Return the times and events of a group; none if a load does not find it."""
        compacted = self._groups.get(group)
        rows = [] if compacted is None else [(at_ms, event) for _, at_ms, event in compacted.rows()]
        for stored in self._tail:
            if stored.group != group:
                continue
            if type(stored.event) is ev.GroupDeleted:
                rows.clear()
            else:
                rows.append((stored.at_ms, stored.event))
        return rows

    def fold(self, group_id: str) -> Group:
        """Return a group folded from its durable events, still `loading`."""
        rows = self.events_of(group_id)
        return fold_events(Group(group_id, rows[0][0], loading=True), rows)

    def committed_view(self, group_id: str, group: Group | None) -> Group | None:
        """Return a group without its events above the high watermark; `group` itself if there are
        none.
        """
        if not any(stored.group == group_id for stored in self._tail):
            return group
        compacted = self._groups.get(group_id)
        rows = [] if compacted is None else [(at_ms, event) for _, at_ms, event in compacted.rows()]
        return fold_events(Group(group_id, rows[0][0], loading=True), rows) if rows else None

    def waiting_for(self, producer_id: int) -> list[str]:
        """Return the groups with pending offsets of a producer's transaction."""
        return list(self._waiting.get(producer_id, ()))

    # -- inside

    def _note_transaction(self, group: str, event: ev.Event) -> None:
        kind = type(event)
        if kind is ev.OffsetsPending:
            self._waiting.setdefault(event.producer_id, {})[group] = None  # type: ignore[union-attr]
        elif kind is ev.PendingOffsetsEnded:
            self._no_longer_waits(group, [event.producer_id])  # type: ignore[union-attr]
        elif kind is ev.GroupDeleted and self._waiting:
            self._no_longer_waits(group, list(self._waiting))

    def _no_longer_waits(self, group: str, producers: list[int]) -> None:
        for producer_id in producers:
            groups = self._waiting.get(producer_id)
            if groups is not None:
                groups.pop(group, None)
                if not groups:
                    del self._waiting[producer_id]

    def _compact(self, offset: int, at_ms: int, group: str, event: ev.Event) -> None:
        if type(event) is ev.GroupDeleted:
            self._groups.pop(group, None)
            return
        events = self._groups.get(group)
        if events is None:
            events = self._groups[group] = _CompactedEvents()
        events.put(offset, at_ms, event)


def fold_events(group: Group, rows: Iterable[tuple[int, ev.Event]]) -> Group:
    """Fold durable events into a loading group; return it."""
    for at_ms, event in rows:
        evolve(group, event, at_ms)
    return group


class _Entry:
    """One event, and the number of its keys that no later event has replaced. `partly`: some are
    replaced.
    """

    __slots__ = ("at_ms", "event", "live", "partly")

    def __init__(self, at_ms: int, event: ev.Event, live: int) -> None:
        self.at_ms = at_ms
        self.event = event
        self.live = live
        self.partly = False


_MEMBERSHIP = "membership"
_offset = itemgetter(0)


def _is_partition(key: Hashable) -> bool:
    return isinstance(key, tuple) and isinstance(key[1], int)


class _CompactedEvents:
    """Events of one group that still matter, by offset."""

    __slots__ = ("_entries", "_owners", "_pending", "_single")

    def __init__(self) -> None:
        self._entries: dict[int, _Entry] = {}
        self._owners: dict[Hashable, int] = {}  # key -> offset of the event that has its value
        self._pending: dict[int, list[int]] = {}  # producer id -> offsets of its OffsetsPending
        self._single: dict[Hashable, tuple[int, int, ev.Event]] = {}
        """Commits of one partition, by that partition, as `rows` gives them: the most frequent
        events. They are in no other table."""

    def rows(self) -> Iterable[tuple[int, int, ev.Event]]:
        """Return offset, time and event of each; of a commit only the partitions that no later
        event has.
        """
        rows = [
            (
                offset,
                entry.at_ms,
                self._current(offset, entry.event) if entry.partly else entry.event,
            )
            for offset, entry in self._entries.items()
        ]
        if self._single:
            rows += self._single.values()
            rows.sort(key=_offset)
        return rows

    def _current(self, offset: int, event: ev.Event) -> ev.Event:
        if isinstance(event, Targets):
            return narrowed(event, lambda key: self._owners.get(key) == offset)
        if not isinstance(event, ev.OffsetsCommitted):
            return event
        return event._replace(
            offsets=tuple(
                o for o in event.offsets if self._owners.get((o.topic, o.partition)) == offset
            )
        )

    def put(self, offset: int, at_ms: int, event: ev.Event) -> None:
        """Add the latest event."""
        if type(event) is ev.OffsetsCommitted and len(event.offsets) == 1:
            key = event.offsets[0][:2]
            if key in self._owners:
                self._release(key)
            self._single[key] = offset, at_ms, event
            return
        if type(event) in KEYED and not is_beginning(event):
            self._keyed(offset, at_ms, event)
            return
        match event:
            case ev.OffsetsCommitted(offsets=offsets):
                keys: dict[Hashable, None] = dict.fromkeys([o[:2] for o in offsets])
                self._own(offset, keys)
                self._entries[offset] = _Entry(at_ms, event, len(keys))
            case ev.OffsetsPending(producer_id=producer_id):
                self._pending.setdefault(producer_id, []).append(offset)
                self._entries[offset] = _Entry(at_ms, event, 1)
            case ev.PendingOffsetsEnded(producer_id=producer_id, partitions=partitions):
                self._end(producer_id, partitions)
            case ev.OffsetsRemoved(partitions=partitions):
                for key in partitions:
                    self._release(key)
                self._cancel(frozenset(partitions))
            case _:
                if is_beginning(event):
                    for about in [about for about in self._owners if not _is_partition(about)]:
                        self._release(about)
                self._own(offset, {_MEMBERSHIP: None})
                self._entries[offset] = _Entry(at_ms, event, 1)

    def _keyed(self, offset: int, at_ms: int, event: ev.Event) -> None:
        for key in released(event):
            self._release(key)
        keys = owned(event)
        self._own(offset, keys)
        if keys:
            self._entries[offset] = _Entry(at_ms, event, len(keys))

    def _own(self, offset: int, keys: Collection[Hashable]) -> None:
        owners = self._owners
        former = owners.get(next(iter(keys))) if len(keys) > 1 else None
        if former is not None and self._entries[former].live == len(keys) == list(
            map(owners.get, keys)
        ).count(former):
            del self._entries[
                former
            ]  # all that is left of one event, as when a member commits the same partitions again
            owners.update(dict.fromkeys(keys, offset))
            return
        for key in keys:
            self._release(key)
            self._owners[key] = offset

    def _release(self, key: Hashable) -> None:
        """Drop the value of a key: its event if nothing else of it matters, or the obsolete part
        once that is the larger one.
        """
        offset = self._owners.pop(key, None)
        if offset is None:
            if self._single:
                self._single.pop(key, None)
            return
        entry = self._entries[offset]
        entry.live -= 1
        if not entry.live:
            del self._entries[offset]
        else:
            entry.partly = True
            if isinstance(entry.event, ev.OffsetsCommitted) and entry.live * 2 < len(
                entry.event.offsets
            ):
                entry.event, entry.partly = self._current(offset, entry.event), False

    def _end(self, producer_id: int, partitions: Iterable[tuple[str, int]]) -> None:
        """End a transaction. Its committed offsets become plain commits at the place where they
        were pending (TXN-5).
        """
        counting = set(partitions)
        for offset in reversed(self._pending.pop(producer_id, [])):
            entry = self._entries[offset]
            pending = entry.event
            assert isinstance(pending, ev.OffsetsPending)
            kept = tuple(o for o in pending.offsets if (o.topic, o.partition) in counting)
            keys: dict[Hashable, None] = dict.fromkeys((o.topic, o.partition) for o in kept)
            counting.difference_update(keys)
            if not kept:
                del self._entries[offset]
                continue
            self._own(offset, keys)
            entry.event, entry.live = ev.OffsetsCommitted(pending.member_id, kept), len(keys)

    def _cancel(self, partitions: frozenset[tuple[str, int]]) -> None:
        """Remove deleted offsets from pending commits (TXN-7)."""
        for producer_id, offsets in list(self._pending.items()):
            for offset in list(offsets):
                entry = self._entries[offset]
                assert isinstance(entry.event, ev.OffsetsPending)
                kept = tuple(
                    o for o in entry.event.offsets if (o.topic, o.partition) not in partitions
                )
                if kept:
                    entry.event = entry.event._replace(offsets=kept)
                else:
                    del self._entries[offset]
                    offsets.remove(offset)
            if not offsets:
                del self._pending[producer_id]
