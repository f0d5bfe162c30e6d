"""Java's String.hashCode and the iteration order of java.util.HashMap (spec HM-1..HM-5).

Kafka keeps a group's members and votes in HashMaps, and their iteration order is visible: in the
member list that the leader gets, in the election of a new leader and in vote ties. This module
owns that order and does not depend on groups. A HashMap never shrinks and splits a bucket in
order, so the order follows from the insertion order, the hashes and the largest size the map
ever had. (Buckets of nine or more entries, which Java turns into trees, are not modelled: HM-5.)
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from functools import lru_cache
from struct import unpack
from typing import Final, TypeVar

K = TypeVar("K", bound=Hashable)

_DEFAULT_CAPACITY = 16
_LONG = 64
_KEPT: Final = 256
"""The partitions of so many groups are kept."""


def java_hash(text: str) -> int:
    """Return String.hashCode as an unsigned 32-bit number: over UTF-16 units, s[0]*31^(n-1) + ... +
    s[n-1] (HM-1).
    """
    if not text.isascii():
        return _of_many(text.encode("utf-16-be", "surrogatepass"), 2)
    data = text.encode("ascii")
    if len(data) > _LONG:
        return _of_many(data, 1)
    h = 0
    for unit in data:
        h = (31 * h + unit) & 0xFFFFFFFF
    return h


def _of_many(units: bytes, width: int) -> int:
    """Return the hash of a long text, given as units of `width` bytes. Neighbouring units are
    combined in one large integer, until each sum has eight bytes.

    Names may have 32,767 bytes; this takes a tenth of the time of a loop over them.
    """
    longs = (len(units) + 7) // 8
    sums, factor = int.from_bytes(units, "big"), 31
    while width < 8:  # no sum outgrows its double width
        low = int.from_bytes((bytes(width) + b"\xff" * width) * (longs * 4 // width), "big")
        sums = (sums >> 8 * width & low) * factor + (sums & low)
        factor *= factor
        width *= 2
    h = 0
    for eight in unpack(f">{longs}Q", sums.to_bytes(8 * longs, "big")):
        h = (factor * h + eight) & 0xFFFFFFFF
    return h


def spread(h: int) -> int:
    """Return a hash code mixed as HashMap does: its high half is folded into the low one (HM-1)."""
    return h ^ (h >> 16)


def capacity_for(peak_size: int) -> int:
    """Return the table size of a default HashMap that held at most `peak_size` entries at once
    (HM-2).
    """
    capacity = _DEFAULT_CAPACITY
    while peak_size * 4 > capacity * 3:
        capacity *= 2
    return capacity


def copy_capacity(size: int) -> int:
    """Return the number of buckets of a HashMap made as a copy of a map with `size` entries (HM-4)."""
    return 1 << max(0, size * 4 // 3).bit_length() if size else 1


def set_capacity(size: int) -> int:
    """Return the number of buckets of a HashSet made from a collection of `size` elements (HM-4)."""
    return max(_DEFAULT_CAPACITY, copy_capacity(size))


def topic_partition_hash(topic: str, partition: int) -> int:
    """Return TopicPartition.hashCode as an unsigned 32-bit number (HM-1)."""
    return (31 * (31 + partition) + java_hash(topic)) & 0xFFFFFFFF


def in_hash_order(keys: Iterable[K], hash_code: Callable[[K], int]) -> list[K]:
    """Return distinct `keys`, given in insertion order, in the iteration order of a default HashMap
    (HM-3).
    """
    unique = list(dict.fromkeys(keys))
    mask = capacity_for(len(unique)) - 1
    return sorted(unique, key=lambda key: spread(hash_code(key)) & mask)


def in_compute_order(keys: Iterable[K], hash_code: Callable[[K], int]) -> list[K]:
    """Return distinct `keys` in the iteration order of a default HashMap that was filled by
    computeIfAbsent, called once for each of `keys`.

    Unlike put, that method inserts at the head of a bucket, and it resizes at the beginning of
    the next call.
    """
    calls = list(keys)
    unique = list(dict.fromkeys(calls))
    mask = capacity_for(len(dict.fromkeys(calls[:-1]))) - 1
    unique.reverse()
    return sorted(unique, key=lambda key: spread(hash_code(key)) & mask)


@lru_cache(maxsize=_KEPT)
def coordinator_partition(group_id: str, partitions: int) -> int:
    """Return the partition of __consumer_offsets that holds a group: abs(hash) mod partitions,
    where abs(MIN_VALUE) is 0 (CFG-2).
    """
    h = java_hash(group_id)
    signed = h - 0x1_0000_0000 if h & 0x8000_0000 else h
    return (0 if signed == -0x8000_0000 else abs(signed)) % partitions
