"""The iteration orders of Java's collections that only grow.

Kafka's assignors keep members and topics in HashMaps, whose order shows in their results. Does
not depend on the contents. Sources: HM-3..HM-5, java.util.HashMap.

A table never shrinks and splits a bucket in order, so an iteration gives the keys in insertion
order, sorted by bucket. The exception are buckets of nine keys and more, which are left to the
slow and exact `HashTable`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from assignors.java_hash_table import HashTable
from assignors.java_hashing import (
    DEEP_BUCKET,
    DEFAULT_CAPACITY,
    MIN_TREE_CAPACITY,
    capacity_of,
    spread,
    string_hash,
    utf16,
)


def table_order(keys: Sequence[str], initial: int = DEFAULT_CAPACITY) -> list[str]:
    """Return distinct strings, given in insertion order, in the iteration order of a HashMap that
    had `initial` buckets (HM-3).
    """
    capacity = capacity_of(len(keys), initial)
    buckets = [spread(string_hash(key)) & (capacity - 1) for key in keys]
    if _has_deep_bucket(keys, buckets, initial, capacity):
        table: HashTable[str] = HashTable(string_hash, initial)
        for key in keys:
            table.put(key)
        return list(table)
    return [keys[i] for i in sorted(range(len(keys)), key=buckets.__getitem__)]


def through_tables(keys: Sequence[str], *initials: int) -> list[str]:
    """Return the keys after they were put into one table after another, each in the iteration order
    of the one before. Only deep buckets make the order differ from that of one table.
    """
    order = list(keys)
    for initial in initials or (DEFAULT_CAPACITY,):
        order = table_order(order, initial)
    return order


def is_deep(keys: Sequence[str]) -> bool:
    """Return whether a bucket would be so deep that only `HashTable` gives the right order."""
    capacity = capacity_of(len(keys))
    return _has_deep_bucket(
        keys,
        [spread(string_hash(key)) & (capacity - 1) for key in keys],
        DEFAULT_CAPACITY,
        capacity,
    )


def computed_order(keys: Sequence[str], size_before_last_call: int) -> list[str]:
    """Return distinct strings, given in the order of their first calls, in the iteration order of a
    default HashMap that was filled by computeIfAbsent.

    That method inserts at the head of a bucket, and grows the table at the beginning of the next
    call, whichever key that is for.
    """
    if is_deep(keys):
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
    """Return whether a bucket ever held nine keys. Below 64 buckets the table then doubles; from 64
    on the bucket becomes a tree (HM-5).
    """
    if len(keys) < DEEP_BUCKET:
        return False
    if max(Counter(buckets).values()) >= DEEP_BUCKET:
        return True
    size = max(initial, MIN_TREE_CAPACITY)
    while size < capacity:
        early = Counter(spread(string_hash(key)) & (size - 1) for key in keys[: size * 3 // 4 + 1])
        if max(early.values()) >= DEEP_BUCKET:
            return True
        size *= 2
    return False


def sort_key(texts: Iterable[str]) -> Callable[[str], str | bytes] | None:
    """Return the key that sorts these texts as String.compareTo does, by UTF-16 unit; None if
    Python's own order is the same.
    """
    return None if all(text.isascii() or max(text) < "\ud800" for text in texts) else utf16


def sorted_strings(texts: Iterable[str]) -> list[str]:
    """Return the texts in the order of a TreeSet of strings."""
    texts = list(texts)
    return sorted(texts, key=sort_key(texts))
