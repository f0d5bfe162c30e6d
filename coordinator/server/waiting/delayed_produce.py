"""Produce requests with acks=all that wait until every in-sync replica has their records.

Owns the result of each partition: success once the high watermark has passed the records,
NOT_ENOUGH_REPLICAS_AFTER_APPEND if the ISR is too small by then, NOT_LEADER_OR_FOLLOWER if the
leader changed, UNKNOWN_TOPIC_OR_PARTITION if the topic was deleted. Does not know how records
are appended or copied.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from coordinator.base.errors import ErrorCode

from .delayed import Delayed

if TYPE_CHECKING:
    from coordinator.wire.messages.produce import PartitionProduceResponse


class Appended(NamedTuple):
    """Appended records; `end_offset` is the offset after the last one."""

    topic: str
    partition: int
    end_offset: int
    answer: PartitionProduceResponse


class DelayedProduce(Delayed[Appended]):
    """One Produce that waits until the result of every partition is known."""

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
    """Set the error; base offset and log start stay in the answer, as in Kafka."""
    appended.answer.error_code = error
