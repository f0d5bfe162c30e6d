"""DeleteRecords requests that wait until every replica has moved its log start, as far as its
broker is alive.

Owns what each of a request's partitions is told at the end: the least log start of those replicas,
NOT_LEADER_OR_FOLLOWER if the leadership moved away, UNKNOWN_TOPIC_OR_PARTITION if the topic was
deleted, REQUEST_TIMED_OUT with the least log start that there was at first when its time is over.
Does not depend on how followers learn of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from coordinator.base.errors import ErrorCode

from .delayed import Delayed

if TYPE_CHECKING:
    from coordinator.wire.messages.topics import DeleteRecordsPartitionResult


class Deleted(NamedTuple):
    """Records below `offset` were deleted at the leader."""

    topic: str
    partition: int
    offset: int
    answer: DeleteRecordsPartitionResult


class DelayedDeletion(Delayed[Deleted]):
    """One request that waits until every partition can be told how far its replicas are. Its broker
    has other replicas."""

    def _told(self, awaited: Deleted) -> bool:
        broker, answer = self._broker, awaited.answer
        found = broker.cluster.partition(awaited.topic, awaited.partition)
        if found is None or found.leader != broker.node_id:
            answer.error_code = (
                ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
                if found is None
                else ErrorCode.NOT_LEADER_OR_FOLLOWER
            )
            answer.low_watermark = -1
            return True
        assert broker.replication is not None
        least = broker.replication.low_watermark(broker.node_id, found)
        if least < awaited.offset:
            return False
        answer.low_watermark = least
        return True
