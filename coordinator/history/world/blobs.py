"""Consumers' bytes in a log (subscriptions, assignments) as partitions by topic, and the
difference of two of them. Unreadable bytes are None."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Final, TypeVar

from assignors.user_data import decode_cooperative, decode_sticky, java_form
from coordinator.events.groups import GenerationStored
from coordinator.wire.consumer_protocol import Assignment, Subscription
from coordinator.wire.primitives import WireError

T = TypeVar("T")
Partitions = dict[str, tuple[int, ...]]
"""Partition numbers by topic."""
_REMEMBERED: Final = 1 << 14
"""Number of byte strings that are remembered with their values: those of one rebalance of a
large group."""
_SHORT: Final = 1 << 9
"""Longer byte strings are decoded each time."""


def decoded(decode: Callable[[bytes], T], data: bytes) -> T | None:
    """Return the decoded value, or None if the bytes cannot be decoded."""
    try:
        return decode(data)
    except WireError:
        return None


def assignment(data: bytes) -> Partitions | None:
    """Return an assignment's partitions by topic, or None if the bytes cannot be read. No bytes
    are an empty assignment. The mapping is shared: do not change it."""
    return _short_assignment(data) if len(data) <= _SHORT else _assignment(data)


def own_assignment(data: bytes, protocol_type: str | None) -> Partitions | None:
    """Return the same as `assignment`, but as a new mapping, whose identity shows that a member
    has gone on with it. None in a group of another protocol type."""
    given = assignment(data) if protocol_type == "consumer" else None
    return None if given is None else dict(given)


def subscription(data: bytes) -> Subscription | None:
    """Return a decoded subscription, or None if the bytes cannot be decoded."""
    return _short_subscription(data) if len(data) <= _SHORT else decoded(Subscription.decode, data)


def _assignment(data: bytes) -> Partitions | None:
    read = decoded(Assignment.decode, data) if data else Assignment(())
    return None if read is None else by_topic(read.partitions)


_short_assignment: Final = lru_cache(_REMEMBERED)(_assignment)


@lru_cache(_REMEMBERED)
def _short_subscription(data: bytes) -> Subscription | None:
    return decoded(Subscription.decode, data)


def by_topic(pairs: Iterable[tuple[str, Iterable[int]]]) -> Partitions:
    """Return pairs of topic and partition numbers as one mapping."""
    topics: Partitions = {}
    for topic, numbers in pairs:
        topics[topic] = tuple(sorted({*topics.get(topic, ()), *numbers}))
    return topics


def numbers_of(partitions: Iterable[tuple[str, int]]) -> Partitions:
    """Return single partitions as one mapping."""
    topics: dict[str, list[int]] = {}
    for topic, number in partitions:
        topics.setdefault(topic, []).append(number)
    return {topic: tuple(sorted(numbers)) for topic, numbers in topics.items()}


def minus(some: Partitions, others: Partitions) -> Partitions:
    """Return the partitions in `some` and not in `others`."""
    if not some or some == others:
        return {}
    left = {
        topic: tuple(sorted(set(numbers).difference(others.get(topic, ()))))
        for topic, numbers in some.items()
    }
    return {topic: numbers for topic, numbers in left.items() if numbers}


def both(some: Partitions, others: Partitions) -> Partitions:
    """Return the partitions in both."""
    shared = {
        topic: tuple(sorted(set(numbers).intersection(others.get(topic, ()))))
        for topic, numbers in some.items()
    }
    return {topic: numbers for topic, numbers in shared.items() if numbers}


def joined(some: Partitions, others: Partitions) -> Partitions:
    """Return the partitions in either."""
    return by_topic([*some.items(), *others.items()])


COOPERATIVE = "cooperative-sticky"


def is_cooperative(protocols: Iterable[tuple[str, Subscription | None]]) -> bool:
    """Return True if a member with these assignors and subscriptions keeps its partitions while it
    joins (KIP-429).

    A consumer is cooperative if all its assignors can be. For assignors that Kafka does not ship
    the member's bytes decide: an eager member has revoked everything before it joins, so a
    member that claims owned partitions is cooperative.
    """
    claims = False
    for name, subscription in protocols:
        if name in _EAGER:
            return False
        claims = (
            claims or name == COOPERATIVE or bool(subscription and subscription.owned_partitions)
        )
    return claims


_GENERATION_BYTES = 4
_EAGER = frozenset({"range", "roundrobin", "sticky"})


def claims(assignor: str | None, data: bytes) -> tuple[Partitions, int] | None:
    """Return the partitions that a subscription claims for a sticky assignor, and the generation
    of the claim; None if the assignor ignores claims. `sticky` reads user data (UD-1, UD-2),
    `cooperative-sticky` the owned partitions and the generation beside them (UD-3)."""
    if assignor not in ("sticky", COOPERATIVE):
        return None
    read = subscription(data)
    if read is None:
        return {}, -1
    if assignor == COOPERATIVE and len(read.user_data or b"") == _GENERATION_BYTES:
        return by_topic(read.owned_partitions), decode_cooperative(read.user_data) or 0
    if assignor == COOPERATIVE and not read.user_data:
        return by_topic(read.owned_partitions), read.generation_id
    told = decode_sticky(java_form(read.user_data))
    owned = (
        by_topic(told.owned.items()) if assignor == "sticky" else by_topic(read.owned_partitions)
    )
    return (
        owned,
        -1 if told.generation is None else told.generation,
    )  # librdkafka's cooperative-sticky writes sticky's bytes


def owners_of(stored: GenerationStored) -> dict[tuple[str, int], list[str]]:
    """Return the members that own each partition in a generation. A member whose bytes cannot be
    read owns none."""
    owners: dict[tuple[str, int], list[str]] = {}
    for member in stored.members:
        for topic, numbers in (assignment(member.assignment) or {}).items():
            for number in numbers:
                owners.setdefault((topic, number), []).append(member.member_id)
    return owners
