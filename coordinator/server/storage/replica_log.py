"""Replica of a partition's log at one of several brokers.

Owns what a replica adds to `PartitionLog`: copying from its leader batch by batch (bytes are
shared), finding the offset where it diverges from the leader's log by leader epochs (KIP-101,
KIP-279), truncation, and a high watermark behind its end. The state of producers and
transactions always follows from the batches that are kept. Does not know who leads; see
`cluster.replication`.
"""

from __future__ import annotations

from bisect import bisect_left
from copy import deepcopy

from .aborted import AbortedTransactions
from .append_checks import RECORDS
from .offset_index import OffsetIndex
from .partition_log import _BELOW_ALL, EpochEnd, Marker, PartitionLog
from .producers import Producers
from .record_codec import read_records
from .records import CONTROL, TRANSACTIONAL, parse_header


class ReplicaLog(PartitionLog):
    """Log of one replica. `committed`: its high watermark, as far as this broker knows."""

    __slots__ = ("_known_at_start", "committed")

    def __init__(self, leader_epoch: int = 0) -> None:
        self.committed = 0
        self._known_at_start: list[tuple[int, Producers]] = []
        """This broker's reading of producers each time that it started, and where the log ended
        then."""
        super().__init__(leader_epoch)

    @property
    def high_watermark(self) -> int:
        """The offset behind the last record that every in-sync replica has."""
        return self.committed

    @property
    def last_epoch(self) -> int:
        """The newest leader epoch in this log."""
        return self._epochs[-1].epoch

    def follow(self, leader: PartitionLog, max_bytes: int | None = None) -> int:
        """Copy the leader's batches beyond this log's end, at most `max_bytes` but at least one
        batch; return the bytes copied.

        The logs must agree up to this one's end (`diverges_at`). A follower behind the leader's
        log start offset starts anew there.
        """
        if self.log_end_offset < leader.log_start_offset:
            self._begin_at(leader.log_start_offset)
        copied, starts = 0, leader._segments
        following = bisect_left(starts, self.log_end_offset)
        for i in range(
            bisect_left(leader._last_offsets, self.log_end_offset), len(leader._last_offsets)
        ):
            head, body = leader._pieces[2 * i : 2 * i + 2]
            if max_bytes is not None and copied and copied + len(head) + len(body) > max_bytes:
                break
            while following < len(starts) and starts[following] <= leader._last_offsets[i]:
                self._begin_segment(starts[following])
                following += 1
            self._take(head, body)
            copied += len(head) + len(body)
        if leader._modified_ms:
            self._modified_ms |= leader._modified_ms
        if (
            self.log_end_offset == leader.log_end_offset
            and leader._epochs[-1].epoch > self._epochs[-1].epoch
        ):
            self._epochs += [
                entry for entry in leader._epochs if entry.epoch > self._epochs[-1].epoch
            ]  # epochs without batches yet
        return copied

    def diverges_at(self, leader: PartitionLog) -> int:
        """Return the first offset at which this log differs from the leader's; its own end if there
        is none.
        """
        at = self.log_end_offset
        for entry in reversed(self._epochs):
            end = leader.epoch_end(entry.epoch)
            if (
                end.epoch == entry.epoch
            ):  # both know the epoch: they agree up to where it ends first
                return min(at, end.end_offset)
            at = min(
                at, entry.end_offset
            )  # the leader never saw it: all of it goes (here `end_offset` is where it starts)
        return min(at, leader.log_end_offset)

    def restarted(self, now_ms: int, expiration_ms: int) -> None:
        """Reduce the producers' state to that of Kafka's snapshots, which a restarted broker reads
        (`Producers.as_written`).
        """
        self.producers = self.producers.as_written(now_ms, expiration_ms)
        end = self.log_end_offset
        if self._known_at_start and self._known_at_start[-1][0] == end:
            self._known_at_start.pop()
        self._known_at_start.append(
            (end, deepcopy(self.producers) if self.producers.states else Producers())
        )

    def truncate(self, end: int) -> None:
        """Drop every batch that contains `end` or a later offset, and the leader epochs from there
        on. Producers and transactions are computed again from the rest, where batches from
        before a restart count as that restart read them.
        """
        if end >= self.log_end_offset:
            while self._epochs and self._epochs[-1].end_offset >= end:
                self._epochs.pop()
            self._epochs = self._epochs or [EpochEnd(-1, end)]
            return
        live, kept = self._live, bisect_left(self._last_offsets, end)
        offsets, pieces = self._last_offsets[live:kept], self._pieces[2 * live : 2 * kept]
        start, modified = self.log_start_offset, self._modified_ms
        cleaned_to = min(self.cleaned_to, end)
        written = [entry for entry in self._known_at_start if entry[0] <= end]
        starts = [at for at in (self._first_segment, *self._segments) if at < end]
        first = self._header(live).base_offset if live < kept else end
        self._begin_at(first)
        self._known_at_start = written
        self._modified_ms = {at: ms for at, ms in modified.items() if at < end}
        following = 0
        for i in range(0, len(pieces), 2):
            while following < len(starts) and starts[following] <= offsets[i // 2]:
                self._begin_segment(starts[following])
                following += 1
            self._take(pieces[i], pieces[i + 1])
            if written and self.log_end_offset == written[-1][0]:
                self.producers = deepcopy(written[-1][1])
        self.log_start_offset = min(start, self.log_end_offset)
        self.cleaned_to = cleaned_to
        self.committed = min(self.committed, self.log_end_offset)

    def _begin_at(self, offset: int) -> None:
        """Drop every batch, and continue at an offset."""
        self._last_offsets, self._bodies_end, self._tops, self._pieces = [], [], [], []
        self._index = OffsetIndex()
        self.producers, self.aborted = Producers(), AbortedTransactions()
        self.transactions = {}
        self._first_position, self._highest = 0, None
        self._segments, self._segment_ms, self._first_segment = [], None, offset
        self._segment_position, self._top, self._created_ms = 0, _BELOW_ALL, None
        self._dropped_highest, self.cleaned_to = {}, offset
        self.changes += 1
        self._modified_ms, self._limits_of, self.calls_cleaner = {}, None, True
        self.log_start_offset = self.log_end_offset = offset
        self._epochs = [EpochEnd(-1, offset)]
        self._known_at_start = []

    def _take(self, head: bytes, body: bytes) -> None:
        """Append a batch as its leader stored it."""
        header = parse_header(head + body[:RECORDS])
        offset = header.base_offset
        if offset > self.log_end_offset:  # compaction took what was between
            self.log_end_offset = offset
        self.assign_epoch(header.leader_epoch)
        self._keep(header, head, body)
        if not header.has_producer:
            return
        if header.attributes & CONTROL:
            (marker,) = read_records(header, body[RECORDS:])
            assert marker.key is not None
            assert marker.value is not None
            coordinator_epoch = int.from_bytes(marker.value[2:6], "big", signed=True)
            told = Marker(
                header.producer_id,
                header.producer_epoch,
                marker.key[2:4] == b"\0\1",
                coordinator_epoch,
            )
            self._marked(told, offset, header.max_timestamp)
            return
        self.producers.appended(header, offset)
        if header.attributes & TRANSACTIONAL:
            self.transactions.setdefault(header.producer_id, offset)
