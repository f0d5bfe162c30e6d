"""The consumers' blobs in a log, as partitions by topic; and what differs between two of them. Unreadable ones are None."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from assignors.user_data import decode_cooperative, decode_sticky, java_form

from ..wire.consumer_protocol import Assignment, Subscription
from ..wire.primitives import WireError
from .views import Partitions

T = TypeVar("T")


def decoded(decode: Callable[[bytes], T], text: str) -> T | None:
    """What a blob in hexadecimal holds; None if it is none."""
    try:
        return decode(bytes.fromhex(text))
    except WireError:
        return None


def assignment(text: str) -> Partitions | None:
    """An assignment's partitions by topic; no bytes at all are an empty one."""
    if not text:
        return {}
    read = decoded(Assignment.decode, text)
    return None if read is None else by_topic(read.partitions)


def by_topic(pairs: Iterable[tuple[str, Iterable[int]]]) -> Partitions:
    """Pairs of topic and numbers as one mapping."""
    topics: Partitions = {}
    for topic, numbers in pairs:
        topics[topic] = tuple(sorted({*topics.get(topic, ()), *numbers}))
    return topics


def minus(some: Partitions, others: Partitions) -> Partitions:
    """What is in `some` and not in `others`."""
    left = {topic: tuple(sorted(set(numbers).difference(others.get(topic, ())))) for topic, numbers in some.items()}
    return {topic: numbers for topic, numbers in left.items() if numbers}


def both(some: Partitions, others: Partitions) -> Partitions:
    """What is in `some` and in `others`."""
    shared = {topic: tuple(sorted(set(numbers).intersection(others.get(topic, ())))) for topic, numbers in some.items()}
    return {topic: numbers for topic, numbers in shared.items() if numbers}


def joined(some: Partitions, others: Partitions) -> Partitions:
    """What is in one of them."""
    return by_topic([*some.items(), *others.items()])


COOPERATIVE = "cooperative-sticky"


def is_cooperative(protocols: Iterable[tuple[str, Subscription | None]]) -> bool:
    """Does a member with these assignors and subscriptions keep its partitions while it joins (KIP-429)?

    A consumer is cooperative if all its assignors can be. Of assignors that Kafka does not ship only the member's bytes tell: an
    eager member has given everything up before it joins, so whoever claims owned partitions is cooperative.
    """
    claims = False
    for name, subscription in protocols:
        if name in _EAGER:
            return False
        claims = claims or name == COOPERATIVE or bool(subscription and subscription.owned_partitions)
    return claims


_GENERATION_BYTES = 4
_EAGER = frozenset({"range", "roundrobin", "sticky"})


def claims(assignor: str | None, text: str) -> tuple[Partitions, int] | None:
    """What a subscription in hexadecimal claims for a sticky assignor, and since which generation; None if the assignor does not look.

    `sticky` reads user data (UD-1, UD-2), `cooperative-sticky` the owned partitions and the generation beside them (UD-3).
    """
    if assignor not in ("sticky", COOPERATIVE):
        return None
    subscription = decoded(Subscription.decode, text)
    if subscription is None:
        return {}, -1
    if assignor == COOPERATIVE and len(subscription.user_data or b"") == _GENERATION_BYTES:
        return by_topic(subscription.owned_partitions), decode_cooperative(subscription.user_data) or 0
    if assignor == COOPERATIVE and not subscription.user_data:
        return by_topic(subscription.owned_partitions), subscription.generation_id
    told = decode_sticky(java_form(subscription.user_data))
    owned = by_topic(told.owned.items()) if assignor == "sticky" else by_topic(subscription.owned_partitions)
    return owned, -1 if told.generation is None else told.generation  # librdkafka's cooperative-sticky writes sticky's bytes
