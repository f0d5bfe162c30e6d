"""Produce requests with acks=all that wait until every replica in sync has their records.

Owns what each of a request's partitions is told at the end: nothing when the high watermark has
passed its records, NOT_ENOUGH_REPLICAS_AFTER_APPEND if too few replicas are in sync by then,
NOT_LEADER_OR_FOLLOWER if the leadership moved away, UNKNOWN_TOPIC_OR_PARTITION if the topic was
deleted. Does not depend on how records were appended and how followers copy them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from coordinator.base.errors import ErrorCode

from .delayed import Delayed

if TYPE_CHECKING:
    from coordinator.wire.messages.produce import PartitionProduceResponse


class Appended(NamedTuple):
    """Records that were appended: `end_offset` lies behind them."""

    topic: str
    partition: int
    end_offset: int
    answer: PartitionProduceResponse


class DelayedProduce(Delayed[Appended]):
    """One request that waits until every partition can be told what became of its records."""

    def _told(self, awaited: Appended) -> bool:
        found = self._broker.cluster.partition(awaited.topic, awaited.partition)
        if found is None:
            _fail(awaited, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        elif found.leader != self._broker.node_id:
            _fail(awaited, ErrorCode.NOT_LEADER_OR_FOLLOWER)
        elif found.log.high_watermark < awaited.end_offset:
            return False
        else:
            topic = self._broker.cluster.topics[awaited.topic]
            if len(found.isr) < min(
                topic.effective_int("min.insync.replicas"), len(found.replicas)
            ):
                _fail(awaited, ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND)
        return True


def _fail(appended: Appended, error: ErrorCode) -> None:
    """The answer still says where the records stand, as Kafka's does."""
    appended.answer.error_code = error
