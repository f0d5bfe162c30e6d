"""Transactions of a producer, before KIP-890's second part: partitions are added first, then
written to, then the end is requested.

Owns the requests to the coordinators of transactions and of groups, one at a time. Retriable
errors are retried after a backoff; a fenced producer has ended; after any other refusal the
transaction can only be aborted, and then the epoch is renewed (KIP-360).

Sources: KIP-98, KIP-360, KIP-447 (offsets with the member's generation).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Final, NamedTuple, Protocol

from assignors import TopicPartition
from coordinator.base.errors import ErrorCode
from coordinator.wire.messages.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from coordinator.wire.messages.transactions import (
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
    EndTxnRequest,
    EndTxnResponse,
    InitProducerIdRequest,
    InitProducerIdResponse,
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
)
from coordinator.wire.schema import Request, Response

from ..backoff import Backoff
from ..effects import Node, Position
from ..faults import MemberFault, Refused, code_of
from ..leaders import Leaders
from ..states import Generation
from .config import ProducerConfig
from .produced import FENCED, ProducerEffect, TransactionEnded

_FIND_AGAIN: Final = frozenset(
    {ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.NETWORK_EXCEPTION}
)
_ASK_AGAIN: Final = frozenset(
    {
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.CONCURRENT_TRANSACTIONS,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.REQUEST_TIMED_OUT,
        ErrorCode.UNSTABLE_OFFSET_COMMIT,
    }
)
_GROUP_KEY, _TRANSACTION_KEY = 0, 1


class TransactionState(Enum):
    """State of a transactional producer."""

    NEW = "new"
    READY = "ready"
    OPEN = "open"
    COMMITTING = "committing"
    ABORTING = "aborting"

    __hash__ = object.__hash__


class _Step(NamedTuple):
    """One request. `group`: ask this group's coordinator; None: the transaction's."""

    make: Callable[[], Request]
    errors: Callable[[Response], list[int]]
    then: Callable[[Response, int], None]
    group: str | None = None


class TransactionalProducer(Protocol):
    """The part of a producer that transactions use (`producer.Producer`)."""

    config: ProducerConfig
    fatal: MemberFault | None
    producer_id: int
    producer_epoch: int
    backoff: Backoff
    leaders: Leaders
    told: list[ProducerEffect]

    @property
    def idle(self) -> bool:
        """True if the result of every record is known."""

    def tick(self, now: int) -> None:
        """Run what is due."""

    def fail(self, fault: MemberFault) -> None:
        """End the producer with a fault."""

    def drop_unsent(self, fault: MemberFault) -> None:
        """Fail the records that were not sent yet."""

    def needs_id(self) -> None:
        """Require a new producer id or epoch."""

    def has_id(self, producer_id: int, producer_epoch: int) -> None:
        """Set the producer id and epoch."""

    def restart_sequences(self) -> None:
        """Restart all sequence numbers at 0."""


class Transactions:
    """Transactions of one producer."""

    def __init__(self, producer: TransactionalProducer) -> None:
        self.state = TransactionState.NEW
        self.fault: MemberFault | None = None
        """The fault because of which the open transaction can only be aborted, or None."""
        self._producer = producer
        self._id = producer.config.transactional_id or ""
        self._steps: deque[_Step] = deque()
        self._asked = False
        self._tried = False  # the first step was asked before
        self._again_at = 0
        self._coordinators: dict[tuple[int, str], Node] = {}
        self._added: set[TopicPartition] = set()
        self._adding: set[TopicPartition] = set()
        self._groups: set[str] = set()
        self._is_begun = False  # the coordinator knows of it
        producer.needs_id()
        self._queue_init()

    # -- what the application calls

    def begin(self) -> None:
        """Open a transaction. Raises MemberFault if one is open, or the producer has ended."""
        if self._producer.fatal is not None:
            raise self._producer.fatal
        if self.state is not TransactionState.READY:
            raise MemberFault(
                f"no transaction can begin: the producer is {self.state.value}; wait until it is ready"
            )
        self.state = TransactionState.OPEN
        self.fault = None
        self._added.clear()
        self._adding.clear()
        self._groups.clear()
        self._is_begun = False

    def uses(self, partition: TopicPartition) -> None:
        """Add the partition of a record to the open transaction. Raises MemberFault if none is
        open, or it can only be aborted.
        """
        if self.state is not TransactionState.OPEN:
            raise MemberFault(
                f"a record needs an open transaction: the producer is {self.state.value}; begin one"
            )
        if self.fault is not None:
            raise self.fault
        if partition not in self._added and partition not in self._adding:
            self._adding.add(partition)
            self._steps.append(
                _Step(
                    lambda: self._add_request(partition),
                    _partition_errors,
                    lambda _, now: self._partition_added(partition),
                )
            )

    def send_offsets(
        self,
        group_id: str,
        generation: Generation,
        instance: str | None,
        offsets: Mapping[TopicPartition, Position],
    ) -> None:
        """Commit these offsets of a group with the transaction, as the member of that generation
        (KIP-447).
        """
        if self.state is not TransactionState.OPEN:
            raise MemberFault(
                f"offsets need an open transaction: the producer is {self.state.value}; begin one"
            )
        if not offsets:
            return
        if group_id not in self._groups:
            self._groups.add(group_id)
            self._steps.append(
                _Step(
                    lambda: self._offsets_request(group_id),
                    _top_error,
                    lambda _, now: self._begun(),
                )
            )
        message = self._commit_request(group_id, generation, instance, dict(offsets))
        self._steps.append(_Step(message, _offset_errors, lambda _, now: None, group=group_id))

    def end(self, *, commit: bool) -> None:
        """Request the end; `TransactionEnded` reports it. A transaction with a fault can only be
        aborted: committing reports that fault.
        """
        if self.state is not TransactionState.OPEN:
            raise MemberFault(f"there is no open transaction: the producer is {self.state.value}")
        if commit and self.fault is not None:
            self._tell_end(committed=False, fault=self.fault)
            return
        self.state = TransactionState.COMMITTING if commit else TransactionState.ABORTING
        if not commit:
            self._producer.drop_unsent(MemberFault("the transaction is aborted"))
            first = (
                self._steps[0] if self._steps and self._tried else None
            )  # the coordinator may know of it
            self._steps.clear()
            if first is not None and first.group is None:
                self._steps.append(first)

    @property
    def ending(self) -> bool:
        """True if the application has requested the end of the transaction."""
        return self.state in (TransactionState.COMMITTING, TransactionState.ABORTING)

    # -- what the producer asks

    def may_send(self, partition: TopicPartition) -> bool:
        """Return whether the coordinator has added this partition to the transaction."""
        return partition in self._added

    def must_abort(self, fault: MemberFault) -> None:
        """Note that the transaction cannot be committed any more."""
        if self.state is TransactionState.OPEN:
            self.fault = self.fault or fault
        elif self.state is TransactionState.COMMITTING:
            self.state = TransactionState.OPEN
            self.fault = self.fault or fault
            self._steps.clear()
            self._tell_end(committed=False, fault=fault)

    def go_on(self, now: int) -> None:
        """Send the next request, or the one for the end when everything else is done."""
        producer = self._producer
        if not self._steps and not self._asked and self.ending and producer.idle:
            self._ask_for_end(now)
        if self._steps and not self._asked and now >= self._again_at:
            step = self._steps[0]
            kind, key = (
                (_TRANSACTION_KEY, self._id) if step.group is None else (_GROUP_KEY, step.group)
            )
            node = self._coordinators.get((kind, key))
            self._asked = True
            if node is None:
                message = FindCoordinatorRequest(key_type=kind, coordinator_keys=[key])
                producer.leaders.ask(
                    None,
                    message,
                    now,
                    lambda response, at: self._on_found((kind, key), response, at),
                )
            else:
                self._tried = True
                producer.leaders.ask(
                    node, step.make(), now, lambda response, at: self._on_answer(step, response, at)
                )

    def deadlines(self) -> list[int]:
        """Return the instants at which `go_on` is due."""
        return [self._again_at] if self._steps and not self._asked else []

    # -- answers

    def _on_found(self, key: tuple[int, str], response: Response | None, now: int) -> None:
        self._asked = False
        if (
            isinstance(response, FindCoordinatorResponse)
            and response.coordinators
            and not response.coordinators[0].error_code
        ):
            row = response.coordinators[0]
            self._coordinators[key] = Node(row.node_id, row.host, row.port)
            self._producer.tick(now)
            return
        self._again_at = now + self._producer.backoff.next()

    def _on_answer(self, step: _Step, response: Response | None, now: int) -> None:
        self._asked = False
        if not self._steps or self._steps[0] is not step:
            self._producer.tick(now)  # the transaction has been given up meanwhile
            return
        codes = (
            step.errors(response) if response is not None else [int(ErrorCode.NETWORK_EXCEPTION)]
        )
        error = code_of(next((code for code in codes if code), 0)) if any(codes) else ErrorCode.NONE
        if error is ErrorCode.NONE:
            self._producer.backoff.reset()
            self._steps.popleft()
            self._tried = False
            assert response is not None
            step.then(response, now)
            self._producer.tick(now)
        elif error in _FIND_AGAIN or error in _ASK_AGAIN:
            if error in _FIND_AGAIN:
                self._coordinators.pop(
                    (_TRANSACTION_KEY, self._id)
                    if step.group is None
                    else (_GROUP_KEY, step.group),
                    None,
                )
            self._again_at = now + self._producer.backoff.next()
        else:
            self._refused(step, error, now)

    def _refused(self, step: _Step, error: ErrorCode, now: int) -> None:
        fault = Refused(
            type(step.make()).__name__.removesuffix("Request"),
            error,
            f"transactional.id {self._id}",
            retriable=False,
        )
        is_ending = self.ending and len(self._steps) == 1 and isinstance(step.make(), EndTxnRequest)
        if error in FENCED or (
            step.group is None and (is_ending or self.state is TransactionState.NEW)
        ):
            was_ending = self.ending
            self._producer.fail(fault)
            if was_ending:
                self._tell_end(committed=False, fault=fault)
            return
        self._steps.clear()
        self._tried = False
        self._adding.clear()
        self.must_abort(fault)
        self._producer.drop_unsent(fault)
        self._producer.tick(now)

    # -- the end

    def _ask_for_end(self, now: int) -> None:
        commit = self.state is TransactionState.COMMITTING
        if not self._is_begun:
            self._on_end(commit, now)
            return
        producer = self._producer
        message = EndTxnRequest(
            transactional_id=self._id,
            producer_id=producer.producer_id,
            producer_epoch=producer.producer_epoch,
            committed=commit,
        )
        self._steps.append(
            _Step(lambda: message, _end_error, lambda _, at: self._on_end(commit, at))
        )

    def _on_end(self, commit: bool, now: int) -> None:
        renew = self.fault is not None
        self.fault = None
        self.state = TransactionState.READY
        self._added.clear()
        self._adding.clear()
        self._tell_end(committed=commit, fault=None)
        if renew:
            self._producer.needs_id()
            self._producer.restart_sequences()
            self.state = TransactionState.NEW
            self._queue_init()

    def _tell_end(self, *, committed: bool, fault: MemberFault | None) -> None:
        self._producer.told.append(TransactionEnded(committed, fault))

    # -- requests

    def _queue_init(self) -> None:
        self._steps.append(_Step(self._init_request, _top_error, self._on_init))

    def _init_request(self) -> Request:
        producer = self._producer
        return InitProducerIdRequest(
            transactional_id=self._id,
            transaction_timeout_ms=producer.config.transaction_timeout_ms,
            producer_id=producer.producer_id,
            producer_epoch=producer.producer_epoch,
        )

    def _on_init(self, response: Response, now: int) -> None:
        assert isinstance(response, InitProducerIdResponse)
        self._producer.has_id(response.producer_id, response.producer_epoch)
        self._producer.restart_sequences()
        self.state = TransactionState.READY

    def _add_request(self, partition: TopicPartition) -> Request:
        producer = self._producer
        return AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self._id,
            v3_and_below_producer_id=producer.producer_id,
            v3_and_below_producer_epoch=producer.producer_epoch,
            v3_and_below_topics=[
                AddPartitionsToTxnTopic(name=partition.topic, partitions=[partition.partition])
            ],
        )

    def _partition_added(self, partition: TopicPartition) -> None:
        self._adding.discard(partition)
        self._added.add(partition)
        self._begun()

    def _begun(self) -> None:
        self._is_begun = True

    def _offsets_request(self, group_id: str) -> Request:
        producer = self._producer
        return AddOffsetsToTxnRequest(
            transactional_id=self._id,
            producer_id=producer.producer_id,
            producer_epoch=producer.producer_epoch,
            group_id=group_id,
        )

    def _commit_request(
        self,
        group_id: str,
        generation: Generation,
        instance: str | None,
        offsets: Mapping[TopicPartition, Position],
    ) -> Callable[[], Request]:
        topics: dict[str, list[TxnOffsetCommitRequestPartition]] = {}
        for (topic, number), position in offsets.items():
            topics.setdefault(topic, []).append(
                TxnOffsetCommitRequestPartition(
                    partition_index=number,
                    committed_offset=position.offset,
                    committed_leader_epoch=position.leader_epoch,
                    committed_metadata=position.metadata,
                )
            )
        producer = self._producer
        return lambda: TxnOffsetCommitRequest(
            transactional_id=self._id,
            group_id=group_id,
            producer_id=producer.producer_id,
            producer_epoch=producer.producer_epoch,
            generation_id_or_member_epoch=generation.generation_id,
            member_id=generation.member_id,
            group_instance_id=instance,
            topics=[
                TxnOffsetCommitRequestTopic(name=name, partitions=rows)
                for name, rows in topics.items()
            ],
        )


def _top_error(response: Response) -> list[int]:
    assert isinstance(response, InitProducerIdResponse | AddOffsetsToTxnResponse)
    return [response.error_code]


def _end_error(response: Response) -> list[int]:
    assert isinstance(response, EndTxnResponse)
    return [response.error_code]


def _partition_errors(response: Response) -> list[int]:
    assert isinstance(response, AddPartitionsToTxnResponse)
    return [
        row.partition_error_code
        for topic in response.results_by_topic_v3_and_below
        for row in topic.results_by_partition
    ]


def _offset_errors(response: Response) -> list[int]:
    assert isinstance(response, TxnOffsetCommitResponse)
    return [row.error_code for topic in response.topics for row in topic.partitions]
