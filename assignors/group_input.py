"""The first step of every assignor: members in Java's order, existing topics, partitions as
objects.

Owns APA-1 and APA-2. Does not depend on any assignor.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import repeat

from assignors.java_hashing import DEFAULT_CAPACITY
from assignors.java_order import sort_key as java_sort_key
from assignors.java_order import sorted_strings, table_order, through_tables
from assignors.model import Subscription, TopicPartition

_MANY = 10_000

_make = partial(tuple.__new__, TopicPartition)


@contextmanager
def undisturbed(partitions: Mapping[str, int]) -> Iterator[None]:
    """Pause the garbage collector within a block, if the group is large. Assignors make many small
    values and no cycles, and the collector would scan all of them again and again.
    """
    if not gc.isenabled() or sum(partitions.values()) < _MANY:
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def partition_objects(topic: str, count: int) -> list[TopicPartition]:
    """Return the partitions 0..count-1 of a topic."""
    return list(map(_make, zip(repeat(topic), range(count))))


def subscribed_topics(subscriptions: Iterable[Subscription]) -> list[str]:
    """Return every topic with a subscriber, in the order of first mention."""
    seen: dict[str, None] = {}
    before: Sequence[str] | None = None
    for subscription in subscriptions:
        if subscription.topics != before:
            before = subscription.topics
            seen.update(dict.fromkeys(before))
    return list(seen)


def existing_topics(
    partitions: Mapping[str, int], subscriptions: Iterable[Subscription]
) -> dict[str, int]:
    """Return the subscribed topics that have partitions, with the number of these, in the order of
    first mention (APA-1).
    """
    return {
        topic: count
        for topic in subscribed_topics(subscriptions)
        if (count := partitions.get(topic, 0)) > 0
    }


def topics_in_map_order(
    partitions: Mapping[str, int], subscriptions: Iterable[Subscription]
) -> dict[str, int]:
    """Return the same in the order of the map that Java passes to its assignors, which is filled
    from a HashSet of all subscribed topics (APA-1).
    """
    known = [
        topic
        for topic in table_order(subscribed_topics(subscriptions))
        if partitions.get(topic, 0) > 0
    ]
    return {topic: partitions[topic] for topic in table_order(known)}


def member_rank(members: Mapping[str, Subscription], order: Sequence[str]) -> list[str]:
    """Return the members sorted: static ones by instance id, then dynamic ones by member id
    (APA-2). `order` is that of the HashMap.
    """
    static = {
        member: instance
        for member in order
        if (instance := members[member].group_instance_id) is not None
    }
    key = java_sort_key(static.values())
    by_instance = sorted(
        static, key=static.__getitem__ if key is None else lambda member: key(static[member])
    )
    return by_instance + sorted_strings(member for member in order if member not in static)


def answer_order(order: Sequence[str]) -> list[str]:
    """Return the members in the order of the result: they are copied from the leader's map
    (`order`) into the assignor's, and from that into the result's.
    """
    return through_tables(order, DEFAULT_CAPACITY, DEFAULT_CAPACITY)
