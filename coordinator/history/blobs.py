"""The consumers' blobs in a log, as partitions by topic; and what differs between two of them.
Unreadable ones are None."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Final, TypeVar

from assignors.user_data import decode_cooperative, decode_sticky, java_form

from ..event_log.reader import Line
from ..wire.consumer_protocol import Assignment, Subscription
from ..wire.primitives import WireError

T = TypeVar("T")
Partitions = dict[str, tuple[int, ...]]
"""Partition numbers by topic."""
_REMEMBERED: Final = 1 << 14
"""So many blobs are remembered with what they hold: those of one rebalance of a large group."""
_SHORT: Final = 1 << 10
"""Longer texts are read each time."""


def decoded(decode: Callable[[bytes], T], text: str) -> T | None:
    """The bytes of a blob in hexadecimal; None if it is none."""
    try:
        return decode(bytes.fromhex(text))
    except WireError:
        return None


def assignment(text: str) -> Partitions | None:
    """An assignment's partitions by topic, which nobody may change; no bytes at all are an empty
    one."""
    return _short_assignment(text) if len(text) <= _SHORT else _assignment(text)


def own_assignment(text: str, protocol_type: str | None) -> Partitions | None:
    """As `assignment`, and nobody else's: by it a member is known to have gone on with it. None in
    a group that is none of consumers."""
    given = assignment(text) if protocol_type == "consumer" else None
    return None if given is None else dict(given)


def subscription(text: str) -> Subscription | None:
    """The values of a hexadecimal subscription; None if it is none."""
    return _short_subscription(text) if len(text) <= _SHORT else decoded(Subscription.decode, text)


def _assignment(text: str) -> Partitions | None:
    read = decoded(Assignment.decode, text) if text else Assignment(())
    return None if read is None else by_topic(read.partitions)


_short_assignment: Final = lru_cache(_REMEMBERED)(_assignment)


@lru_cache(_REMEMBERED)
def _short_subscription(text: str) -> Subscription | None:
    return decoded(Subscription.decode, text)


def by_topic(pairs: Iterable[tuple[str, Iterable[int]]]) -> Partitions:
    """Pairs of topic and numbers as one mapping."""
    topics: Partitions = {}
    for topic, numbers in pairs:
        topics[topic] = tuple(sorted({*topics.get(topic, ()), *numbers}))
    return topics


def numbers_of(partitions: Iterable[tuple[str, int]]) -> Partitions:
    """Single partitions as one mapping."""
    topics: dict[str, list[int]] = {}
    for topic, number in partitions:
        topics.setdefault(topic, []).append(number)
    return {topic: tuple(sorted(numbers)) for topic, numbers in topics.items()}


def minus(some: Partitions, others: Partitions) -> Partitions:
    """The items in `some` and not in `others`."""
    if not some or some == others:
        return {}
    left = {
        topic: tuple(sorted(set(numbers).difference(others.get(topic, ()))))
        for topic, numbers in some.items()
    }
    return {topic: numbers for topic, numbers in left.items() if numbers}


def both(some: Partitions, others: Partitions) -> Partitions:
    """The items in `some` and in `others`."""
    shared = {
        topic: tuple(sorted(set(numbers).intersection(others.get(topic, ()))))
        for topic, numbers in some.items()
    }
    return {topic: numbers for topic, numbers in shared.items() if numbers}


def joined(some: Partitions, others: Partitions) -> Partitions:
    """The union of them."""
    return by_topic([*some.items(), *others.items()])


COOPERATIVE = "cooperative-sticky"


def is_cooperative(protocols: Iterable[tuple[str, Subscription | None]]) -> bool:
    """Does a member with these assignors and subscriptions keep its partitions while it joins
    (KIP-429)?

    A consumer is cooperative if all its assignors can be. Of assignors that Kafka does not ship
    only the member's bytes tell: an eager member has given everything up before it joins, so
    whoever claims owned partitions is cooperative.
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


def claims(assignor: str | None, text: str) -> tuple[Partitions, int] | None:
    """What a subscription in hexadecimal claims for a sticky assignor, and since which generation;
    None if the assignor does not look.

    `sticky` reads user data (UD-1, UD-2), `cooperative-sticky` the owned partitions and the
    generation beside them (UD-3).
    """
    if assignor not in ("sticky", COOPERATIVE):
        return None
    read = subscription(text)
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


def owners_of(line: Line) -> dict[tuple[str, int], list[str]]:
    """Who was given each partition by a GenerationStored; members whose bytes cannot be read have
    none."""
    owners: dict[tuple[str, int], list[str]] = {}
    for member in line["members"]:
        for topic, numbers in (assignment(member["assignment"]) or {}).items():
            for number in numbers:
                owners.setdefault((topic, number), []).append(member["member_id"])
    return owners
