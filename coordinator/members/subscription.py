"""Subscription and owned partitions of a member: topics or a pattern, the topics of its whole
group, owned partitions, positions.

It is Java's SubscriptionState as far as groups need it. Does not know requests or the state of
the membership.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Any

from assignors import TopicPartition

from .cluster_view import ClusterView
from .config import MemberConfigError
from .effects import Position

Partitions = tuple[TopicPartition, ...]


def topic_names(topics: Any) -> list[str]:
    """Return the names in a list. Raises MemberConfigError for a single string instead of a list,
    and for invalid names.
    """
    if isinstance(topics, str):
        raise MemberConfigError(
            f"topics={topics!r} is one text, and a list of names is meant: topics=[{topics!r}]"
        )
    names = list(topics) if isinstance(topics, Iterable) else [topics]
    for name in names:
        if not isinstance(name, str) or not name:
            raise MemberConfigError(
                f"topics={topics!r}: give a list of names, such as ['orders', 'payments']"
            )
    return names


def check_pattern(pattern: Any) -> None:
    """Raise MemberConfigError for an invalid regular expression."""
    try:
        re.compile(pattern)
    except (re.error, TypeError, RecursionError, OverflowError) as error:
        raise MemberConfigError(
            f"pattern={pattern!r}: {error}; a regular expression is meant, such as 'orders-.*'"
        ) from None


def in_order(partitions: Iterable[TopicPartition]) -> Partitions:
    """Sort partitions by topic and number, the order in which callbacks get them."""
    return tuple(sorted(partitions))


class Subscribed:
    """Subscription and owned partitions of one member."""

    __slots__ = (
        "exclude_internal",
        "group_topics",
        "looked_up",
        "owned",
        "owned_in_order",
        "pattern",
        "positions",
        "regex",
        "topics",
        "wanted",
    )

    def __init__(self, exclude_internal: bool) -> None:
        self.exclude_internal = exclude_internal
        self.wanted = False
        """Does it ask for anything at all?"""
        self.topics: frozenset[str] = frozenset()
        self.pattern: re.Pattern[str] | None = None
        self.regex: str | None = None
        """A pattern that the coordinator matches (KIP-848), in RE2's syntax."""
        self.group_topics: frozenset[str] = frozenset()
        """Topics the whole group asks for; known to the leader only."""
        self.owned: Partitions = ()
        """In the order in which they were assigned."""
        self.owned_in_order: Partitions = ()
        """The same by topic and number; another object only when others are owned."""
        self.positions: dict[TopicPartition, Position] = {}
        self.looked_up: set[TopicPartition] = set()
        """Owned partitions whose committed offset is known, or known not to be."""

    def ask_for(
        self, topics: Collection[str], pattern: re.Pattern[str] | None, regex: str | None = None
    ) -> None:
        """Replace the subscription: topics by name, or those that match a pattern, matched here
        (`pattern`) or at the coordinator (`regex`).
        """
        self.topics = frozenset(topics)
        self.pattern = pattern
        self.regex = regex
        self.wanted = bool(self.topics) or pattern is not None or regex is not None

    def metadata_topics(self) -> frozenset[str] | None:
        """Return the topics whose metadata is needed; None: all, since any may match the pattern
        (CLI-20).
        """
        return (
            None
            if self.pattern is not None or self.regex is not None
            else self.topics | self.group_topics
        )

    def watched_topics(self) -> frozenset[str]:
        """Return the topics whose partitions a leader compares (CLI-19)."""
        return self.topics | self.group_topics

    def match(self, view: ClusterView) -> None:
        """Update the topics to those that match the pattern now (CLI-20)."""
        assert self.pattern is not None
        self.topics = frozenset(
            name
            for name, topic in view.topics.items()
            if not (topic.is_internal and self.exclude_internal) and self.pattern.fullmatch(name)
        )

    def accepts(self, partitions: Partitions) -> bool:
        """Return whether all of these partitions are subscribed to (CLI-24)."""
        if self.pattern is not None:
            return all(
                self.pattern.fullmatch(topic)
                for topic in {partition.topic for partition in partitions}
            )
        return all(partition.topic in self.topics for partition in partitions)

    def own(self, partitions: Partitions) -> None:
        """Set the owned partitions; those that stay keep their positions."""
        kept = set(partitions)
        self.owned, self.owned_in_order = partitions, in_order(partitions)
        self.positions = {
            partition: position
            for partition, position in self.positions.items()
            if partition in kept
        }
        self.looked_up &= kept

    @property
    def positions_known(self) -> bool:
        """True if the committed offsets of all owned partitions are known, or known to be missing."""
        return len(self.looked_up) == len(self.owned)

    def unknown_positions(self) -> Partitions:
        """Return the owned partitions whose committed offsets have not been looked up."""
        if self.positions_known:
            return ()
        return tuple([partition for partition in self.owned if partition not in self.looked_up])
