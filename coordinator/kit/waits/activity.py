"""Notes which partitions each member fetched, or committed for, since it got its assignment.

An interceptor that changes nothing. It is installed when a test first asks whether members have
acted, and stays. A Fetch names no member, so it is attributed by client id and the partition's
owner. If two members share a client id and a partition moved from one to the other, a fetch of
the first may be attributed to the second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coordinator.wire.messages.fetch import FetchRequest
from coordinator.wire.messages.offset_commit import OffsetCommitRequest

from ..injection.broker_queries import BrokerSurroundings

if TYPE_CHECKING:
    from coordinator.server.broker import Broker
    from coordinator.server.requests.call import Call

TopicPartition = tuple[str, int]
_KEYS = frozenset({FetchRequest.api_key, OffsetCommitRequest.api_key})


class Activity:
    """The latest fetch of each partition by each client id, and the latest commit by each member,
    at one broker."""

    api_keys = _KEYS

    def __init__(self, broker: Broker) -> None:
        self._around = BrokerSurroundings(broker)
        self._fetched: dict[tuple[str, TopicPartition], int] = {}
        self._committed: dict[tuple[str, TopicPartition], int] = {}

    def __call__(self, call: Call) -> None:
        """Note a request; as an interceptor it never gives a verdict."""
        message = call.message
        if isinstance(message, FetchRequest):
            for place in self._around.fetched(message):
                self._fetched[call.client_id, (place.topic or "", place.partition or 0)] = call.now
        elif isinstance(message, OffsetCommitRequest):
            for topic in message.topics:
                name = topic.name or self._around.topic_name(topic.topic_id) or ""
                for row in topic.partitions:
                    self._committed[message.member_id, (name, row.partition_index)] = call.now

    def acted(
        self, client_id: str, member_id: str, partition: TopicPartition, since_ms: int
    ) -> bool:
        """Return True if a member fetched a partition, or committed for it, at that instant or
        later."""
        fetched = self._fetched.get((client_id, partition), -1)
        committed = self._committed.get((member_id, partition), -1)
        return max(fetched, committed) >= since_ms
