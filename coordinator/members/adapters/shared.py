"""Common part of the adapters: partitions grouped by topic, and a minimal cluster. Depends on
neither library.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from assignors import Assignor, Subscription, TopicPartition
from assignors.user_data import java_form


class ClusterLike(Protocol):
    """The common part of both libraries' ClusterMetadata."""

    def partitions_for_topic(self, topic: str) -> set[int] | None:
        """Return the numbers of a topic's partitions, or None if it is unknown."""


class PlainCluster:
    """Minimal cluster for the libraries' assignors: topics with their numbers of partitions."""

    def __init__(self, partitions: Mapping[str, int]) -> None:
        self._counts = partitions

    def topics(self) -> set[str]:
        """Return all topics."""
        return set(self._counts)

    def partitions_for_topic(self, topic: str) -> set[int] | None:
        """Return the numbers of a topic's partitions, or None if it is unknown."""
        count = self._counts.get(topic)
        return None if count is None else set(range(count))


def partition_counts(cluster: ClusterLike, subscriptions: Iterable[Subscription]) -> dict[str, int]:
    """Return the number of partitions of each subscribed topic that the cluster knows."""
    topics = dict.fromkeys(topic for subscription in subscriptions for topic in subscription.topics)
    return {topic: len(known) for topic in topics if (known := cluster.partitions_for_topic(topic))}


def readable_user_data(assignor: Assignor, data: bytes | None) -> bytes | None:
    """Return a member's user data in the form our assignor reads: for `sticky`, kafka-python's is
    converted to Java's.
    """
    return java_form(data) if assignor.name == "sticky" else data


def by_topic(partitions: Iterable[TopicPartition]) -> list[tuple[str, list[int]]]:
    """Group partitions by topic, both in the given order."""
    topics: dict[str, list[int]] = {}
    for topic, number in partitions:
        topics.setdefault(topic, []).append(number)
    return list(topics.items())


def one_by_one(topics: Iterable[tuple[str, Iterable[int]]]) -> tuple[TopicPartition, ...]:
    """Return partitions grouped by topic as single ones; the inverse of `by_topic`."""
    return tuple(TopicPartition(topic, number) for topic, numbers in topics for number in numbers)
