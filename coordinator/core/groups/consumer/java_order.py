"""Iteration orders of Java collections, which clients see in partitions, topics and assignors.

Arithmetic only: values in, the same values out in the order of a HashMap, a HashSet or Kafka's
TimelineHashMap. Buckets of nine and more keys, which Java turns into trees, are not modelled
(HM-5).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, TypeVar

from coordinator.base.java_hash import java_hash, set_capacity, spread

K = TypeVar("K")

_DEFAULT_CAPACITY: Final = 16
_MIXED: Final = 1 << 16
"""From here on `spread` changes a number that is not negative."""
_MANY: Final = 1 << 14
"""So many names, which a client may send, would drive all others out of the cache."""
_GOLDEN: Final = -7046029254386353131 & 0xFFFFFFFFFFFFFFFF


#: Member ids are put in order at every new target, and there may be thousands.
_hash = lru_cache(maxsize=1 << 16)(java_hash)


def uuid_hash(topic_id: bytes) -> int:
    """Return Uuid.hashCode of 16 bytes, as an unsigned 32-bit number (HM-1)."""
    both = int.from_bytes(topic_id[:8], "big") ^ int.from_bytes(topic_id[8:], "big")
    return (both >> 32) ^ (both & 0xFFFFFFFF)


def grown(capacity: int, size: int) -> int:
    """Return the number of buckets after a table has grown to `size` entries (HM-2)."""
    while size * 4 > capacity * 3:
        capacity *= 2
    return capacity


def int_order(numbers: Sequence[int], capacity: int = _DEFAULT_CAPACITY) -> list[int]:
    """Return partition numbers, given in order of insertion, as a table with `capacity` initial
    buckets iterates them (HM-3).
    """
    if len(numbers) < 2:
        return list(numbers)
    mask, greatest = grown(capacity, len(numbers)) - 1, max(numbers)
    if greatest >= _MIXED:
        return sorted(numbers, key=lambda number: spread(number) & mask)
    return sorted(numbers) if greatest <= mask else sorted(numbers, key=mask.__and__)


def uuid_order(ids: Sequence[bytes], capacity: int = _DEFAULT_CAPACITY) -> list[bytes]:
    """Return topic ids, given in order of insertion, as a table with `capacity` initial buckets
    iterates them (HM-3).
    """
    if len(ids) < 2:
        return list(ids)
    mask = grown(capacity, len(ids)) - 1
    return sorted(ids, key=lambda topic_id: spread(uuid_hash(topic_id)) & mask)


def name_order(names: Sequence[str], capacity: int | None = None) -> list[str]:
    """Return names as `new HashSet(list)` iterates them, or a table with `capacity` initial buckets
    (HM-3, HM-4).
    """
    if len(names) < 2:
        return list(names)
    mask = grown(set_capacity(len(names)) if capacity is None else capacity, len(names)) - 1
    if len(names) > _MANY:
        return _by([spread(java_hash(name)) & mask for name in names], names)
    return _by([code & mask for code in map(_spread, names)], names)


def timeline_order(keys: Iterable[str]) -> list[str]:
    """Return keys, given in order of insertion, as Kafka's TimelineHashMap iterates them, created
    empty and never shrunk.
    """
    unique = list(keys)
    capacity = 2
    while (len(unique)) * 3 > capacity * 4:
        capacity *= 2
    shift = 65 - (32 - (32 - capacity.bit_length()))
    return _by([code >> shift for code in map(_mixed, unique)], unique)


def _by(ranks: list[int], names: Sequence[str]) -> list[str]:
    """Return the names sorted by rank; those of one rank keep their order."""
    return [names[index] for index in sorted(range(len(names)), key=ranks.__getitem__)]


@lru_cache(maxsize=1 << 16)
def _spread(key: str) -> int:
    """Return the hash code as HashMap mixes it (HM-1)."""
    return spread(_hash(key))


@lru_cache(maxsize=1 << 16)
def _mixed(key: str) -> int:
    """Return the hash code as a signed number times the constant of BaseHashTable.findSlot, in 64
    bits.
    """
    code = _hash(key)
    return ((code - ((code & 0x8000_0000) << 1)) * _GOLDEN) & 0xFFFFFFFFFFFFFFFF
