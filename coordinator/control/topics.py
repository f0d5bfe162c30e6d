"""Topics of a running broker, in the words of a test: make, grow, delete, write, read, truncate.

Each function builds the request that a client would send, and reads its answer. They raise
ControlError where Kafka refuses, in Kafka's words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..partitioners.murmur2 import partition_for_key
from ..storage.compression import decompress
from ..storage.record_codec import Record, build_batch, read_records
from ..storage.records import CONTROL, HEADER_SIZE, NO_PRODUCER_ID, TRANSACTIONAL, parse_header
from ..wire.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
)
from ..wire.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from ..wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopic,
)
from ..wire.messages.delete_topics import (
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from ..wire.messages.end_txn import EndTxnRequest, EndTxnResponse
from ..wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from ..wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from . import arguments
from .in_process_requests import ControlError, ask, check

if TYPE_CHECKING:
    from ..broker.core import Broker
    from ..cluster import Partition, Topic
    from ..storage.partition_log import PartitionLog

_TIMEOUT_MS = 30_000
_BY_NAME = 12
"""The last version of Produce that names topics; transactions need no AddPartitionsToTxn from it on
(KIP-890)."""

Headers = Sequence[tuple[str, bytes | None]]


class Written(NamedTuple):
    """Where a record was put."""

    topic: str
    partition: int
    offset: int


class ReadRecord(NamedTuple):
    """A record as a consumer gets it. `timestamp_ms`: Unix milliseconds."""

    topic: str
    partition: int
    offset: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]


def create(
    broker: Broker,
    now: int,
    name: str,
    partitions: int,
    replication: int,
    configs: Mapping[str, object],
) -> None:
    """Make a topic; -1 partitions: as many as num.partitions says."""
    arguments.new_topic(name, partitions, replication, configs)
    rows = [CreatableTopicConfig(name=key, value=_text(value)) for key, value in configs.items()]
    topic = CreatableTopic(
        name=name, num_partitions=partitions, replication_factor=replication, configs=rows
    )
    answer = ask(
        broker,
        CreateTopicsRequest(topics=[topic], timeout_ms=_TIMEOUT_MS),
        CreateTopicsResponse,
        now,
    )
    check(
        answer.topics[0].error_code, f"topic {name} cannot be made", answer.topics[0].error_message
    )


def grow(broker: Broker, now: int, name: str, partitions: int) -> None:
    """Give a topic more partitions: `partitions` in all."""
    arguments.grown(partitions)
    topic_of(broker, name)
    request = CreatePartitionsRequest(
        topics=[CreatePartitionsTopic(name=name, count=partitions, assignments=None)],
        timeout_ms=_TIMEOUT_MS,
    )
    (result,) = ask(broker, request, CreatePartitionsResponse, now).results
    check(
        result.error_code, f"topic {name} cannot have {partitions} partitions", result.error_message
    )


def delete(broker: Broker, now: int, name: str) -> None:
    """Delete a topic, its records, and what groups committed in it."""
    topic_of(broker, name)
    request = DeleteTopicsRequest(topics=[DeleteTopicState(name=name)], timeout_ms=_TIMEOUT_MS)
    (result,) = ask(broker, request, DeleteTopicsResponse, now).responses
    check(result.error_code, f"topic {name} cannot be deleted", result.error_message)


def truncate(broker: Broker, now: int, name: str, partition: int, before: int) -> int:
    """Delete the records of a partition below an offset (-1: all there are); the new log start."""
    partition_of(broker, name, partition)
    arguments.whole("before", before)
    row = DeleteRecordsPartition(partition_index=partition, offset=before)
    request = DeleteRecordsRequest(
        topics=[DeleteRecordsTopic(name=name, partitions=[row])], timeout_ms=_TIMEOUT_MS
    )
    result = ask(broker, request, DeleteRecordsResponse, now).topics[0].partitions[0]
    check(result.error_code, f"{name}-{partition} cannot be truncated before offset {before}")
    return result.low_watermark


def topic_of(broker: Broker, name: str) -> Topic:
    """The topic. Raises ControlError that names those there are."""
    topic = broker.cluster.topics.get(name)
    if topic is None:
        known = (
            ", ".join(name for name, topic in broker.cluster.topics.items() if not topic.internal)
            or "none"
        )
        raise ControlError(f"there is no topic {name!r}; there are: {known}")
    return topic


def partition_of(broker: Broker, name: str, index: int) -> Partition:
    """The partition. Raises ControlError that says which there are."""
    topic = topic_of(broker, name)
    arguments.whole("partition", index)
    if not 0 <= index < len(topic.partitions):
        raise ControlError(
            f"topic {name} has no partition {index}: it has 0 to {len(topic.partitions) - 1}"
        )
    return topic.partitions[index]


def end_offsets(broker: Broker, name: str, *, committed: bool = False) -> dict[int, int]:
    """Where each partition ends for readers; for those of committed records only, if asked for."""
    return {
        p.index: p.log.last_stable_offset if committed else p.log.high_watermark
        for p in topic_of(broker, name).partitions
    }


# -- writing
# -----------------------------------------------------------------------------------------------------------


def placed(
    broker: Broker, name: str, records: Iterable[Record], partition: int | None
) -> dict[int, list[Record]]:
    """Records by partition: the one given, else that of the key as Java hashes it (PART-1), else
    one after the other."""
    count = len(topic_of(broker, name).partitions)
    by_partition: dict[int, list[Record]] = {}
    for number, record in enumerate(records):
        if partition is not None:
            index = partition
        else:
            index = number % count if record.key is None else partition_for_key(record.key, count)
        partition_of(broker, name, index)
        by_partition.setdefault(index, []).append(record)
    return by_partition


def produce(
    broker: Broker,
    now: int,
    name: str,
    index: int,
    records: Sequence[Record],
    *,
    producer: tuple[str, int, int] | None = None,
) -> list[Written]:
    """Append records to one partition as one batch. `producer`: transactional id, producer id and
    epoch of an open transaction."""
    if not records:
        return []
    transactional_id, producer_id, epoch = producer or (None, NO_PRODUCER_ID, -1)
    sequence = (
        -1
        if producer is None
        else _next_sequence(partition_of(broker, name, index).log, producer_id, epoch)
    )
    rows = [record._replace(offset=offset) for offset, record in enumerate(records)]
    batch = build_batch(
        rows,
        producer_id=producer_id,
        producer_epoch=epoch,
        base_sequence=sequence,
        attributes=0 if producer is None else TRANSACTIONAL,
    )
    data = TopicProduceData(
        name=name, partition_data=[PartitionProduceData(index=index, records=batch)]
    )
    acks = (
        -1 if len(partition_of(broker, name, index).isr) == 1 else 1
    )  # the answer is to come at once
    request = ProduceRequest(
        transactional_id=transactional_id, acks=acks, timeout_ms=_TIMEOUT_MS, topic_data=[data]
    )
    answer = (
        ask(broker, request, ProduceResponse, now, version=_BY_NAME)
        .responses[0]
        .partition_responses[0]
    )
    check(answer.error_code, f"{name}-{index}: the records cannot be written", answer.error_message)
    return [Written(name, index, answer.base_offset + number) for number in range(len(rows))]


def _next_sequence(log: PartitionLog, producer_id: int, epoch: int) -> int:
    """The sequence number that a producer's next batch carries in a partition: it goes on behind
    its last (KIP-98)."""
    state = log.producers.states.get(producer_id)
    return 0 if state is None or state.epoch != epoch else state.last_sequence + 1


def begin(
    broker: Broker, now: int, transactional_id: str, timeout_ms: int = 60_000
) -> tuple[str, int, int]:
    """Initialize the producer of a transactional id: whoever had it before is fenced, and its open
    transaction aborted."""
    request = InitProducerIdRequest(
        transactional_id=transactional_id, transaction_timeout_ms=timeout_ms
    )
    answer = ask(broker, request, InitProducerIdResponse, now)
    check(answer.error_code, f"transactional id {transactional_id} cannot be initialized")
    return transactional_id, answer.producer_id, answer.producer_epoch


def end(
    broker: Broker, now: int, producer: tuple[str, int, int], *, commit: bool
) -> tuple[str, int, int]:
    """End the open transaction; the producer as it goes on."""
    transactional_id, producer_id, epoch = producer
    request = EndTxnRequest(
        transactional_id=transactional_id,
        producer_id=producer_id,
        producer_epoch=epoch,
        committed=commit,
    )
    answer = ask(broker, request, EndTxnResponse, now)
    check(
        answer.error_code,
        f"the transaction of {transactional_id} cannot be {'committed' if commit else 'aborted'}",
    )
    return transactional_id, answer.producer_id, answer.producer_epoch


# -- reading
# -----------------------------------------------------------------------------------------------------------


def read(
    broker: Broker, name: str, index: int, *, start: int | None = None, committed: bool = False
) -> list[ReadRecord]:
    """The records of a partition from an offset (None: its first) to its end, without transactions'
    markers.

    `committed`: as a read_committed consumer sees them, without open and aborted transactions.
    """
    log = partition_of(broker, name, index).log
    start = log.log_start_offset if start is None else start
    end = log.last_stable_offset if committed else log.high_watermark
    if start >= end:
        return []
    data = log.read(start, 1 << 62, end=end)
    aborted = _aborted_ranges(log) if committed else {}
    return [
        ReadRecord(
            name, index, record.offset, record.timestamp, record.key, record.value, record.headers
        )
        for record in _records(data, aborted)
        if start <= record.offset < end
    ]


def _aborted_ranges(log: PartitionLog) -> dict[int, list[tuple[int, int]]]:
    ranges: dict[int, list[tuple[int, int]]] = {}
    for entry in log.aborted:
        ranges.setdefault(entry.producer_id, []).append((entry.first_offset, entry.last_offset))
    return ranges


def _records(data: bytes, aborted: Mapping[int, Sequence[tuple[int, int]]]) -> Iterator[Record]:
    pos = 0
    while pos + HEADER_SIZE <= len(data):
        header = parse_header(data, pos)
        payload = data[pos + HEADER_SIZE : pos + header.size]
        pos += header.size
        if header.attributes & CONTROL:
            continue
        ranges = aborted.get(header.producer_id, ()) if header.attributes & TRANSACTIONAL else ()
        if any(first <= header.base_offset <= last for first, last in ranges):
            continue
        opened = decompress(header.codec, payload)
        if opened is None:
            raise ControlError(
                "the records are compressed with zstd, which this Python cannot open (3.14 can)"
            )
        yield from read_records(header, opened.data)


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
