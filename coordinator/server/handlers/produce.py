"""Produce (key 0), v3-13: appends record batches to logs. Versions 0-2 are advertised but close the
connection.

Owns Kafka's order of refusals. The whole request is refused for transactional batches without a
transactional id (53), unreadable batches (2), batches too short for a producer id or, before v7,
of an unknown compression (-1), and two transactional producers (49). Then each partition by
itself: unknown topic (100, 3), not one batch of format 2 (87, 2, 76), the transaction
coordinator's error (below v12 the partition must be in the transaction, later it is added,
KIP-890), acks (21), internal topic (17), leader (6), replicas (19), and the refusals of
`PartitionLog.append`. A partition named twice is appended once, with its last batch, and a
refusal of either wins. With acks=0 there is no answer: an error closes the connection. Waiting
fetches are woken at the end. Null records: Kafka 4.4.0 never answers (KAFKA-BUG); here 87.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from coordinator.base.errors import ErrorCode
from coordinator.base.slices import ITEMS_A_STEP
from coordinator.core.transactions.decide import Producer
from coordinator.wire.messages.produce import (
    BatchIndexAndErrorMessage,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)

from .. import data_log
from ..log_configs import log_config
from ..requests.call import CLOSE, NO_RESPONSE, Sliced, Special
from ..storage.compression import Budget
from ..storage.records import (
    PRODUCER_ID_END,
    TRANSACTIONAL,
    BatchHeader,
    BatchRefused,
    is_transactional,
    sole_batch,
)
from ..transactions.outcomes import ADDS_PARTITIONS, transaction_support
from ..waiting.delayed_produce import Appended, DelayedProduce

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from coordinator.base.slices import Slices
    from coordinator.wire.messages.produce import PartitionProduceData

    from ..broker import Broker
    from ..cluster import Partition, Topic
    from ..requests.call import Call, Result

TOPIC_IDS_SINCE = 13
LEADER_TAGS_SINCE = 10
ADDS_PARTITIONS_SINCE, ABORTABLE_SINCE = 12, 11
_NOT_ADDED = "Partition was not added to the transaction"
ADMIN_CLIENT_ID = "__admin_client"  # may write to internal topics
# Refused before the log is known: the answer does not say where it starts.
_NO_LOG_START = frozenset(
    (
        ErrorCode.CORRUPT_MESSAGE,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.MESSAGE_TOO_LARGE,
        ErrorCode.RECORD_LIST_TOO_LARGE,
        ErrorCode.INVALID_TOPIC_EXCEPTION,
    )
)

Key = tuple["str | bytes", int]


class Batch(NamedTuple):
    """A batch to append, and its partition."""

    partition: Partition
    topic: Topic
    data: bytes
    header: BatchHeader


def handle(broker: Broker, call: Call) -> Result | Sliced:
    """Append the batches and answer at once, unless all in-sync replicas must have them (acks=-1)
    and some are behind.
    """
    request = call.message
    assert isinstance(request, ProduceRequest)
    topics = request.topic_data
    if len(topics) == 1 and len(topics[0].partition_data) == 1:
        return _produce_to_one(broker, call, request)
    return Sliced(_produce(broker, call, request))


def _produce_to_one(broker: Broker, call: Call, request: ProduceRequest) -> Result:
    """Like `_produce`, in one piece, for the most frequent requests: those of one partition."""
    [(name, data)] = _parts(request, call.version)
    answers: dict[Key, PartitionProduceResponse] = {}
    batches: dict[Key, Batch] = {}
    try:
        _refuse_unnamed_transactions(request)
        batch = _find(broker, call.version, name, data, answers)
        if batch is not None:
            batches[name, data.index] = batch
            _refuse_stubs((batch,))
        if request.transactional_id is not None:
            _admit(broker, call, request.transactional_id, batches, answers)
    except BatchRefused as refusal:
        return _respond(
            broker, call, request.acks, {(name, data.index): _refused(data.index, refusal)}
        )
    if not batches:
        return _respond(broker, call, request.acks, answers)
    assert batch is not None
    answer = _append(broker, call, request.acks, batch, None)
    return _appended(broker, call, request, batches, {(name, data.index): answer}, answers)


def _produce(broker: Broker, call: Call, request: ProduceRequest) -> Slices[Result]:
    """A generator and no function of one partition: a batch that cannot be read refuses the
    partitions before it as well, and the transaction coordinator admits all of them at once.
    """
    answers: dict[Key, PartitionProduceResponse] = {}
    batches: dict[Key, Batch] = {}
    try:
        _refuse_unnamed_transactions(request)
        for count, (name, data) in enumerate(_parts(request, call.version), 1):
            if not count % ITEMS_A_STEP:
                yield
            found = _find(broker, call.version, name, data, answers)
            if found is not None:
                batches[name, data.index] = found
        _refuse_stubs(batches.values())
        if request.transactional_id is not None:
            _admit(broker, call, request.transactional_id, batches, answers)
    except BatchRefused as refusal:
        for count, (name, data) in enumerate(_parts(request, call.version), 1):
            if not count % ITEMS_A_STEP:
                yield
            answers[name, data.index] = _refused(data.index, refusal)
        return _respond(broker, call, request.acks, answers)
    appended: dict[Key, PartitionProduceResponse] = {}
    budget = Budget.for_request(sum(batch.header.size for batch in batches.values()))
    for count, (key, batch) in enumerate(batches.items(), 1):
        if (
            not count % ITEMS_A_STEP and request.transactional_id is None
        ):  # whom the coordinator admitted is not interrupted
            call = call._replace(now=(yield))
        appended[key] = _append(broker, call, request.acks, batch, budget)
    return _appended(broker, call, request, batches, appended, answers)


def _appended(
    broker: Broker,
    call: Call,
    request: ProduceRequest,
    batches: dict[Key, Batch],
    appended: dict[Key, PartitionProduceResponse],
    answers: dict[Key, PartitionProduceResponse],
) -> Result:
    """After appending, wake readers and answer, or park the request until the replicas follow."""
    _tell_readers(
        broker,
        [batch.partition for key, batch in batches.items() if not appended[key].error_code],
        call.now,
    )
    if (
        request.acks == -1
        and broker.replication is not None
        and _waits(broker, call, request.timeout_ms, batches, appended, answers)
    ):
        return None
    return _respond(broker, call, request.acks, appended | answers if answers else appended)


def _tell_readers(broker: Broker, written: list[Partition], now: int) -> None:
    """Let followers copy the appended records, and wake waiting fetches."""
    if broker.replication is not None:
        for partition in written:
            broker.replication.mark(partition.topic, partition.index)
        broker.replication.run(now)
    for partition in written:
        broker.parked_fetches.wake(partition.topic, partition.index, now)


def _waits(
    broker: Broker,
    call: Call,
    timeout_ms: int,
    batches: dict[Key, Batch],
    appended: dict[Key, PartitionProduceResponse],
    answers: dict[Key, PartitionProduceResponse],
) -> bool:
    """Park the request and return True if it has to wait for replicas."""
    waiting = DelayedProduce(
        broker,
        call,
        timeout_ms,
        [
            Appended(
                batch.topic.name,
                batch.partition.index,
                appended[key].base_offset + batch.header.record_count,
                appended[key],
            )
            for key, batch in batches.items()
            if not appended[key].error_code
        ],
        lambda: _answered(broker, call, appended | answers),
    )
    if waiting.ready():
        return False
    broker.parked_fetches.park(waiting)
    return True


def _parts(
    request: ProduceRequest, version: int
) -> Iterator[tuple[str | bytes, PartitionProduceData]]:
    """Yield the request's partitions, each with its topic's name or id."""
    for topic in request.topic_data:
        name = topic.topic_id if version >= TOPIC_IDS_SINCE else topic.name
        for data in topic.partition_data:
            yield name, data


def _refuse_unnamed_transactions(request: ProduceRequest) -> None:
    """Raise BatchRefused 53 for transactional batches in a request without a transactional id, or 2
    if a batch before them cannot be read.
    """
    for topic in request.topic_data:
        for data in topic.partition_data:
            if (
                data.records is not None
                and is_transactional(data.records)
                and request.transactional_id is None
            ):
                raise BatchRefused(
                    ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
                    "a transactional batch without a transactional id",
                )


def _admit(
    broker: Broker,
    call: Call,
    transactional_id: str,
    batches: dict[Key, Batch],
    answers: dict[Key, PartitionProduceResponse],
) -> None:
    """Ask the transaction coordinator about batches that are the first of a transaction in their
    partition; put its refusals into `answers`. Raises BatchRefused 49 for the whole request.
    """
    transactional = [
        key
        for key, batch in batches.items()
        if batch.header.attributes & TRANSACTIONAL and batch.header.has_producer
    ]
    if not transactional:
        return
    producers = {
        Producer(batches[key].header.producer_id, batches[key].header.producer_epoch)
        for key in transactional
    }
    if len(producers) > 1:
        raise BatchRefused(
            ErrorCode.INVALID_PRODUCER_ID_MAPPING, "transactional batches of several producers"
        )
    producer = producers.pop()
    support = transaction_support(
        call.version, adds_since=ADDS_PARTITIONS_SINCE, abortable_since=ABORTABLE_SINCE
    )
    for key in transactional:
        partition = batches[key].partition
        known = partition.log.producers
        if known.in_transaction(*producer):
            continue
        try:
            known.asks_to_begin(
                batches[key].header,
                adds=support == ADDS_PARTITIONS,
                now_ms=broker.epoch_ms + call.now,
            )
        except BatchRefused as refusal:
            del batches[key]
            answers[key] = _error(partition.index, refusal.error)
            continue
        error = broker.services.transactions.admit(
            transactional_id, producer, (partition.topic, partition.index), support, call
        )
        if error:
            del batches[key]
            answers[key] = _error(partition.index, error)
            answers[key].error_message = (
                _NOT_ADDED if error is ErrorCode.INVALID_TXN_STATE else None
            )


def _refuse_stubs(batches: Iterable[Batch]) -> None:
    """Raise BatchRefused -1 if a batch ends before its producer id, which Kafka reads first."""
    for batch in batches:
        if batch.header.size < PRODUCER_ID_END:
            raise BatchRefused(
                ErrorCode.UNKNOWN_SERVER_ERROR,
                f"a batch of {batch.header.size} bytes, less than its header",
            )


def _find(
    broker: Broker,
    version: int,
    name: str | bytes,
    data: PartitionProduceData,
    answers: dict[Key, PartitionProduceResponse],
) -> Batch | None:
    """Return the partition's batch, or None after adding a refusal to `answers`. Raises
    BatchRefused -1 for the whole request.
    """
    cluster = broker.cluster
    topic = cluster.topics_by_id.get(name) if isinstance(name, bytes) else cluster.topics.get(name)
    if topic is None or not 0 <= data.index < len(topic.partitions):
        code = (
            ErrorCode.UNKNOWN_TOPIC_ID
            if topic is None and isinstance(name, bytes)
            else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        )
        answers[name, data.index] = _error(data.index, code)
        return None
    try:
        records = data.records or b""
        return Batch(topic.partitions[data.index], topic, records, sole_batch(records, version))
    except BatchRefused as refusal:
        if refusal.error == ErrorCode.UNKNOWN_SERVER_ERROR:
            raise  # Kafka fails the whole request
        answers[name, data.index] = _error(data.index, refusal.error)
        return None


def _append(
    broker: Broker, call: Call, acks: int, batch: Batch, budget: Budget | None
) -> PartitionProduceResponse:
    partition, topic = batch.partition, batch.topic
    index = partition.index
    if acks not in (-1, 0, 1):
        return _error(index, ErrorCode.INVALID_REQUIRED_ACKS)
    if topic.internal and call.client_id != ADMIN_CLIENT_ID:
        return _error(index, ErrorCode.INVALID_TOPIC_EXCEPTION)
    if partition.leader != broker.node_id:
        answer = _error(index, ErrorCode.NOT_LEADER_OR_FOLLOWER)
        if call.version >= LEADER_TAGS_SINCE:
            answer.current_leader = LeaderIdAndEpoch(
                leader_id=partition.leader, leader_epoch=partition.leader_epoch
            )
        return answer
    log = partition.log
    try:
        if acks == -1 and len(partition.isr) < min(
            topic.effective_int("min.insync.replicas"), len(partition.replicas)
        ):
            raise BatchRefused(
                ErrorCode.NOT_ENOUGH_REPLICAS, f"{len(partition.isr)} replicas in sync"
            )
        placed = log.append(
            batch.data,
            batch.header,
            log_config(topic),
            leader_epoch=partition.leader_epoch,
            now_ms=broker.epoch_ms + call.now,
            where=f"{topic.name}-{index}",
            budget=budget,
            elapsed_ms=call.now,
        )
    except BatchRefused as refusal:
        answer = _refused(index, refusal)
        if refusal.error not in _NO_LOG_START:
            answer.log_start_offset = log.log_start_offset
        return answer
    if placed.sent is not None:
        size = log.bytes_from(placed.base_offset)
        data_log.recompressed(broker.log, broker.node_id, call.now, partition, placed, size)
    if log.calls_cleaner:
        broker.services.cleaning.appended(partition, call.now)
    if broker.log is not None and not placed.duplicate:
        data_log.appended(
            broker.log,
            broker.node_id,
            call,
            acks,
            topic.name,
            index,
            batch.header,
            placed.base_offset,
        )
    return PartitionProduceResponse(
        index=index,
        base_offset=placed.base_offset,
        log_append_time_ms=placed.timestamp,
        log_start_offset=log.log_start_offset,
    )


def _error(index: int, code: int) -> PartitionProduceResponse:
    return PartitionProduceResponse(index=index, error_code=code, base_offset=-1)


def _refused(index: int, refusal: BatchRefused) -> PartitionProduceResponse:
    answer = _error(index, refusal.error)
    answer.error_message = refusal.message
    answer.record_errors = [
        BatchIndexAndErrorMessage(batch_index=at, batch_index_error_message=text)
        for at, text in refusal.records
    ]
    return answer


def _respond(
    broker: Broker, call: Call, acks: int, answers: dict[Key, PartitionProduceResponse]
) -> ProduceResponse | Special:
    if acks == 0:
        return CLOSE if any(answer.error_code for answer in answers.values()) else NO_RESPONSE
    return _answered(broker, call, answers)


def _answered(
    broker: Broker, call: Call, answers: dict[Key, PartitionProduceResponse]
) -> ProduceResponse:
    response = ProduceResponse()
    topics: dict[str | bytes, TopicProduceResponse] = {}
    leaders: list[int] = []
    for (name, _), answer in answers.items():
        topic = topics.get(name)
        if topic is None:
            topic = topics[name] = (
                TopicProduceResponse(topic_id=name)
                if isinstance(name, bytes)
                else TopicProduceResponse(name=name)
            )
            response.responses.append(topic)
        topic.partition_responses.append(answer)
        leader = answer.current_leader.leader_id
        if leader >= 0:
            leaders.append(leader)
    for leader in sorted(set(leaders)) if leaders else ():
        node = broker.cluster.brokers.get(leader)
        if node is not None and call.listener in node.endpoints:
            host, port = node.endpoints[call.listener]
            response.node_endpoints.append(
                NodeEndpoint(node_id=leader, host=host, port=port, rack=node.rack)
            )
    return response
