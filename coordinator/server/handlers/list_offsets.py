"""ListOffsets (key 2), v1-11: offsets by special timestamp or by time, as a broker without tiered
storage answers.

Special timestamps and their first versions: -1 latest and -2 earliest (v1), -3 highest timestamp
(v7, KIP-734), -4 earliest local (v8), -5 latest tiered (v9, KIP-1005), -6 earliest pending
upload (v11, KIP-1023); other negative ones, or one in an earlier version: 35. With
read_committed, the last stable offset is the latest, and later offsets are not returned. A
replica id of 0 or more sees all records, committed or not; so does a debugging consumer (-2),
which may ask followers too. Order of refusals: isolation level (-1, the whole request),
partition named twice (42), special timestamp (35), unknown (3), leader epoch (74, 75), not the
leader (6). A leader whose high watermark has not reached the start of its leader epoch answers
78 (before v5: 5) for the latest offset and for offsets behind it (KIP-207).
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from coordinator.base.errors import ErrorCode
from coordinator.wire.messages.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)

from ..requests.call import Sliced, by_element
from ..requests.refusals import refused_whole_in_slices
from ..storage.compression import Budget
from ..storage.partition_log import TimestampedOffset
from ..storage.records import BatchRefused

if TYPE_CHECKING:
    from coordinator.wire.messages.list_offsets import ListOffsetsPartition

    from ..broker import Broker
    from ..cluster import Partition
    from ..requests.call import Call

LATEST, EARLIEST, HIGHEST_TIMESTAMP, EARLIEST_LOCAL, LATEST_TIERED, EARLIEST_PENDING_UPLOAD = (
    -1,
    -2,
    -3,
    -4,
    -5,
    -6,
)
READ_COMMITTED = 1
CONSUMER, DEBUGGING_CONSUMER = -1, -2
_ENTRY_BYTES = 16
"""Of a request, for each partition it names."""
_KNOWS_NOT_AVAILABLE = 5
_WHEREVER = frozenset({EARLIEST, EARLIEST_LOCAL})
"""Specials that readers of committed records are answered like all others."""
_SINCE = {
    LATEST: 0,
    EARLIEST: 0,
    HIGHEST_TIMESTAMP: 7,
    EARLIEST_LOCAL: 8,
    LATEST_TIERED: 9,
    EARLIEST_PENDING_UPLOAD: 11,
}


def handle(broker: Broker, call: Call) -> Sliced:
    """Handle a ListOffsets; it is never parked."""
    request = call.message
    assert isinstance(request, ListOffsetsRequest)
    named = Counter(
        (topic.name, partition.partition_index)
        for topic in request.topics
        for partition in topic.partitions
    )
    if request.isolation_level not in (0, 1):  # it is read before any entry
        error = ErrorCode.UNKNOWN_SERVER_ERROR
        return Sliced(refused_whole_in_slices(request, call.version, error, None))
    budget = Budget.for_request(_ENTRY_BYTES * len(named))
    answers: dict[str, dict[int, ListOffsetsPartitionResponse]] = {}

    def one(place: tuple[str, ListOffsetsPartition | None], call: Call) -> None:
        topic, asked = place
        if asked is None:  # the topic itself: a request may name very many without a partition
            answers.setdefault(topic, {})
            return
        answer = ListOffsetsPartitionResponse(partition_index=asked.partition_index)
        answers[topic][asked.partition_index] = answer
        if named[topic, asked.partition_index] > 1:
            answer.error_code = ErrorCode.INVALID_REQUEST
        elif asked.timestamp < 0 and call.version < _SINCE.get(asked.timestamp, 0x7FFF):
            answer.error_code = ErrorCode.UNSUPPORTED_VERSION
        else:
            _answer(broker, call.version, topic, asked, answer, budget, request)

    return by_element(
        call,
        ((topic.name, asked) for topic in request.topics for asked in (None, *topic.partitions)),
        one,
        lambda _: by_element(
            call,
            answers.items(),
            lambda of, _: (
                ListOffsetsTopicResponse(name=of[0], partitions=list(of[1].values()))
                if of[1]
                else None
            ),
            lambda topics: ListOffsetsResponse(topics=[topic for topic in topics if topic]),
        ),
    )


def _answer(
    broker: Broker,
    version: int,
    topic: str,
    asked: ListOffsetsPartition,
    answer: ListOffsetsPartitionResponse,
    budget: Budget,
    request: ListOffsetsRequest,
) -> None:
    """Look an offset up and answer in the form of the version."""
    _look_up(broker, topic, asked, answer, budget, request)
    if version == 0 and not answer.error_code:
        partition = broker.cluster.partition(topic, asked.partition_index)
        answer.old_style_offsets = _old_style(partition, asked, answer)
    if answer.error_code == ErrorCode.OFFSET_NOT_AVAILABLE and version < _KNOWS_NOT_AVAILABLE:
        answer.error_code = ErrorCode.LEADER_NOT_AVAILABLE


def _look_up(
    broker: Broker,
    topic: str,
    asked: ListOffsetsPartition,
    answer: ListOffsetsPartitionResponse,
    budget: Budget,
    request: ListOffsetsRequest,
) -> None:
    partition = broker.cluster.partition(topic, asked.partition_index)
    answer.error_code = leader_fault(
        broker,
        partition,
        asked.current_leader_epoch,
        followers_too=request.replica_id == DEBUGGING_CONSUMER,
    )
    if partition is None or answer.error_code:
        return
    try:
        found = look_up(partition, asked.timestamp, budget)
    except BatchRefused as refusal:  # a record whose size was not looked at when it came
        answer.error_code = refusal.error
        return
    if request.replica_id != CONSUMER:
        if asked.timestamp == LATEST:
            found = found._replace(offset=partition.log.log_end_offset)
        answer.offset, answer.timestamp, answer.leader_epoch = found
        return
    committed = request.isolation_level == READ_COMMITTED
    if (
        asked.timestamp >= 0 and found.offset >= partition.log.high_watermark
    ):  # an offset that a batch only claims to hold
        found = TimestampedOffset()
    if (
        committed
        and asked.timestamp not in _WHEREVER
        and found.offset >= partition.log.last_stable_offset
    ):
        end = asked.timestamp == LATEST
        found = (
            found._replace(offset=partition.log.last_stable_offset) if end else TimestampedOffset()
        )
    unsure = asked.timestamp == LATEST or (asked.timestamp not in _WHEREVER and found.offset < 0)
    if (
        unsure
        and broker.replication is not None
        and broker.replication.is_unsure(broker.node_id, partition)
    ):
        answer.error_code = ErrorCode.OFFSET_NOT_AVAILABLE
        return
    answer.offset, answer.timestamp, answer.leader_epoch = found


def _old_style(
    partition: Partition | None, asked: ListOffsetsPartition, answer: ListOffsetsPartitionResponse
) -> list[int]:
    """Return the v0 answer of releases before 4.0: the offset, and the start of the log's only
    segment, at most max_num_offsets.
    """
    assert partition is not None
    offsets = [answer.offset] if answer.offset >= 0 else []
    if asked.timestamp == LATEST and answer.offset > partition.log.log_start_offset:
        offsets.append(partition.log.log_start_offset)
    return offsets[: max(asked.max_num_offsets, 0)]


def leader_fault(
    broker: Broker,
    partition: Partition | None,
    current_leader_epoch: int,
    *,
    followers_too: bool = False,
) -> int:
    """Return the error of a log that may not be read, or 0: unknown (3), no replica here (6), the
    caller's leader epoch is old (74) or new (75), not the leader (6). `followers_too`: any
    replica may be read.
    """
    if partition is None:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if broker.node_id not in partition.replicas:
        return ErrorCode.NOT_LEADER_OR_FOLLOWER
    if current_leader_epoch != -1:
        if current_leader_epoch < partition.leader_epoch:
            return ErrorCode.FENCED_LEADER_EPOCH
        if current_leader_epoch > partition.leader_epoch:
            return ErrorCode.UNKNOWN_LEADER_EPOCH
    return (
        0
        if followers_too or partition.leader == broker.node_id
        else ErrorCode.NOT_LEADER_OR_FOLLOWER
    )


def look_up(partition: Partition, timestamp: int, budget: Budget) -> TimestampedOffset:
    """Return the offset for a timestamp, special or not. `budget` limits the cost of opening
    batches. Raises BatchRefused 87.
    """
    log = partition.log
    match timestamp:
        case -1:
            return TimestampedOffset(log.high_watermark, leader_epoch=partition.leader_epoch)
        case -2 | -4:
            return log.earliest()
        case -3:
            return log.highest_timestamp(budget)
        case -5 | -6:
            return TimestampedOffset()
        case _:
            return log.first_at_or_after(timestamp, budget)
