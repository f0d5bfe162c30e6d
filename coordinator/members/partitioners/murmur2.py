"""murmur2 as the Java producer computes it, and the partition of a keyed record.

Owns the hash (PART-1), a signed 32-bit int as in Java, and its mapping to a partition (PART-2).
Does not depend on which partitions are available: a key always goes to the same partition.
"""

from __future__ import annotations

from struct import iter_unpack
from typing import Final

_SEED: Final = 0x9747B28C
_M: Final = 0x5BD1E995
_MASK: Final = 0xFFFFFFFF
_POSITIVE: Final = 0x7FFFFFFF


def murmur2(data: bytes) -> int:
    """Return the signed 32-bit murmur2 hash of `data` (PART-1)."""
    length = len(data)
    whole = length & ~3
    h = (_SEED ^ length) & _MASK
    for (k,) in iter_unpack("<I", data[:whole]):
        k = k * _M & _MASK
        k ^= k >> 24
        h = h * _M & _MASK ^ k * _M & _MASK
    if tail := data[whole:]:
        h = (h ^ int.from_bytes(tail, "little")) * _M & _MASK
    h = (h ^ h >> 13) * _M & _MASK
    h ^= h >> 15
    return h - (1 << 32) if h > _POSITIVE else h


def partition_for_key(key: bytes, partitions: int) -> int:
    """Return the partition of a record with this serialised key, of all `partitions` of the topic
    (PART-2).
    """
    return to_positive(murmur2(key)) % partitions


def to_positive(number: int) -> int:
    """Clear the sign bit, as Java does: -1 becomes 2147483647, not 1."""
    return number & _POSITIVE
