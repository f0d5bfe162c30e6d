"""Partitions of `__share_group_state` that a broker serves as share coordinator: their loading and
unloading.

A broker that becomes leader of a partition reads its own copy of the log before it answers
(SH-LD-2), in slices, and discards the states when it stops leading (SH-LD-3). Every change is an
event. Does not know why leaders change.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from coordinator.core.shards.availability import Availability, Leadership
from coordinator.core.share_states.decide import counted_on
from coordinator.core.share_states.evolve import evolve
from coordinator.core.share_states.model import ShareState, ShareStateKey
from coordinator.core.share_states.reading import event_of
from coordinator.events import share_states as ev
from coordinator.events.availability import (
    AvailabilityEvent,
    ShareStatesEmptied,
    ShareStatesLoaded,
    ShareStatesLoading,
    ShareStatesUnloaded,
)

from ..cluster.model import SHARE_GROUP_STATE
from ..storage.record_codec import read_records
from ..storage.records import CODEC_MASK, CONTROL, HEADER_SIZE, BatchHeader, parse_header

if TYPE_CHECKING:
    from coordinator.base.errors import ErrorCode

    from ..storage.partition_log import PartitionLog
    from .host import ShareHost

UPDATES = "share.coordinator.snapshot.update.records.per.snapshot"
States = dict[ShareStateKey, ShareState]
SLICE = 1_000
"""So many records are read in one `tick`."""
_READ_BYTES = 65_536


def fold(states: States, key: ShareStateKey, event: ev.Event) -> None:
    """Apply an event to the states."""
    if isinstance(event, ev.ShareStateDeleted):
        states.pop(key, None)
    else:
        evolve(states.setdefault(key, ShareState()), event)


def read_back(log: PartitionLog, states: States, updates_a_snapshot: int) -> Iterator[None]:
    """Apply the records of a log from its start to its end, yielding after each."""
    at = log.log_start_offset
    while at < log.log_end_offset:
        data = log.read(max(at, log.log_start_offset), _READ_BYTES, across=True)
        begins = 0
        while len(data) - begins >= HEADER_SIZE:
            header = parse_header(data, begins)
            ends = begins + header.size
            if ends > len(data):
                break
            payload = data[begins + HEADER_SIZE : ends]
            yield from _fold_batch(header, payload, states, updates_a_snapshot)
            begins, at = ends, header.last_offset + 1


def _fold_batch(
    header: BatchHeader, payload: bytes, states: States, updates_a_snapshot: int
) -> Iterator[None]:
    """Apply a batch's records. Control and compressed batches are skipped: the share coordinator
    does not write compressed ones.
    """
    if header.attributes & (CONTROL | CODEC_MASK):
        return
    for of in read_records(header, payload):
        known = None if of.key is None else event_of(of.key, of.value)
        if known is not None:
            key, event = known
            if isinstance(event, ev.ShareStateSnapshotted):
                event = event._replace(updates=counted_on(states.get(key), updates_a_snapshot))
            fold(states, key, event)
        yield


class StateLoads:
    """Served partitions of one of several brokers. `by_partition`: the states of each."""

    def __init__(self, broker: ShareHost, by_partition: dict[int, States]) -> None:
        self._broker = broker
        self._by_partition = by_partition
        self._availability = Availability(leads_all=False)
        self._loads: dict[int, tuple[int, Iterator[None]]] = {}
        """Of partitions that are loading: since when, and what is left to be read."""

    def error(self, partition: int) -> ErrorCode:
        """Return the error for requests about a partition's states, or NONE if it is served."""
        return self._availability.error(partition)

    def is_served(self, partition: int) -> bool:
        """Return True if the broker serves or loads a partition."""
        return self._availability.of(partition) is not Leadership.NOT_LED

    def lacks_replicas(self, partition: int) -> bool:
        """Return True if the ISR is too small for a write."""
        topic = self._broker.cluster.topics[SHARE_GROUP_STATE]
        of = topic.partitions[partition]
        wanted = min(topic.effective_int("min.insync.replicas"), len(of.replicas))
        return len(of.isr) < wanted

    def begin(self, partition: int, load_ms: int, now: int) -> None:
        """Load a partition, starting `load_ms` from now."""
        found = self._broker.cluster.partition(SHARE_GROUP_STATE, partition)
        assert found is not None
        self._change(ShareStatesLoading((partition,)), now)
        states = self._by_partition[partition] = {}
        updates = self._broker.configs.get_int(UPDATES)
        self._loads[partition] = now + load_ms, read_back(found.log, states, updates)
        self.tick(now)

    def unload(self, partition: int, now: int) -> None:
        """Stop serving a partition."""
        self._forget(ShareStatesUnloaded((partition,)), now)

    def unload_all(self, now: int) -> None:
        """Stop serving all partitions, because the broker stops."""
        if self._by_partition:
            self._forget(ShareStatesUnloaded(tuple(sorted(self._by_partition))), now)

    def empty(self, now: int) -> None:
        """Discard all states, because the topic was deleted."""
        if self._by_partition:
            self._forget(ShareStatesEmptied(tuple(sorted(self._by_partition))), now)

    def next_deadline(self) -> int | None:
        """Return the instant at which `tick` is due, or None."""
        return min((since for since, _ in self._loads.values()), default=None)

    def tick(self, now: int) -> None:
        """Continue the loads, one slice for all together."""
        left = SLICE
        for partition, (since, rest) in list(self._loads.items()):
            if since > now:
                continue
            while left > 0:
                left -= 1
                if next(rest, _DONE) is _DONE:
                    del self._loads[partition]
                    self._change(ShareStatesLoaded((partition,)), now)
                    break

    def _forget(self, event: ShareStatesUnloaded | ShareStatesEmptied, now: int) -> None:
        self._change(event, now)
        for partition in event.partitions:
            self._loads.pop(partition, None)
            self._by_partition.pop(partition, None)
        if self._broker.share_peers is not None:
            self._broker.share_peers.moved()

    def _change(self, event: AvailabilityEvent, now: int) -> None:
        self._availability.evolve(event)
        if self._broker.log is not None:
            self._broker.log.coordinator_event(event, now, None, self._broker.node_id)


_DONE = object()
