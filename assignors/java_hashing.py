"""Java's hash codes and the number of buckets of a HashMap: the arithmetic for the iteration orders
of Java's collections.

Owns these numbers only; `java_hash_table` and `java_order` are built on them. Does not depend on
what is hashed. Sources: HM-1, HM-2, HM-4, java.util.HashMap.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

DEFAULT_CAPACITY: Final = 16
DEEP_BUCKET: Final = 9
"""So many keys in one bucket make a small table double, and a larger one turn the bucket into a
tree (HM-5)."""
MIN_TREE_CAPACITY: Final = 64
"""The fewest buckets of a table that has trees."""
_UINT32: Final = 0xFFFFFFFF
_EXACT_COPIES: Final = 19

java_release = 17
"""The Java release whose HashMap is meant. From 19 on the copy of a map of 12, 24, 48, ... entries
has half the buckets (JDK-8281631)."""


@lru_cache(maxsize=1 << 14)
def string_hash(text: str) -> int:
    """Return String.hashCode as an unsigned 32-bit number: over UTF-16 units (HM-1)."""
    code = 0
    for unit in text.encode("ascii") if text.isascii() else _utf16_units(text):
        code = 31 * code + unit
    return code & _UINT32


def partition_hash(topic: str, partition: int) -> int:
    """Return TopicPartition.hashCode as an unsigned 32-bit number (HM-1)."""
    return (31 * (31 + partition) + string_hash(topic)) & _UINT32


@lru_cache(maxsize=1 << 14)
def uuid_hash(topic_id: bytes) -> int:
    """Return Uuid.hashCode of 16 bytes as an unsigned 32-bit number (HM-1)."""
    both = int.from_bytes(topic_id[:8], "big") ^ int.from_bytes(topic_id[8:], "big")
    return (both >> 32) ^ (both & _UINT32)


def int_hash(number: int) -> int:
    """Return Integer.hashCode as an unsigned 32-bit number."""
    return number & _UINT32


def spread(code: int) -> int:
    """Return a hash code mixed as HashMap does: its high half is folded into the low one (HM-1)."""
    return code ^ (code >> 16)


def capacity_of(size: int, initial: int = DEFAULT_CAPACITY) -> int:
    """Return the number of buckets of a table that has held `size` keys: it doubles when more than
    three quarters are used (HM-2)."""
    capacity = initial
    while size * 4 > capacity * 3:
        capacity *= 2
    return capacity


def map_capacity(size: int) -> int:
    """Return the number of buckets of `new HashMap(n)` (HM-4)."""
    return 1 << (size - 1).bit_length() if size > 1 else 1


def copy_capacity(size: int) -> int:
    """Return the number of buckets of a HashMap made as a copy of a map with `size` entries, in the
    chosen `java_release` (HM-4).
    """
    return map_capacity(size * 4 // 3 + 1 if java_release < _EXACT_COPIES else -(-size * 4 // 3))


def roomy(expected: int) -> int:
    """Return Kafka's usual initial capacity for `expected` keys: (int) (expected / 0.75f + 1)."""
    return expected * 4 // 3 + 1


def utf16(text: str) -> bytes:
    """Return the text's UTF-16 units, high byte first, which String.compareTo compares."""
    return text.encode("utf-16-be", "surrogatepass")


def _utf16_units(text: str) -> list[int]:
    data = utf16(text)
    return [data[i] << 8 | data[i + 1] for i in range(0, len(data), 2)]
