"""The orders in which Java's collections give back what was put into them.

Kafka's assignors keep members and topics in HashMaps, and the order of those shows in what they answer. Owns hash codes and the
iteration order of tables that only grow; refuses to know what is in them. Sources: HM-1..HM-5, java.util.HashMap.

A table never shrinks and splits a bucket in order: so an iteration is the keys in the order they were put, sorted by bucket.
The exception are buckets of nine keys and more, which are left to the slow and exact `HashTable`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

_UINT32 = 0xFFFFFFFF
DEFAULT_CAPACITY = 16
_DEEP_BUCKET = 9
_MIN_TREE_CAPACITY = 64
_EXACT_COPIES = 19

java_release = 17
"""Whose HashMap is meant. From 19 on the copy of a map of 12, 24, 48, ... entries has half the buckets (JDK-8281631)."""


@lru_cache(maxsize=1 << 14)
def string_hash(text: str) -> int:
    """String.hashCode as an unsigned 32-bit number: over UTF-16 units (HM-1)."""
    code = 0
    for unit in text.encode("ascii") if text.isascii() else _utf16_units(text):
        code = 31 * code + unit
    return code & _UINT32


def partition_hash(topic: str, partition: int) -> int:
    """TopicPartition.hashCode as an unsigned 32-bit number (HM-1)."""
    return (31 * (31 + partition) + string_hash(topic)) & _UINT32


def spread(code: int) -> int:
    """HashMap's own mixing: the high half of a hash code folded into the low one (HM-1)."""
    return code ^ (code >> 16)


def capacity_of(size: int, initial: int = DEFAULT_CAPACITY) -> int:
    """How many buckets a table has after it held `size` keys: it doubles when more than three quarters are used (HM-2)."""
    capacity = initial
    while size * 4 > capacity * 3:
        capacity *= 2
    return capacity


def map_capacity(size: int) -> int:
    """The buckets of `new HashMap(n)` (HM-4)."""
    return 1 << (size - 1).bit_length() if size > 1 else 1


def copy_capacity(size: int) -> int:
    """The buckets of `new HashMap(map of n entries)` (HM-4), in the `java_release` that is meant."""
    return map_capacity(size * 4 // 3 + 1 if java_release < _EXACT_COPIES else -(-size * 4 // 3))


def table_order(keys: Sequence[str], initial: int = DEFAULT_CAPACITY) -> list[str]:
    """Distinct strings, given in the order they are put, as a HashMap iterates them that had `initial` buckets (HM-3)."""
    capacity = capacity_of(len(keys), initial)
    buckets = [spread(string_hash(key)) & (capacity - 1) for key in keys]
    if _has_deep_bucket(keys, buckets, initial, capacity):
        from assignors.server_side.hash_table import HashTable  # slow, and hardly ever needed

        table: HashTable[str] = HashTable(string_hash, initial)
        for key in keys:
            table.put(key)
        return list(table)
    return [keys[i] for i in sorted(range(len(keys)), key=buckets.__getitem__)]


def through_tables(keys: Sequence[str], *initials: int) -> list[str]:
    """The keys put into one table after another, each as the one before iterates. Only deep buckets make that differ from one table."""
    order = list(keys)
    for initial in initials or (DEFAULT_CAPACITY,):
        order = table_order(order, initial)
    return order


def is_deep(keys: Sequence[str]) -> bool:
    """Are there so many keys of like hash that only `HashTable` knows their order?"""
    capacity = capacity_of(len(keys))
    return _has_deep_bucket(keys, [spread(string_hash(key)) & (capacity - 1) for key in keys], DEFAULT_CAPACITY, capacity)


def computed_order(keys: Sequence[str], size_before_last_call: int) -> list[str]:
    """Distinct strings as a default HashMap iterates them that was filled by computeIfAbsent, in the order of their first calls.

    That method inserts at the head of a bucket, and grows the table at the beginning of the next call, whatever that is for.
    """
    if is_deep(keys):
        from assignors.server_side.hash_table import HashTable  # slow, and hardly ever needed

        table: HashTable[str] = HashTable(string_hash)
        for key in keys:
            table.compute(key)
        if size_before_last_call == len(keys):
            table.compute(keys[-1])
        return list(table)
    capacity = capacity_of(size_before_last_call)
    latest_first = keys[::-1]
    return sorted(latest_first, key=lambda key: spread(string_hash(key)) & (capacity - 1))


def _has_deep_bucket(keys: Sequence[str], buckets: list[int], initial: int, capacity: int) -> bool:
    """Did any bucket ever hold nine keys? Until the table has 64 buckets that makes it double, and later a tree (HM-5)."""
    if len(keys) < _DEEP_BUCKET:
        return False
    if max(Counter(buckets).values()) >= _DEEP_BUCKET:
        return True
    size = max(initial, _MIN_TREE_CAPACITY)
    while size < capacity:
        early = Counter(spread(string_hash(key)) & (size - 1) for key in keys[: size * 3 // 4 + 1])
        if max(early.values()) >= _DEEP_BUCKET:
            return True
        size *= 2
    return False


def sort_key(texts: Iterable[str]) -> Callable[[str], str | bytes] | None:
    """The key that sorts these as String.compareTo does: by UTF-16 unit. None where Python's own order is the same."""
    return None if all(text.isascii() or max(text) < "\ud800" for text in texts) else _utf16


def sorted_strings(texts: Iterable[str]) -> list[str]:
    """Sorted as a TreeSet of strings is."""
    texts = list(texts)
    return sorted(texts, key=sort_key(texts))


def _utf16(text: str) -> bytes:
    return text.encode("utf-16-be", "surrogatepass")


def _utf16_units(text: str) -> list[int]:
    data = _utf16(text)
    return [data[i] << 8 | data[i + 1] for i in range(0, len(data), 2)]
