"""DeleteRecords requests that wait until every replica has moved its log start, as far as its broker is alive.

Owns the waiting of one request and what each of its partitions is told at the end: the least log start of those replicas,
NOT_LEADER_OR_FOLLOWER if the leadership moved away, UNKNOWN_TOPIC_OR_PARTITION if the topic was deleted, REQUEST_TIMED_OUT with the least
log start that there was at first when its time is over. `ParkedFetches` keeps it. Does not depend on how followers learn of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from ..errors import ErrorCode

if TYPE_CHECKING:
    from ..wire.messages.delete_records import DeleteRecordsPartitionResult, DeleteRecordsResponse
    from .call import Call
    from .core import Broker


class Deleted(NamedTuple):
    """Records below `offset` were deleted at the leader."""

    topic: str
    partition: int
    offset: int
    answer: DeleteRecordsPartitionResult


class DelayedDeletion:
    """One request that waits. `respond` makes its response from the answers, which are written to here."""

    def __init__(
        self, broker: Broker, call: Call, timeout_ms: int, deleted: Iterable[Deleted], respond: Callable[[], DeleteRecordsResponse],
    ) -> None:
        self.token = call.token
        self.deadline_ms = call.now + timeout_ms
        self._broker = broker
        self._waiting = list(deleted)
        self._respond = respond
        self.partitions = [(each.topic, each.partition) for each in self._waiting]

    def ready(self) -> bool:
        """Whether every partition can be told how far its replicas are."""
        self._waiting = [each for each in self._waiting if not self._told(each)]
        return not self._waiting

    def complete(self, now: int) -> None:
        """Answer; what is still waiting has timed out."""
        self.ready()
        for each in self._waiting:
            each.answer.error_code = ErrorCode.REQUEST_TIMED_OUT
        self._broker.answer(self.token, self._respond(), now)

    def _told(self, deleted: Deleted) -> bool:
        broker, answer = self._broker, deleted.answer
        found = broker.cluster.partition(deleted.topic, deleted.partition)
        if found is None or found.leader != broker.node_id:
            answer.error_code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if found is None else ErrorCode.NOT_LEADER_OR_FOLLOWER
            answer.low_watermark = -1
            return True
        least = found.log.log_start_offset if broker.replication is None else broker.replication.low_watermark(broker.node_id, found)
        if least < deleted.offset:
            return False
        answer.low_watermark = least
        return True
