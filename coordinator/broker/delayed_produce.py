"""Produce requests with acks=all that wait until every replica in sync has their records.

Owns the waiting of one request and what each of its partitions is told at the end: nothing when the high watermark has passed its
records, NOT_ENOUGH_REPLICAS_AFTER_APPEND if too few replicas are in sync by then, NOT_LEADER_OR_FOLLOWER if the leadership moved
away, UNKNOWN_TOPIC_OR_PARTITION if the topic was deleted, REQUEST_TIMED_OUT when its time is over. `ParkedFetches` keeps it, beside
the fetches. Does not depend on how records were appended and how followers copy them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from ..errors import ErrorCode

if TYPE_CHECKING:
    from ..wire.messages.produce import PartitionProduceResponse
    from ..wire.schema import Message
    from .call import Call, Encoded
    from .core import Broker


class Appended(NamedTuple):
    """Records that were appended: `end_offset` lies behind them."""

    topic: str
    partition: int
    end_offset: int
    answer: PartitionProduceResponse


class DelayedProduce:
    """One request that waits. `respond` makes its response from the answers, which are written to here."""

    def __init__(
        self, broker: Broker, call: Call, timeout_ms: int, appended: Iterable[Appended], respond: Callable[[], Message | Encoded],
    ) -> None:
        self.token = call.token
        self.deadline_ms = call.now + timeout_ms
        self._broker = broker
        self._waiting = list(appended)
        self._respond = respond
        self.partitions = [(each.topic, each.partition) for each in self._waiting]

    def ready(self) -> bool:
        """Whether every partition can be told what became of its records."""
        self._waiting = [each for each in self._waiting if not self._told(each)]
        return not self._waiting

    def complete(self, now: int) -> None:
        """Answer; what is still waiting has timed out."""
        self.ready()
        for each in self._waiting:
            _fail(each, ErrorCode.REQUEST_TIMED_OUT)
        self._broker.answer(self.token, self._respond(), now)

    def _told(self, appended: Appended) -> bool:
        found = self._broker.cluster.partition(appended.topic, appended.partition)
        if found is None:
            _fail(appended, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        elif found.leader != self._broker.node_id:
            _fail(appended, ErrorCode.NOT_LEADER_OR_FOLLOWER)
        elif found.log.high_watermark < appended.end_offset:
            return False
        else:
            topic = self._broker.cluster.topics[appended.topic]
            if len(found.isr) < min(topic.effective_int("min.insync.replicas"), len(found.replicas)):
                _fail(appended, ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND)
        return True


def _fail(appended: Appended, error: ErrorCode) -> None:
    """The answer still says where the records stand, as Kafka's does."""
    appended.answer.error_code = error
