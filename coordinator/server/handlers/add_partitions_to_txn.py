"""AddPartitionsToTxn (key 24), v0-5: adds partitions to a transaction (KIP-98).

v0-3 are for clients. v4-5 are for brokers: they contain several transactions and may only verify
(KIP-890); clients may send them too. A partition that does not exist (3), or for clients one of
an internal topic (29, even without an authorizer), fails the other partitions of its transaction
(55). v2: 90 in place of 47. Kafka 4.4.0 never answers a v4-5 request without a transaction
(KAFKA-BUG); here the answer is empty. If a request contains a transactional id twice, both
entries are handled with the topics of the last, and if these are added both are answered with
the rows of the first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coordinator.base.errors import ErrorCode
from coordinator.base.slices import ITEMS_A_STEP
from coordinator.core.transactions.decide import Producer
from coordinator.wire.messages.transactions import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopicResult,
    AddPartitionsToTxnTransaction,
)

from ..cluster.model import INTERNAL_TOPICS
from ..requests.call import Sliced
from ..transactions.outcomes import fenced

if TYPE_CHECKING:
    from coordinator.base.slices import Slices
    from coordinator.core.transactions.decide import Partition
    from coordinator.wire.messages.transactions import AddPartitionsToTxnTopic

    from ..broker import Broker
    from ..requests.call import Call, Result

_KNOWS_PRODUCER_FENCED = 2
_FIRST_BATCHED = 4
_REFUSALS = frozenset({ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.TOPIC_AUTHORIZATION_FAILED})
"""Of partitions, before anybody looks at the transaction."""


def handle(broker: Broker, call: Call) -> Sliced:
    """Handle an AddPartitionsToTxn in slices; it is never parked."""
    request = call.message
    assert isinstance(request, AddPartitionsToTxnRequest)
    return Sliced((_add_all if call.version >= _FIRST_BATCHED else _add_one)(broker, call, request))


def _add_one(broker: Broker, call: Call, request: AddPartitionsToTxnRequest) -> Slices[Result]:
    one = AddPartitionsToTxnTransaction(
        transactional_id=request.v3_and_below_transactional_id,
        producer_id=request.v3_and_below_producer_id,
        producer_epoch=request.v3_and_below_producer_epoch,
        topics=request.v3_and_below_topics,
    )
    errors = yield from _errors(broker, call, one, one.topics, forbidden=INTERNAL_TOPICS)
    knows = call.version >= _KNOWS_PRODUCER_FENCED
    return AddPartitionsToTxnResponse(
        results_by_topic_v3_and_below=(yield from _results(one, errors, one.topics, knows))
    )


def _add_all(broker: Broker, call: Call, request: AddPartitionsToTxnRequest) -> Slices[Result]:
    """Add partitions to each transaction of a batch, in slices. Results of entries that were
    written come last in the response, as in Kafka.
    """
    at_once: list[AddPartitionsToTxnResult] = []
    written: list[AddPartitionsToTxnResult] = []
    last = {one.transactional_id: one.topics for one in request.transactions}
    first = {one.transactional_id: one.topics for one in reversed(request.transactions)}
    for count, named in enumerate(request.transactions, 1):
        if not count % ITEMS_A_STEP:
            call = call._replace(now=(yield))
        one = AddPartitionsToTxnTransaction(
            transactional_id=named.transactional_id,
            producer_id=named.producer_id,
            producer_epoch=named.producer_epoch,
            verify_only=named.verify_only,
            topics=last[named.transactional_id],
        )
        told = first[named.transactional_id]
        before = _size(broker, one.transactional_id)
        errors = yield from _errors(broker, call, one, told)
        waits = _size(
            broker, one.transactional_id
        ) != before and broker.services.transactions.has_followers(one.transactional_id)
        (written if waits else at_once).append(
            AddPartitionsToTxnResult(
                transactional_id=one.transactional_id,
                topic_results=(yield from _results(one, errors, told, knows=True)),
            )
        )
    return AddPartitionsToTxnResponse(results_by_transaction=at_once + written)


def _size(broker: Broker, transactional_id: str) -> int:
    known = broker.services.transactions.coordinator.transactions.get(transactional_id)
    return 0 if known is None else len(known.partitions)


def _errors(
    broker: Broker,
    call: Call,
    one: AddPartitionsToTxnTransaction,
    told: list[AddPartitionsToTxnTopic],
    forbidden: frozenset[str] = frozenset(),
) -> Slices[dict[Partition, ErrorCode]]:
    partitions: dict[Partition, ErrorCode] = {}
    find, refused = broker.cluster.partition, False
    for count, topic in enumerate(one.topics, 1):
        if not count % ITEMS_A_STEP:
            call = call._replace(now=(yield))
        for index in topic.partitions:
            if topic.name in forbidden:
                error = ErrorCode.TOPIC_AUTHORIZATION_FAILED
            elif find(topic.name, index) is None:
                error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            else:
                error = ErrorCode.OPERATION_NOT_ATTEMPTED
            partitions[topic.name, index] = error
            refused = refused or error is not ErrorCode.OPERATION_NOT_ATTEMPTED
    if refused:
        return partitions
    producer, transactions = (
        Producer(one.producer_id, one.producer_epoch),
        broker.services.transactions,
    )
    if one.verify_only:
        return {
            partition: transactions.verify(one.transactional_id, producer, partition, call)
            for partition in partitions
        }
    error = transactions.add(one.transactional_id, producer, list(partitions), call)
    return {(topic.name, index): error for topic in told for index in topic.partitions}


def _results(
    one: AddPartitionsToTxnTransaction,
    errors: dict[Partition, ErrorCode],
    told: list[AddPartitionsToTxnTopic],
    knows: bool,
) -> Slices[list[AddPartitionsToTxnTopicResult]]:
    """Return the rows of `told` if partitions were to be added, else one row for each distinct
    partition. `knows`: the version has the error PRODUCER_FENCED.
    """
    if not one.verify_only and not _REFUSALS.intersection(errors.values()):
        return (yield from _as_asked(told, errors, knows))
    by_topic: dict[str, AddPartitionsToTxnTopicResult] = {}
    seen: set[Partition] = set()
    for count, topic in enumerate(one.topics, 1):
        if not count % ITEMS_A_STEP:
            yield
        for index in topic.partitions:
            partition = topic.name, index
            if partition in seen:
                continue
            seen.add(partition)
            result = by_topic.get(topic.name)
            if result is None:
                result = by_topic[topic.name] = AddPartitionsToTxnTopicResult(name=topic.name)
            result.results_by_partition.append(
                AddPartitionsToTxnPartitionResult(
                    partition_index=index, partition_error_code=fenced(errors[partition], knows)
                )
            )
    return list(by_topic.values())


def _as_asked(
    topics: list[AddPartitionsToTxnTopic], errors: dict[Partition, ErrorCode], knows: bool
) -> Slices[list[AddPartitionsToTxnTopicResult]]:
    results = []
    for count, topic in enumerate(topics, 1):
        if not count % ITEMS_A_STEP:
            yield
        results.append(
            AddPartitionsToTxnTopicResult(
                name=topic.name,
                results_by_partition=[
                    AddPartitionsToTxnPartitionResult(
                        partition_index=index,
                        partition_error_code=fenced(errors[topic.name, index], knows),
                    )
                    for index in topic.partitions
                ],
            )
        )
    return results
