"""The part both adapters share: partitions told by topic, and a cluster that knows nothing but how
many partitions there are.

Does not depend on either library.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from assignors import Assignor, Subscription, TopicPartition
from assignors.user_data import java_form


class ClusterLike(Protocol):
    """The answers of both libraries' ClusterMetadata."""

    def partitions_for_topic(self, topic: str) -> set[int] | None:
        """The numbers of a topic's partitions; None: no such topic is known."""


class PlainCluster:
    """A cluster for their assignors: topics and how many partitions each has."""

    def __init__(self, partitions: Mapping[str, int]) -> None:
        self._counts = partitions

    def topics(self) -> set[str]:
        """All topics."""
        return set(self._counts)

    def partitions_for_topic(self, topic: str) -> set[int] | None:
        """The numbers of a topic's partitions; None: no such topic."""
        count = self._counts.get(topic)
        return None if count is None else set(range(count))


def partition_counts(cluster: ClusterLike, subscriptions: Iterable[Subscription]) -> dict[str, int]:
    """How many partitions each subscribed topic has, as far as the cluster knows it."""
    topics = dict.fromkeys(topic for subscription in subscriptions for topic in subscription.topics)
    return {topic: len(known) for topic in topics if (known := cluster.partitions_for_topic(topic))}


def readable_user_data(assignor: Assignor, data: bytes | None) -> bytes | None:
    """A member's user data as our assignor reads it: for `sticky`, kafka-python's is turned into
    Java's form."""
    return java_form(data) if assignor.name == "sticky" else data


def by_topic(partitions: Iterable[TopicPartition]) -> list[tuple[str, list[int]]]:
    """Partitions by topic, both in the order given."""
    topics: dict[str, list[int]] = {}
    for topic, number in partitions:
        topics.setdefault(topic, []).append(number)
    return list(topics.items())


def one_by_one(topics: Iterable[tuple[str, Iterable[int]]]) -> tuple[TopicPartition, ...]:
    """The other way round."""
    return tuple(TopicPartition(topic, number) for topic, numbers in topics for number in numbers)
