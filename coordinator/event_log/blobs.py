"""The consumers' blobs in a log, as partitions by topic; and what differs between two of them. Unreadable ones are None."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from ..wire.consumer_protocol import Assignment
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
    left = {topic: tuple(n for n in numbers if n not in others.get(topic, ())) for topic, numbers in some.items()}
    return {topic: numbers for topic, numbers in left.items() if numbers}
