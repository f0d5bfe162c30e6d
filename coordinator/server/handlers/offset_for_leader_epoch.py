"""OffsetForLeaderEpoch (key 23), v2-4 (KIP-101, KIP-320): the end offset of a leader epoch, for
consumers that check for truncation.

Refusals: unknown (3), leader epoch (74, 75), not the leader (6). An epoch newer than all others
is no error: -1 and -1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coordinator.wire.messages.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderTopicResult,
)

from ..requests.call import by_element
from .list_offsets import leader_fault

if TYPE_CHECKING:
    from coordinator.wire.messages.offset_for_leader_epoch import (
        OffsetForLeaderPartition,
        OffsetForLeaderTopic,
    )

    from ..broker import Broker
    from ..requests.call import Call, Sliced


def handle(broker: Broker, call: Call) -> Sliced:
    """Handle an OffsetForLeaderEpoch; it is never parked."""
    request = call.message
    assert isinstance(request, OffsetForLeaderEpochRequest)
    return by_element(
        call,
        request.topics,
        lambda topic, _: _topic(broker, topic),
        lambda topics: OffsetForLeaderEpochResponse(topics=topics),
    )


def _topic(broker: Broker, topic: OffsetForLeaderTopic) -> OffsetForLeaderTopicResult:
    return OffsetForLeaderTopicResult(
        topic=topic.topic,
        partitions=[_answer(broker, topic.topic, asked) for asked in topic.partitions],
    )


def _answer(broker: Broker, topic: str, asked: OffsetForLeaderPartition) -> EpochEndOffset:
    partition = broker.cluster.partition(topic, asked.partition)
    error = leader_fault(broker, partition, asked.current_leader_epoch)
    if partition is None or error:
        return EpochEndOffset(error_code=error, partition=asked.partition)
    end = partition.log.epoch_end(asked.leader_epoch)
    return EpochEndOffset(
        partition=asked.partition, leader_epoch=end.epoch, end_offset=end.end_offset
    )
