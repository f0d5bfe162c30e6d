"""Refusal of topics and partitions that the cluster does not have, before the group coordinator
gets the rest of a request.

Used by OffsetCommit, TxnOffsetCommit and OffsetDelete. A missing one gets
UNKNOWN_TOPIC_OR_PARTITION (3), or UNKNOWN_TOPIC_ID (100); a topic that the client may not read
TOPIC_AUTHORIZATION_FAILED (29), whether it exists or not. In the response a topic's refused
partitions come first, then the coordinator's, as Kafka merges them. Does not know groups.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Generic, Protocol, TypeVar

from coordinator.base.errors import ErrorCode
from coordinator.base.slices import ITEMS_A_STEP, Slices, whole

from ..cluster import Cluster

_PARTITIONS_A_STEP = 1_024


class Topic(Protocol):
    """Interface of a topic in any request or response; its partitions have a `partition_index`."""

    name: str
    partitions: list[Any]


Asked = TypeVar("Asked", bound=Topic)
Answered = TypeVar("Answered", bound=Topic)


def nothing_is_missing(cluster: Cluster, topics: Iterable[Topic]) -> bool:
    """Return True if the cluster has all topics and partitions of a request by topic names, and
    each topic has partitions in it.
    """
    known = cluster.topics
    for topic in topics:
        found, partitions = known.get(topic.name), topic.partitions
        if found is None or not partitions:
            return False
        count = len(found.partitions)
        for partition in partitions:
            if not 0 <= partition.partition_index < count:
                return False
    return True


class MissingPartitions(Generic[Asked, Answered]):
    """Builder of the part of a response that depends on the cluster alone.

    `topic` and `partition`: classes of the response. `by_id`: request and response have topic
    ids. `sees`: whether the client may read a topic, by name; None: all.
    """

    def __init__(
        self,
        cluster: Cluster,
        topic: type[Answered],
        partition: Callable[..., object],
        *,
        by_id: bool = False,
        sees: Callable[[str], bool] | None = None,
    ) -> None:
        self._cluster = cluster
        self._topic = topic
        self._partition = partition
        self._by_id = by_id
        self._sees = sees
        self._refused: dict[str | bytes, Answered] = {}

    def refuse(self, topics: Iterable[Asked]) -> list[Asked]:
        """Refuse missing partitions. Return the rest of each topic: `partitions` is replaced, and
        an id becomes a `name`.
        """
        return whole(self.refuse_in_slices(topics), 0)

    def refuse_in_slices(self, topics: Iterable[Asked]) -> Slices[list[Asked]]:
        """Like `refuse`, in slices, for requests with very many topics or partitions."""
        kept: list[Asked] = []
        for count, topic in enumerate(topics, 1):
            if not count % ITEMS_A_STEP:
                yield
            if (yield from self._keep(topic)):
                kept.append(topic)
        return kept

    def _keep(self, topic: Asked) -> Slices[bool]:
        cluster = self._cluster
        if self._by_id:
            known = cluster.topics_by_id.get(self._key(topic))  # type: ignore[arg-type]
            if known is None:
                self._add(topic, topic.partitions, ErrorCode.UNKNOWN_TOPIC_ID)
                return False
            topic.name = known.name
        if self._sees is not None and not self._sees(topic.name):
            self._add(topic, topic.partitions, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
            return False
        held: list[Any] = []
        missing: list[Any] = []
        for count, partition in enumerate(topic.partitions, 1):
            if not count % _PARTITIONS_A_STEP:
                yield
            (
                missing
                if cluster.partition(topic.name, partition.partition_index) is None
                else held
            ).append(partition)
        if missing or topic.name not in cluster.topics:
            self._add(topic, missing, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        topic.partitions = held
        return bool(held)

    def _add(self, topic: Asked, partitions: Iterable[Any], error: ErrorCode) -> None:
        """Add refused partitions to a topic's row; a topic without partitions has a row too."""
        entry = self._refused.get(self._key(topic))
        if entry is None:
            names = (
                {"name": topic.name, "topic_id": self._key(topic)}
                if self._by_id
                else {"name": topic.name}
            )
            entry = self._refused[self._key(topic)] = self._topic(**names)
        entry.partitions += [
            self._partition(partition_index=each.partition_index, error_code=error)
            for each in partitions
        ]

    def before(self, answered: list[Answered]) -> list[Answered]:
        """Return the whole response's topics. If nothing was refused, Kafka takes the coordinator's
        as they are: repeated topics stay separate.
        """
        return self.merged(answered) if self._refused else answered

    def merged(self, answered: Iterable[Answered]) -> list[Answered]:
        """Return the whole response's topics, each once."""
        topics = dict(self._refused)
        for topic in answered:
            known = topics.setdefault(self._key(topic), topic)
            if known is not topic:
                known.partitions += topic.partitions
        return list(topics.values())

    def _key(self, topic: Any) -> str | bytes:
        key: str | bytes = topic.topic_id if self._by_id else topic.name
        return key
