"""DeleteRecords requests that wait until every live replica has moved its log start offset.

Owns the result of each partition: the least log start offset of those replicas;
NOT_LEADER_OR_FOLLOWER if the leader changed; UNKNOWN_TOPIC_OR_PARTITION if the topic was
deleted; after the timeout REQUEST_TIMED_OUT, with the least log start offset at the beginning.
Does not know how followers copy it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from coordinator.base.errors import ErrorCode

from .delayed import Delayed

if TYPE_CHECKING:
    from coordinator.wire.messages.topics import DeleteRecordsPartitionResult


class Deleted(NamedTuple):
    """Deletion of the records below `offset` at the leader."""

    topic: str
    partition: int
    offset: int
    answer: DeleteRecordsPartitionResult


class DelayedDeletion(Delayed[Deleted]):
    """One DeleteRecords that waits until the result of every partition is known. Its broker has
    other replicas.
    """

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
