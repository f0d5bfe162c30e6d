"""A producer as a pure state machine: records and time in, requests and results out.

    producer = Producer(ProducerConfig(), wall_ms=epoch_ms, chance=random.random)
    ticket = producer.send(TopicPartition("orders", 0), b"value", now)
    producer.tick(now)
    for effect in producer.take(): ...       # requests, and `Delivered`, `TransactionEnded`
    producer.receive(number, response, now)

Owns batching and retries. At most one batch of a partition is in flight, so order is kept; a
batch is sent again unchanged, with the same sequence numbers, until it is answered or
delivery.timeout.ms is over. Transactions are in `transactions`.

Sources: KIP-98 (idempotence, transactions), KIP-360 (a new epoch after a gap), KIP-91
(delivery.timeout.ms).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from assignors import TopicPartition
from coordinator.base.errors import ErrorCode
from coordinator.wire.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from coordinator.wire.messages.transactions import InitProducerIdRequest, InitProducerIdResponse
from coordinator.wire.schema import Response

from ..backoff import Backoff
from ..effects import Node
from ..faults import MemberFault, Refused, code_of
from ..leaders import Leaders
from ..record_batches import NewRecord, build_batch
from ..requests import Unsupported
from .config import ProducerConfig
from .produced import FENCED, Delivered, ProducerEffect, Sent
from .transactions import Transactions

_RECORD_OVERHEAD: Final = 32
_STALE: Final = frozenset({ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, ErrorCode.UNKNOWN_PRODUCER_ID})
_LEADER_MOVED: Final = frozenset(
    {
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.NETWORK_EXCEPTION,
    }
)
_ONCE_MORE: Final = frozenset(
    {
        ErrorCode.NOT_ENOUGH_REPLICAS,
        ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
        ErrorCode.REQUEST_TIMED_OUT,
        ErrorCode.CONCURRENT_TRANSACTIONS,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    }
)


_Waiting = tuple[int, NewRecord, int]
"""A record that waits: its ticket, what it is, and when it was sent."""


class _Batch(NamedTuple):
    tickets: tuple[int, ...]
    records: tuple[NewRecord, ...]
    expires_at: int
    sequence: int
    producer_id: int
    producer_epoch: int


class _Partition:
    __slots__ = ("again_at", "batch", "in_flight", "queue", "sequence", "tries")

    def __init__(self) -> None:
        self.queue: deque[_Waiting] = deque()
        self.sequence = 0
        self.batch: _Batch | None = None
        self.in_flight = False
        self.again_at = 0
        self.tries = 0


def _late(partition: TopicPartition) -> MemberFault:
    return MemberFault(
        f"{partition.topic}-{partition.partition}: not delivered within delivery.timeout.ms",
        ErrorCode.REQUEST_TIMED_OUT,
    )


class Producer:
    """One producer. `wall_ms`: the wall clock at instant 0, in Unix milliseconds; it may be set
    again. `chance` only jitters backoffs.
    """

    def __init__(
        self, config: ProducerConfig, *, wall_ms: int = 0, chance: Callable[[], float] = lambda: 0.5
    ) -> None:
        self.config = config
        self.fatal: MemberFault | None = None
        """The error that ends the producer for good."""
        self.producer_id = self.producer_epoch = -1
        self.backoff = Backoff(config.retry_backoff_ms, config.retry_backoff_max_ms, chance)
        self.leaders = Leaders(
            config.request_timeout_ms,
            Backoff(config.retry_backoff_ms, config.retry_backoff_max_ms, chance),
        )
        self.told: list[ProducerEffect] = []
        self.transactions = Transactions(self) if config.transactional_id is not None else None
        self.wall_ms = wall_ms
        self._tickets = 0
        self._partitions: dict[TopicPartition, _Partition] = {}
        self._init_in_flight = False
        self._init_again_at = 0
        self._needs_id = config.enable_idempotence
        self._looked_at: int | None = None
        """The instant at which `tick` did all that was due; None: something has happened since."""

    # -- what the application calls

    def send(
        self, partition: TopicPartition, value: bytes | None, now: int, key: bytes | None = None
    ) -> int:
        """Queue a record; `Delivered` reports its result with the returned ticket. Raises the fatal
        fault, if there is one.
        """
        if self.fatal is not None:
            raise self.fatal
        if self.transactions is not None:
            self.transactions.uses(partition)
        self._looked_at = None
        self._tickets += 1
        record = NewRecord(key, value, self.wall_ms + now)
        each = self._partitions.get(partition)
        if each is None:
            each = self._partitions[partition] = _Partition()
        each.queue.append((self._tickets, record, now))
        return self._tickets

    @property
    def idle(self) -> bool:
        """True if the result of every record is known."""
        return all(not each.queue and each.batch is None for each in self._partitions.values())

    @property
    def ready(self) -> bool:
        """True if the producer has its producer id, or needs none."""
        return not self._needs_id

    # -- what the driver calls

    def tick(self, now: int) -> None:
        """Run what is due: send batches, expire records."""
        if now == self._looked_at:
            return
        self.leaders.tick(now)
        if self.fatal is None:
            self._expire(now)
            if self.transactions is not None:
                self.transactions.go_on(now)
            elif self._needs_id and not self._init_in_flight and now >= self._init_again_at:
                self._init(now)
            if not self._needs_id:
                self._flush(now)
        self.leaders.look_up(now)
        if self.transactions is None and self.config.acks_number:  # else more may be due at once
            self._looked_at = now

    def next_deadline(self) -> int | None:
        """Return the instant at which `tick` is due, or None."""
        due = [found] if (found := self.leaders.next_deadline()) is not None else []
        if self.fatal is not None:
            return min(due, default=None)
        if self.transactions is not None:
            due += self.transactions.deadlines()
        elif self._needs_id and not self._init_in_flight:
            due.append(self._init_again_at)
        for partition, each in self._partitions.items():
            if each.batch is not None:
                due.append(each.batch.expires_at)
                if not each.in_flight and self._may_send(partition):
                    due.append(each.again_at)
            elif each.queue:
                due.append(each.queue[0][2] + self.config.delivery_timeout_ms)
                if self._may_send(partition):
                    due.append(max(each.queue[0][2] + self.config.linger_ms, each.again_at))
        return min(due, default=None)

    def receive(self, number: int, response: Response, now: int) -> bool:
        """Take the answer to a request; return False if it is no longer awaited."""
        self._looked_at = None
        return self.leaders.receive(number, response, now)

    def failed(self, number: int, now: int) -> None:
        """Note that a request will get no answer."""
        self._looked_at = None
        self.leaders.receive(number, None, now)

    def unsupported(self, number: int, fault: Unsupported, now: int) -> None:
        """Note that a request was not sent, because no common version can express it."""
        self.fail(fault)

    def take(self) -> list[ProducerEffect]:
        """Return the effects of now, in order."""
        told, self.told = self.told, []
        return [*told, *self.leaders.take()]

    def fail(self, fault: MemberFault) -> None:
        """End the producer with a fault; all waiting records fail with it."""
        self._looked_at = None
        self.fatal = self.fatal or fault
        self.drop_unsent(fault, all_of_it=True)

    # -- batches

    def _may_send(self, partition: TopicPartition) -> bool:
        """Return whether a batch for this partition can be sent: producer id, transaction and
        leader are ready.
        """
        if self._needs_id or (
            self.transactions is not None and not self.transactions.may_send(partition)
        ):
            return False
        return self.leaders.of(partition) is not None

    def _flush(self, now: int) -> None:
        by_node: dict[Node, list[TopicPartition]] = {}
        for partition, each in self._partitions.items():
            if (
                not (each.batch is not None or each.queue)
                or each.in_flight
                or now < each.again_at
                or not self._may_send(partition)
            ):
                continue
            if each.batch is None:
                linger = self.config.linger_ms and not (
                    self.transactions is not None and self.transactions.ending
                )
                if linger and now < each.queue[0][2] + self.config.linger_ms:
                    continue
                each.batch = self._make_batch(partition, each)
            leader = self.leaders.of(partition)
            assert leader is not None
            by_node.setdefault(leader.node, []).append(partition)
        for node, partitions in by_node.items():
            self._produce(node, partitions, now)

    def _make_batch(self, partition: TopicPartition, each: _Partition) -> _Batch:
        taken: list[_Waiting] = []
        size = 0
        while each.queue and (not taken or size < self.config.batch_size):
            waiting = each.queue.popleft()
            taken.append(waiting)
            key, value, _ = waiting[1]
            size += _RECORD_OVERHEAD + (len(value) if value else 0) + (len(key) if key else 0)
        sequence = each.sequence if self.config.enable_idempotence else -1
        each.sequence += len(taken)
        each.tries = 0
        tickets = tuple([ticket for ticket, _, _ in taken])
        self.told.append(Sent(tickets, partition, self.producer_id, self.producer_epoch, sequence))
        return _Batch(
            tickets,
            tuple([record for _, record, _ in taken]),
            taken[0][2] + self.config.delivery_timeout_ms,
            sequence,
            self.producer_id,
            self.producer_epoch,
        )

    def _produce(self, node: Node, partitions: list[TopicPartition], now: int) -> None:
        acks = self.config.acks_number
        topics: dict[str, list[PartitionProduceData]] = {}
        batches: dict[TopicPartition, _Batch] = {}
        for partition in partitions:
            each = self._partitions[partition]
            batch = each.batch
            assert batch is not None
            batches[partition] = batch
            each.in_flight = acks != 0
            records = build_batch(
                batch.records,
                producer_id=batch.producer_id,
                producer_epoch=batch.producer_epoch,
                base_sequence=batch.sequence,
                transactional=self.transactions is not None,
            )
            topics.setdefault(partition.topic, []).append(
                PartitionProduceData(index=partition.partition, records=records)
            )
        message = ProduceRequest(
            transactional_id=self.config.transactional_id,
            acks=acks,
            timeout_ms=self.config.request_timeout_ms,
            topic_data=[
                TopicProduceData(name=name, partition_data=rows) for name, rows in topics.items()
            ],
        )
        if acks:
            self.leaders.ask(
                node, message, now, lambda response, at: self._on_produced(batches, response, at)
            )
            return
        self.leaders.tell(node, message)
        for partition, batch in batches.items():
            self._partitions[partition].batch = None
            self.told.append(Delivered(batch.tickets, partition, -1, None))

    def _on_produced(
        self, batches: dict[TopicPartition, _Batch], response: Response | None, now: int
    ) -> None:
        self._looked_at = None
        rows: dict[tuple[str, int], PartitionProduceResponse] = {}
        if isinstance(response, ProduceResponse):
            rows = {
                (topic.name, row.index): row
                for topic in response.responses
                for row in topic.partition_responses
            }
        for partition, batch in batches.items():
            each = self._partitions[partition]
            if each.batch is not batch:
                continue
            each.in_flight = False
            row = rows.get(partition)
            error = (
                ErrorCode.NETWORK_EXCEPTION
                if row is None
                else code_of(row.error_code)
                if row.error_code
                else ErrorCode.NONE
            )
            if error in (ErrorCode.NONE, ErrorCode.DUPLICATE_SEQUENCE_NUMBER):
                self.backoff.reset()
                self._delivered(
                    partition, each, batch, row.base_offset if row is not None else -1, None
                )
            else:
                self._on_error(partition, each, batch, error, now)
        self.tick(now)

    def _on_error(
        self, partition: TopicPartition, each: _Partition, batch: _Batch, error: ErrorCode, now: int
    ) -> None:
        fault = Refused("Produce", error, f"{partition.topic}-{partition.partition}")
        if error in _LEADER_MOVED:
            self.leaders.forget([partition])
        if (error in _LEADER_MOVED or error in _ONCE_MORE) and each.tries < self.config.retries:
            each.tries += 1
            each.again_at = now + self.backoff.next()
            return
        if error in FENCED:
            self.fail(fault)
            return
        self._delivered(partition, each, batch, -1, fault)
        if self.transactions is not None:
            self.transactions.must_abort(fault)
        elif self.config.enable_idempotence:  # the broker's sequence is not ours any more (KIP-360)
            self._renew()

    def _delivered(
        self,
        partition: TopicPartition,
        each: _Partition,
        batch: _Batch,
        offset: int,
        fault: MemberFault | None,
    ) -> None:
        each.batch = None
        self.told.append(Delivered(batch.tickets, partition, offset, fault))

    def _expire(self, now: int) -> None:
        for partition, each in self._partitions.items():
            batch, queue = each.batch, each.queue
            if batch is not None and now >= batch.expires_at:
                each.in_flight = False
                late = _late(partition)
                self._delivered(partition, each, batch, -1, late)
                if self.transactions is not None:
                    self.transactions.must_abort(late)
                elif self.config.enable_idempotence:
                    self._renew()
            if not queue or now < queue[0][2] + self.config.delivery_timeout_ms:
                continue
            expired = []
            while queue and now >= queue[0][2] + self.config.delivery_timeout_ms:
                expired.append(queue.popleft()[0])
            late = _late(partition)
            self.told.append(Delivered(tuple(expired), partition, -1, late))
            if self.transactions is not None:
                self.transactions.must_abort(late)

    def drop_unsent(self, fault: MemberFault, *, all_of_it: bool = False) -> None:
        """Fail the records that were not sent yet, and with `all_of_it` those in flight."""
        for partition, each in self._partitions.items():
            tickets = [ticket for ticket, _, _ in each.queue]
            each.queue.clear()
            if all_of_it and each.batch is not None:
                tickets = [*each.batch.tickets, *tickets]
                each.batch, each.in_flight = None, False
            if tickets:
                self.told.append(Delivered(tuple(tickets), partition, -1, fault))

    # -- producer id

    def _renew(self) -> None:
        """Request a new epoch, in which all sequences start anew; records in flight keep the old
        one.
        """
        self._needs_id = True
        self.restart_sequences()

    def restart_sequences(self) -> None:
        """Restart all sequence numbers at 0."""
        for each in self._partitions.values():
            each.sequence = 0

    def _init(self, now: int) -> None:
        self._init_in_flight = True
        message = InitProducerIdRequest(
            transactional_id=None,
            transaction_timeout_ms=self.config.transaction_timeout_ms,
            producer_id=self.producer_id,
            producer_epoch=self.producer_epoch,
        )
        self.leaders.ask(None, message, now, self._on_init)

    def _on_init(self, response: Response | None, now: int) -> None:
        self._looked_at, self._init_in_flight = None, False
        if isinstance(response, InitProducerIdResponse) and not response.error_code:
            self.has_id(response.producer_id, response.producer_epoch)
            self.tick(now)
            return
        error = (
            code_of(response.error_code)
            if isinstance(response, InitProducerIdResponse)
            else ErrorCode.NETWORK_EXCEPTION
        )
        if isinstance(response, InitProducerIdResponse) and not error.retriable:
            self.fail(Refused("InitProducerId", error))
        self._init_again_at = now + self.backoff.next()

    def has_id(self, producer_id: int, producer_epoch: int) -> None:
        """Set the producer id and epoch."""
        self.producer_id, self.producer_epoch = producer_id, producer_epoch
        self._needs_id = False

    def needs_id(self) -> None:
        """Require a new producer id or epoch before anything is sent."""
        self._needs_id = True

    def partitions(self) -> Iterable[TopicPartition]:
        """Return the partitions with records that wait or are in flight."""
        return [
            partition
            for partition, each in self._partitions.items()
            if each.queue or each.batch is not None
        ]
