"""Requests about topics and records, as a client sends them: create, add partitions, delete,
produce, read, truncate.

Each function builds a request and reads its response. It raises ControlError, with Kafka's
words, if Kafka refuses. `topic_kit.py` has the methods for tests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from coordinator.base.errors import ErrorCode
from coordinator.members.partitioners.murmur2 import partition_for_key
from coordinator.server.cluster.config_changes import Operation
from coordinator.server.settings.definitions import ResourceType
from coordinator.server.storage.compression import decompress
from coordinator.server.storage.record_codec import Record, build_batch, read_records
from coordinator.server.storage.records import (
    CONTROL,
    HEADER_SIZE,
    NO_PRODUCER_ID,
    TRANSACTIONAL,
    parse_header,
)
from coordinator.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from coordinator.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from coordinator.wire.messages.topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopic,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from coordinator.wire.messages.transactions import (
    EndTxnRequest,
    EndTxnResponse,
    InitProducerIdRequest,
    InitProducerIdResponse,
)

from . import arguments
from .client_requests import UnansweredError, asked, until
from .in_process_requests import ControlError, ask, check

if TYPE_CHECKING:
    from coordinator.server.broker import Broker
    from coordinator.server.cluster import Partition, Topic
    from coordinator.server.storage.partition_log import PartitionLog
    from coordinator.wire.schema import Request, Response

    from .client_requests import Steps
    from .reachable_brokers import Reach

_TIMEOUT_MS = 30_000
_BY_NAME = 12
"""The last version of Produce that names topics; transactions need no AddPartitionsToTxn from it on
(KIP-890)."""

_ASKED_AGAIN = (ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND, ErrorCode.REQUEST_TIMED_OUT)
"""Errors after which the batch is in its leader's log, but not known to be replicated: an
idempotent producer sends it again."""

T = TypeVar("T")
R = TypeVar("R", bound="Response")
Value = bytes | str | None


class Producer(NamedTuple):
    """Identity of the writer: a producer id and epoch, with or without a transactional id."""

    transactional_id: str | None
    producer_id: int
    epoch: int


class Written(NamedTuple):
    """The place of a written record."""

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
    """Create a topic; -1 partitions: the setting num.partitions decides."""
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


def configure(
    broker: Broker, now: int, name: str, configs: Mapping[str, object | None]
) -> dict[str, str | None]:
    """Set configurations of a topic; None: back to the default. Return the former values."""
    arguments.mapping("config", configs, '{"retention.ms": 1000}')
    own = topic_of(broker, name).configs
    before = {key: own.get(key) for key in configs}
    changes = [
        AlterableConfig(
            name=key,
            config_operation=Operation.DELETE if value is None else Operation.SET,
            value=None if value is None else _text(value),
        )
        for key, value in configs.items()
    ]
    resource = AlterConfigsResource(
        resource_type=ResourceType.TOPIC, resource_name=name, configs=changes
    )
    answer = ask(
        broker,
        IncrementalAlterConfigsRequest(resources=[resource]),
        IncrementalAlterConfigsResponse,
        now,
    )
    (row,) = answer.responses
    check(row.error_code, f"topic {name} cannot be configured so", row.error_message)
    return before


def configured(
    reach: Reach, name: str, configs: Mapping[str, object | None]
) -> Steps[dict[str, str | None]]:
    """Wait for a broker that reaches the controller, then `configure`."""
    before: dict[str, str | None] = {}

    def change(broker: Broker, now: int) -> None:
        before.update(configure(broker, now, name, configs))

    yield from controlled(reach, change)
    return before


def grow(broker: Broker, now: int, name: str, partitions: int) -> None:
    """Add partitions to a topic; `partitions` is the new total."""
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


def controlled(reach: Reach, change: Callable[[Broker, int], None]) -> Steps[None]:
    """Wait for a broker that reaches the controller, then change topics there."""
    yield from until(reach.uncontrolled)
    broker = reach.controlling()
    assert broker is not None
    change(broker, reach.now())


def truncated(reach: Reach, name: str, partition: int, before: int) -> Steps[int]:
    """Delete the records of a partition below an offset (-1: all). Return the new log start
    offset."""
    arguments.whole("before", before)
    yield from until(reach.all_brokers_down)
    partition_of(reach.any_broker(), name, partition)
    row = DeleteRecordsPartition(partition_index=partition, offset=before)
    request = DeleteRecordsRequest(
        topics=[DeleteRecordsTopic(name=name, partitions=[row])], timeout_ms=_TIMEOUT_MS
    )
    answer = yield from led(reach, name, partition, request, DeleteRecordsResponse)
    result = answer.topics[0].partitions[0]
    check(result.error_code, f"{name}-{partition} cannot be truncated before offset {before}")
    return result.low_watermark


def topic_of(broker: Broker, name: str) -> Topic:
    """Return the topic. Raises ControlError, which names the topics that exist."""
    arguments.text("name", name)
    topic = broker.cluster.topics.get(name)
    if topic is None:
        known = (
            ", ".join(name for name, topic in broker.cluster.topics.items() if not topic.internal)
            or "none"
        )
        raise ControlError(f"there is no topic {name!r}; there are: {known}")
    return topic


def partition_of(broker: Broker, name: str, index: int) -> Partition:
    """Return the partition. Raises ControlError, which names the partitions that exist."""
    topic = topic_of(broker, name)
    arguments.whole("partition", index)
    if not 0 <= index < len(topic.partitions):
        raise ControlError(
            f"topic {name} has no partition {index}: it has 0 to {len(topic.partitions) - 1}"
        )
    return topic.partitions[index]


def ends(reach: Reach, name: str, *, committed: bool) -> Steps[dict[int, int]]:
    """Return the end offset of each partition: the high watermark or, with `committed`, the last
    stable offset."""
    yield from until(reach.all_brokers_down)
    count = len(topic_of(reach.any_broker(), name).partitions)
    yield from until(lambda: _unready(reach, name, range(count)))
    logs = {index: reach.leader_of(name, index) for index in range(count)}
    return {
        index: log.last_stable_offset if committed else log.high_watermark
        for index, log in (
            (index, partition_of(leader, name, index).log) for index, leader in logs.items()
        )
    }


# -- writing


def placed(
    broker: Broker, name: str, records: Iterable[Record], partition: int | None
) -> dict[int, list[Record]]:
    """Return records by partition: the given one, else that of the key as Java hashes it
    (PART-1), else each in turn."""
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


def produced(
    reach: Reach,
    name: str,
    values: Iterable[Value],
    *,
    partition: int | None = None,
    keys: Sequence[Value] | None = None,
    headers: Mapping[str, Value] | None = None,
    timestamp_ms: int | None = None,
    transactional_id: str | None = None,
    abort: bool = False,
    user: str | None = None,
    at_once: bool = False,
) -> Steps[list[Written]]:
    """Write records and return their places. Nothing is written before all partitions can be
    written to and, with `at_once`, acknowledged without a wait."""
    arguments.records(partition, headers, timestamp_ms, transactional_id, abort)
    listed = arguments.listed("values", values)
    keyed = None if keys is None else arguments.listed("keys", keys)
    if keyed is not None and len(keyed) != len(listed):
        raise ControlError(
            f"keys: {len(keyed)} for {len(listed)} values; give one for each, None for a record without key"
        )
    pairs = tuple((key, _bytes(value)) for key, value in (headers or {}).items())
    yield from until(reach.all_brokers_down)
    broker, now = reach.any_broker(), reach.now()
    at_ms = broker.epoch_ms + now if timestamp_ms is None else timestamp_ms
    rows = [
        Record(
            number, at_ms, None if keyed is None else _bytes(keyed[number]), _bytes(value), pairs
        )
        for number, value in enumerate(listed)
    ]
    found = placed(broker, name, rows, partition)
    if user is not None:
        from .acting import check_may_write

        check_may_write(broker, now, user, name, transactional_id)
    yield from until(lambda: _unready(reach, name, found, writing=True, at_once=at_once))
    producer = None
    if transactional_id is not None:
        producer = yield from begun(reach, transactional_id)
    elif any(len(partition_of(broker, name, index).replicas) > 1 for index in found):
        producer = yield from _idempotent(reach)
    written: dict[int, Written] = {}
    for index, records in found.items():
        places = yield from _noting(
            append(reach, name, index, records, producer=producer), len(written), len(listed)
        )
        for record, place in zip(records, places, strict=True):
            written[record.offset] = place
    if producer is not None and transactional_id is not None:
        yield from ended(reach, producer, commit=not abort)
    return [written[number] for number in range(len(listed))]


def _noting(steps: Steps[T], done: int, total: int) -> Steps[T]:
    """Run these steps; whenever they wait, add how much of the whole call is done."""
    note = (f"{done} of the {total} records are written",) if done else ()
    while True:
        try:
            unmet = next(steps)
        except StopIteration as end:
            result: T = end.value
            return result
        yield lambda unmet=unmet: (*lacking, *note) if (lacking := unmet()) else ()  # type: ignore[misc]


def _unready(
    reach: Reach,
    name: str,
    indexes: Iterable[int],
    *,
    writing: bool = False,
    at_once: bool = False,
) -> tuple[str, ...]:
    """Return why not all of these partitions can be read or written now, or nothing if they can."""
    each = (reach.unready(name, index, writing=writing, at_once=at_once) for index in indexes)
    return tuple(text for texts in each for text in texts)


def append(
    reach: Reach,
    name: str,
    index: int,
    records: Sequence[Record],
    *,
    producer: Producer | None = None,
) -> Steps[list[Written]]:
    """Append records to one partition as one batch, acknowledged by all replicas in sync.
    `producer`: one with an open transaction, or an idempotent one, whose batch may be sent
    again."""
    if not records:
        return []
    rows = [record._replace(offset=offset) for offset, record in enumerate(records)]
    batch = None
    while True:
        yield from until(lambda: reach.unready(name, index, writing=True))
        if batch is None:
            log = partition_of(reach.leader_of(name, index), name, index).log
            batch = build_batch(
                rows,
                producer_id=NO_PRODUCER_ID if producer is None else producer.producer_id,
                producer_epoch=-1 if producer is None else producer.epoch,
                base_sequence=-1 if producer is None else _next_sequence(log, producer),
                attributes=TRANSACTIONAL if producer and producer.transactional_id else 0,
            )
        data = TopicProduceData(
            name=name, partition_data=[PartitionProduceData(index=index, records=batch)]
        )
        request = ProduceRequest(
            transactional_id=None if producer is None else producer.transactional_id,
            acks=-1,
            timeout_ms=_TIMEOUT_MS,
            topic_data=[data],
        )
        response = yield from led(
            reach,
            name,
            index,
            request,
            ProduceResponse,
            version=_BY_NAME,
            again=producer is not None,
        )
        answer = response.responses[0].partition_responses[0]
        if producer is None or answer.error_code not in _ASKED_AGAIN:
            break
    check(answer.error_code, f"{name}-{index}: the records cannot be written", answer.error_message)
    return [Written(name, index, answer.base_offset + number) for number in range(len(rows))]


def led(
    reach: Reach,
    name: str,
    index: int,
    request: Request,
    kind: type[R],
    *,
    version: int | None = None,
    again: bool = True,
) -> Steps[R]:
    """Return the response of a partition's leader. If it stops first and `again` allows it, ask
    the next leader."""
    while True:
        yield from until(lambda: reach.unready(name, index))
        leader = reach.leader_of(name, index)
        try:
            return (
                yield from asked(
                    reach,
                    leader,
                    request,
                    kind,
                    version=version,
                    counts=partial(_leads, leader, name, index),
                )
            )
        except UnansweredError:
            if not again:
                raise


def _leads(leader: Broker, name: str, index: int) -> bool:
    """Return True if this broker leads a partition by the controller's view, or if the
    controller does not know it."""
    found = leader.controller.cluster.partition(name, index)
    return found is None or found.leader == leader.node_id


def _next_sequence(log: PartitionLog, producer: Producer) -> int:
    """Return the sequence number of the producer's next batch in a partition: one more than its
    last (KIP-98), or 0."""
    state = log.producers.states.get(producer.producer_id)
    return 0 if state is None or state.epoch != producer.epoch else state.last_sequence + 1


def _idempotent(reach: Reach) -> Steps[Producer]:
    """Return an idempotent producer, so that a batch that is sent again is written once."""
    answer = yield from asked(
        reach,
        reach.any_broker(),
        InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=_TIMEOUT_MS),
        InitProducerIdResponse,
    )
    check(answer.error_code, "an idempotent producer cannot be initialized")
    return Producer(None, answer.producer_id, answer.producer_epoch)


def begun(reach: Reach, transactional_id: str, timeout_ms: int = 60_000) -> Steps[Producer]:
    """Initialise the producer of a transactional id: a former producer is fenced, and its open
    transaction aborted."""
    broker = yield from _coordinating(reach, transactional_id)
    request = InitProducerIdRequest(
        transactional_id=transactional_id, transaction_timeout_ms=timeout_ms
    )
    answer = yield from asked(reach, broker, request, InitProducerIdResponse)
    check(answer.error_code, f"transactional id {transactional_id} cannot be initialized")
    return Producer(transactional_id, answer.producer_id, answer.producer_epoch)


def ended(reach: Reach, producer: Producer, *, commit: bool) -> Steps[Producer]:
    """End the open transaction; return the producer for the next one."""
    assert producer.transactional_id is not None
    broker = yield from _coordinating(reach, producer.transactional_id)
    request = EndTxnRequest(
        transactional_id=producer.transactional_id,
        producer_id=producer.producer_id,
        producer_epoch=producer.epoch,
        committed=commit,
    )
    answer = yield from asked(reach, broker, request, EndTxnResponse)
    check(
        answer.error_code,
        f"the transaction of {producer.transactional_id} cannot be {'committed' if commit else 'aborted'}",
    )
    return producer._replace(producer_id=answer.producer_id, epoch=answer.producer_epoch)


def _coordinating(reach: Reach, transactional_id: str) -> Steps[Broker]:
    """Wait until the coordinator of a transactional id runs, and return it."""

    def unmet() -> tuple[str, ...]:
        if reach.all_brokers_down():
            return reach.all_brokers_down()
        if reach.coordinating(transactional_id) is not None:
            return ()
        return (
            f"transactional id {transactional_id!r} has no coordinator that runs ({reach.about(None)})",
        )

    yield from until(unmet)
    broker = reach.coordinating(transactional_id)
    assert broker is not None
    return broker


# -- reading


def records(
    reach: Reach,
    name: str,
    partition: int | None,
    *,
    start: int | None = None,
    committed: bool = False,
) -> Steps[list[ReadRecord]]:
    """Return the records of a partition, or of all, from their leaders."""
    arguments.whole_or_none("partition", partition)
    arguments.whole_or_none("start", start)
    arguments.flag("committed", committed)
    yield from until(reach.all_brokers_down)
    found = topic_of(reach.any_broker(), name)
    indexes = range(len(found.partitions)) if partition is None else [partition]
    yield from until(lambda: _unready(reach, name, indexes))
    return [
        row
        for index in indexes
        for row in read(reach.leader_of(name, index), name, index, start=start, committed=committed)
    ]


def read(
    broker: Broker, name: str, index: int, *, start: int | None = None, committed: bool = False
) -> list[ReadRecord]:
    """Return the records of a partition from an offset (None: the first) to the end, without
    transaction markers. `committed`: without records of open and aborted transactions."""
    log = partition_of(broker, name, index).log
    start = log.log_start_offset if start is None else start
    end = log.last_stable_offset if committed else log.high_watermark
    if start >= end:
        return []
    data = log.read(start, 1 << 62, end=end, across=True)
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


def _bytes(value: Value) -> bytes | None:
    if value is None or isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode()
    raise ControlError(f"{value!r} cannot stand in a record: bytes, a text or None can")


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
