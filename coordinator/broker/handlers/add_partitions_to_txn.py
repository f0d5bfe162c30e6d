"""AddPartitionsToTxn (key 24), v0-5: partitions come into a transaction (KIP-98).

v0-3 are for clients. v4-5 are for brokers, which ask for several transactions at once and may only verify (KIP-890); nobody is
kept from asking. A partition that does not exist (3) takes the others of its transaction with it (55). v2: 90 in place of 47.
A v4-5 request without any transaction: Kafka 4.3.1 never answers (KAFKA-BUG); here the answer is empty.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import ErrorCode
from ...slices import ITEMS_A_STEP
from ...transactions.decide import Producer
from ...wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopicResult,
    AddPartitionsToTxnTransaction,
)
from ..call import Sliced
from ..transactions import fenced

if TYPE_CHECKING:
    from ...slices import Slices
    from ...transactions.decide import Partition
    from ...wire.messages.add_partitions_to_txn import AddPartitionsToTxnTopic
    from ..call import Call, Result
    from ..core import Broker

_KNOWS_PRODUCER_FENCED = 2
_FIRST_BATCHED = 4


def handle(broker: Broker, call: Call) -> Result | Sliced:
    """Always answered at once."""
    request = call.message
    assert isinstance(request, AddPartitionsToTxnRequest)
    if call.version >= _FIRST_BATCHED:
        return Sliced(_add_all(broker, call, request))
    one = AddPartitionsToTxnTransaction(
        transactional_id=request.v3_and_below_transactional_id, producer_id=request.v3_and_below_producer_id,
        producer_epoch=request.v3_and_below_producer_epoch, topics=request.v3_and_below_topics)
    errors = _errors(broker, call, one)
    return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=_results(one.topics, {
        partition: fenced(error, call.version >= _KNOWS_PRODUCER_FENCED) for partition, error in errors.items()}))


def _add_all(broker: Broker, call: Call, request: AddPartitionsToTxnRequest) -> Slices[Result]:
    results = []
    for count, one in enumerate(request.transactions, 1):
        if not count % ITEMS_A_STEP:
            call = call._replace(now=(yield))
        results.append(AddPartitionsToTxnResult(
            transactional_id=one.transactional_id, topic_results=_results(one.topics, _errors(broker, call, one))))
    return AddPartitionsToTxnResponse(results_by_transaction=results)


def _errors(broker: Broker, call: Call, one: AddPartitionsToTxnTransaction) -> dict[Partition, ErrorCode]:
    partitions = [(topic.name, index) for topic in one.topics for index in topic.partitions]
    unknown = {partition for partition in partitions if broker.cluster.partition(*partition) is None}
    if unknown:
        return {partition: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if partition in unknown else ErrorCode.OPERATION_NOT_ATTEMPTED
                for partition in partitions}
    producer, transactions = Producer(one.producer_id, one.producer_epoch), broker.transactions
    if one.verify_only:
        return {partition: transactions.verify(one.transactional_id, producer, partition, call) for partition in partitions}
    return dict.fromkeys(partitions, transactions.add(one.transactional_id, producer, partitions, call))


def _results(topics: list[AddPartitionsToTxnTopic], errors: dict[Partition, ErrorCode]) -> list[AddPartitionsToTxnTopicResult]:
    by_topic: dict[str, AddPartitionsToTxnTopicResult] = {}
    for topic in topics:
        result = by_topic.setdefault(topic.name, AddPartitionsToTxnTopicResult(name=topic.name))
        known = {row.partition_index for row in result.results_by_partition}
        result.results_by_partition += [
            AddPartitionsToTxnPartitionResult(partition_index=index, partition_error_code=errors[topic.name, index])
            for index in dict.fromkeys(topic.partitions) if index not in known]
    return [result for result in by_topic.values() if result.results_by_partition]
