"""Fetcher of a consumer: from positions to records (KIP-74, KIP-98), and the start without a
position (`auto.offset.reset`).

Owns records that are fetched but not yet returned. One fetch for each broker at a time, for
partitions without buffered records; a record is returned once for each time its partition is
assigned; with read_committed, records of aborted transactions are left out. A position moves
when records are returned, never before: the next commit contains it. A partition is read from
the replica that its leader names (KIP-392) for metadata.max.age.ms, or until an error there.
Fetch sessions (KIP-227) are not used. Does not know membership: the caller says which partitions
are owned.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from assignors import TopicPartition
from coordinator.base.errors import ErrorCode
from coordinator.wire.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from coordinator.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from coordinator.wire.primitives import WireError
from coordinator.wire.schema import Response

from ..backoff import Backoff
from ..effects import Effect, Node, Position
from ..faults import MemberFault, Refused, code_of
from ..leaders import Leaders
from ..record_batches import ReadRecord, read_batches
from .fetch_config import FetchConfig

_TIMESTAMP_OF: Final = {"latest": -1, "earliest": -2}
_LEADER_MOVED: Final = frozenset(
    {
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.REPLICA_NOT_AVAILABLE,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.LISTENER_NOT_FOUND,
        ErrorCode.OFFSET_NOT_AVAILABLE,
    }
)


class NoOffset(MemberFault):
    """Fault: a partition has no position, and auto.offset.reset = none forbids to choose one."""

    def __init__(self, partition: TopicPartition, why: str) -> None:
        self.partition = partition
        where = f"{partition.topic}-{partition.partition}"
        super().__init__(
            f"{where}: {why}, and auto.offset.reset is none: seek, or set it to earliest or latest"
        )


class Polled(NamedTuple):
    """Records of one partition, in order, as one poll returns them."""

    partition: TopicPartition
    records: tuple[ReadRecord, ...]


class Reset(NamedTuple):
    """A position chosen by auto.offset.reset."""

    partition: TopicPartition
    offset: int
    why: str


class _Reading:
    """State of one owned partition. `end`: the offset after all fetched records."""

    __slots__ = (
        "again_at",
        "asked",
        "buffer",
        "end",
        "epoch",
        "given",
        "near",
        "near_until",
        "resetting",
    )

    def __init__(self) -> None:
        self.buffer: deque[ReadRecord] = deque()
        self.given: Position | None = None
        """The position that this was read from on: another one means that the application has moved
        it. None until the committed offset, or another beginning, is known."""
        self.end = 0
        self.epoch = -1
        self.asked = False
        self.again_at = 0
        self.near: int | None = None
        """The replica from which it is read instead of its leader, by its node id."""
        self.near_until = 0
        self.resetting = ""
        """The reason for which a position is being reset; "" if none is."""


_Wanted = tuple[TopicPartition, _Reading, int]
"""A partition that is to be fetched, what is known of its reading, and the epoch of its leader."""
_Whence = tuple[list[tuple[TopicPartition, int]], list[int]]
"""Partitions with their offsets, and the epochs of their leaders."""


class Fetcher:
    """Reader of owned partitions. `committed`: isolation.level is read_committed. `rack`:
    client.rack; `max_age_ms`: metadata.max.age.ms. Answers go to `receive`.
    """

    def __init__(
        self,
        config: FetchConfig,
        *,
        committed: bool,
        timeout_ms: int,
        backoff: Backoff,
        rack: str = "",
        max_age_ms: int = 300_000,
    ) -> None:
        self.config = config
        self.leaders = Leaders(timeout_ms, backoff)
        self.resets: list[Reset] = []
        """Positions that were reset since the caller last cleared the list."""
        self._committed = committed
        self._backoff = backoff
        self._rack = rack
        self._max_age_ms = max_age_ms
        self._readings: dict[TopicPartition, _Reading] = {}
        self._busy: set[Node] = set()
        self._latest: dict[Node, tuple[_Whence, FetchRequest]] = {}
        self._fault: MemberFault | None = None
        self._found: dict[TopicPartition, Position] = {}
        self._going: frozenset[TopicPartition] = frozenset()
        self._owned: tuple[TopicPartition, ...] = ()
        self._in_order: list[TopicPartition] = []
        self._has_news = False
        """True if there may be records to hand out, or positions that have moved."""

    # -- positions

    def assign(
        self,
        owned: tuple[TopicPartition, ...],
        positions: Mapping[TopicPartition, Position],
        *,
        known: bool,
        going: Iterable[TopicPartition] = (),
    ) -> None:
        """Set the owned partitions and their positions. `known`: a partition without a position has
        no committed offset. `going`: partitions about to be revoked, which are neither fetched
        nor returned any more, for they would be processed twice (KAFKA-14196).
        """
        self._going = frozenset(going)
        if owned is not self._owned:  # most polls find what they found before
            self._own(owned)
        readings = self._readings
        for partition in self._in_order:
            position, reading = positions.get(partition), readings.get(partition)
            if reading is None:
                reading = readings[partition] = _Reading()
            if position is reading.given and position is not None:
                continue  # where it was
            if position is None:
                if reading.resetting or partition in self._found:
                    continue
                reading.given = None  # it was lost with its partition: assigned anew since then
                reading.buffer.clear()
                if known:
                    self._begin_reset(partition, reading, "no offset is committed")
            elif reading.given is None or position.offset != reading.given.offset:
                self._start_at(reading, position)

    def _own(self, partitions: tuple[TopicPartition, ...]) -> None:
        """Read exactly these partitions from now on."""
        owned = set(partitions)
        self.resets = [reset for reset in self.resets if reset.partition in owned]
        for partition in [partition for partition in self._readings if partition not in owned]:
            del self._readings[partition]
            self._found.pop(partition, None)
        self._owned, self._in_order = partitions, sorted(owned)

    def _start_at(self, reading: _Reading, position: Position) -> None:
        self._has_news = True
        reading.buffer.clear()
        reading.given = position
        reading.end = position.offset
        reading.epoch = position.leader_epoch
        reading.resetting = ""

    def _begin_reset(self, partition: TopicPartition, reading: _Reading, why: str) -> None:
        if self.config.auto_offset_reset == "none":
            self._fault = self._fault or NoOffset(partition, why)
        else:
            reading.buffer.clear()
            reading.resetting = why

    def found(self) -> dict[TopicPartition, Position]:
        """Return, once, the positions that auto.offset.reset chose."""
        if not self._found:
            return {}
        found, self._found = self._found, {}
        return {
            partition: position
            for partition, position in found.items()
            if partition in self._readings
        }

    # -- handing out

    def poll(self) -> list[Polled]:
        """Return up to max.poll.records records. Raises MemberFault, once, for faults that concern
        the application.
        """
        if self._fault is not None:
            fault, self._fault = self._fault, None
            raise fault
        if not self._has_news:
            return []
        left = self.config.max_poll_records
        polled: list[Polled] = []
        for partition, reading in self._readings.items():
            buffer = reading.buffer
            if left and buffer and partition not in self._going:
                count = len(buffer)
                if count <= left:
                    records = tuple(buffer)
                    buffer.clear()
                else:
                    count = left
                    records = tuple([buffer.popleft() for _ in range(count)])
                left -= count
                polled.append(Polled(partition, records))
        for each in polled:  # who was read comes last next time
            self._readings[each.partition] = self._readings.pop(each.partition)
        return polled

    def moved(self) -> dict[TopicPartition, Position]:
        """Return the positions of the partitions of which `poll` has returned records since the
        last call.
        """
        if not self._has_news:
            return {}
        moved, self._has_news = {}, False
        for partition, reading in self._readings.items():
            if reading.buffer:
                self._has_news = True
            if reading.given is None or reading.resetting:
                continue
            offset = reading.buffer[0].offset if reading.buffer else reading.end
            if offset != reading.given.offset:
                reading.given = Position(offset, reading.epoch)
                moved[partition] = reading.given
        return moved

    # -- asking

    def ask(self, now: int) -> None:
        """Send what is due: fetches, and requests for positions and leaders."""
        by_node: dict[Node, list[_Wanted]] = {}
        lost: dict[Node, list[TopicPartition]] = {}
        for partition, reading in self._readings.items():
            if reading.asked or now < reading.again_at or not self._lacks(partition, reading):
                continue
            reading.again_at = 0  # what is in the way from now on is an answer, which calls again
            leader = self.leaders.of(partition)
            if leader is None:
                continue
            if reading.resetting:
                lost.setdefault(leader.node, []).append(partition)
                continue
            node = (
                leader.node
                if reading.near is None
                else self._nearest(partition, reading, leader.node, now)
            )
            if node not in self._busy:
                by_node.setdefault(node, []).append((partition, reading, leader.epoch))
        for node, partitions in lost.items():
            self._list_offsets(node, partitions, now)
        for node, wanted in by_node.items():
            self._fetch(node, wanted, now)
        self.leaders.look_up(now)

    def _nearest(
        self, partition: TopicPartition, reading: _Reading, leader: Node, now: int
    ) -> Node:
        """Return the replica from which to read a partition whose leader has named one."""
        assert reading.near is not None
        node = self.leaders.nodes.get(reading.near)
        if node is None:  # it does not run: who does is to be asked
            self.leaders.wanted.add(partition.topic)
        if node is None or now >= reading.near_until:
            reading.near = None
            return leader
        return node

    def _fetch(self, node: Node, wanted: list[_Wanted], now: int) -> None:
        ends: dict[TopicPartition, int] = {}
        epochs: list[int] = []
        for partition, reading, epoch in wanted:
            reading.asked = True
            ends[partition] = reading.end
            epochs.append(epoch)
        whence = list(ends.items()), epochs
        known = self._latest.get(node)
        if known is None or known[0] != whence:  # else nothing was read: the same is asked again
            known = self._latest[node] = whence, self._request(ends, epochs)
        self._busy.add(node)
        self.leaders.ask(
            node, known[1], now, lambda response, at: self._on_fetch(node, ends, response, at)
        )

    def _request(self, ends: Mapping[TopicPartition, int], epochs: list[int]) -> FetchRequest:
        config = self.config
        topics: dict[str, list[FetchPartition]] = {}
        for (partition, end), epoch in zip(ends.items(), epochs, strict=True):
            topics.setdefault(partition.topic, []).append(
                FetchPartition(
                    partition=partition.partition,
                    current_leader_epoch=epoch,
                    fetch_offset=end,
                    partition_max_bytes=config.max_partition_fetch_bytes,
                )
            )
        return FetchRequest(
            max_wait_ms=config.fetch_max_wait_ms,
            min_bytes=config.fetch_min_bytes,
            max_bytes=config.fetch_max_bytes,
            isolation_level=int(self._committed),
            rack_id=self._rack,
            topics=[FetchTopic(topic=name, partitions=rows) for name, rows in topics.items()],
        )

    def _list_offsets(self, node: Node, partitions: list[TopicPartition], now: int) -> None:
        timestamp = _TIMESTAMP_OF[self.config.auto_offset_reset]
        topics: dict[str, list[ListOffsetsPartition]] = {}
        for partition in partitions:
            self._readings[partition].asked = True
            topics.setdefault(partition.topic, []).append(
                ListOffsetsPartition(partition_index=partition.partition, timestamp=timestamp)
            )
        message = ListOffsetsRequest(
            replica_id=-1,
            isolation_level=int(self._committed),
            topics=[ListOffsetsTopic(name=name, partitions=rows) for name, rows in topics.items()],
        )
        asked = tuple(partitions)
        self.leaders.ask(
            node, message, now, lambda response, at: self._on_offsets(asked, response, at)
        )

    def next_deadline(self) -> int | None:
        """Return the instant at which `ask` is due, or None; leaders have their own deadlines."""
        due: int | None = None
        for partition, reading in self._readings.items():
            if (
                reading.again_at
                and (due is None or reading.again_at < due)
                and self._lacks(partition, reading)
            ):
                due = reading.again_at
        return due

    def _lacks(self, partition: TopicPartition, reading: _Reading) -> bool:
        """Return whether a broker must be asked for the partition's records or position."""
        if reading.asked or reading.buffer or partition in self._going:
            return False
        return reading.given is not None or bool(reading.resetting)

    # -- answers

    def _on_fetch(
        self, node: Node, ends: Mapping[TopicPartition, int], response: Response | None, now: int
    ) -> None:
        self._busy.discard(node)
        rows: dict[tuple[str, int], PartitionData] = {}
        if isinstance(response, FetchResponse):
            rows = {
                (topic.topic, row.partition_index): row
                for topic in response.responses
                for row in topic.partitions
            }
        for partition, end in ends.items():
            reading = self._readings.get(partition)
            if reading is None:
                continue
            reading.asked = False
            reading.again_at = 0
            row = rows.get(partition)
            if row is None:
                self._again(partition, reading, now, forget=not isinstance(response, FetchResponse))
            elif reading.given is None or reading.end != end or reading.resetting:
                continue  # its position was moved, or lost with the partition, meanwhile
            elif row.error_code:
                self._on_error(partition, reading, code_of(row.error_code), now)
            else:
                self._backoff.reset()
                if row.preferred_read_replica >= 0:
                    reading.near = row.preferred_read_replica
                    reading.near_until = now + self._max_age_ms
                if row.records:
                    self._has_news = True
                    self._take(partition, reading, row)

    def _take(self, partition: TopicPartition, reading: _Reading, row: PartitionData) -> None:
        try:
            aborted = sorted(
                (each.first_offset, each.producer_id) for each in row.aborted_transactions or ()
            )
            skipped: set[int] = set()
            for batch in read_batches(row.records or b""):
                while aborted and aborted[0][0] <= batch.last_offset:
                    skipped.add(aborted.pop(0)[1])
                if batch.control:
                    skipped.discard(batch.producer_id)
                elif not (self._committed and batch.transactional and batch.producer_id in skipped):
                    end = reading.end
                    reading.buffer.extend(
                        [record for record in batch.records if record.offset >= end]
                    )
                reading.end = max(reading.end, batch.last_offset + 1)
                reading.epoch = batch.leader_epoch
        except WireError as error:
            self._fault = self._fault or MemberFault(
                f"Fetch: {partition.topic}-{partition.partition}: {error}"
            )

    def _on_error(
        self, partition: TopicPartition, reading: _Reading, error: ErrorCode, now: int
    ) -> None:
        if error is ErrorCode.OFFSET_OUT_OF_RANGE and reading.near is not None:
            self._again(partition, reading, now, forget=False)  # its leader may have it
        elif error is ErrorCode.OFFSET_OUT_OF_RANGE:
            self._begin_reset(partition, reading, f"offset {reading.end} is out of range")
        elif error in _LEADER_MOVED or error.retriable:
            self._again(partition, reading, now, forget=error in _LEADER_MOVED)
        else:
            self._fault = self._fault or Refused(
                "Fetch", error, f"{partition.topic}-{partition.partition}", retriable=False
            )

    def _again(
        self, partition: TopicPartition, reading: _Reading, now: int, *, forget: bool
    ) -> None:
        reading.again_at = now + self._backoff.next()
        reading.near = None
        if forget:
            self.leaders.forget([partition])

    def _on_offsets(
        self, asked: tuple[TopicPartition, ...], response: Response | None, now: int
    ) -> None:
        rows = {}
        if isinstance(response, ListOffsetsResponse):
            rows = {
                TopicPartition(topic.name, row.partition_index): row
                for topic in response.topics
                for row in topic.partitions
            }
        for partition in asked:
            reading = self._readings.get(partition)
            if reading is None:
                continue
            reading.asked = False
            row = rows.get(partition)
            if row is None or row.error_code:
                self._again(partition, reading, now, forget=True)
            elif reading.resetting:
                position = Position(row.offset, row.leader_epoch)
                self.resets.append(Reset(partition, row.offset, reading.resetting))
                self._start_at(reading, position)
                self._found[partition] = position

    def receive(self, number: int, response: Response | None, now: int) -> bool:
        """Take the answer to a request, or None if there will be none; return False if it is no
        longer awaited.
        """
        return self.leaders.receive(number, response, now)

    def take(self) -> list[Effect]:
        """Return the effects to carry out now."""
        return self.leaders.take()
