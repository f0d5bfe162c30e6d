"""The orders in which Java's collections give back what was put into them.

Kafka's assignors keep members and topics in HashMaps, and the order of those shows in what they
answer. Owns the iteration order of tables that only grow. Does not depend on what is in them.
Sources: HM-3..HM-5, java.util.HashMap.

A table never shrinks and splits a bucket in order: so an iteration is the keys in the order they
were put, sorted by bucket. The exception are buckets of nine keys and more, which are left to the
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
    """Distinct strings, given in the order they are put, as a HashMap iterates them that had
    `initial` buckets (HM-3)."""
    capacity = capacity_of(len(keys), initial)
    buckets = [spread(string_hash(key)) & (capacity - 1) for key in keys]
    if _has_deep_bucket(keys, buckets, initial, capacity):
        table: HashTable[str] = HashTable(string_hash, initial)
        for key in keys:
            table.put(key)
        return list(table)
    return [keys[i] for i in sorted(range(len(keys)), key=buckets.__getitem__)]


def through_tables(keys: Sequence[str], *initials: int) -> list[str]:
    """The keys put into one table after another, each as the one before iterates. Only deep buckets
    make that differ from one table."""
    order = list(keys)
    for initial in initials or (DEFAULT_CAPACITY,):
        order = table_order(order, initial)
    return order


def is_deep(keys: Sequence[str]) -> bool:
    """Return whether so many keys have the same hash that only `HashTable` knows their order."""
    capacity = capacity_of(len(keys))
    return _has_deep_bucket(
        keys,
        [spread(string_hash(key)) & (capacity - 1) for key in keys],
        DEFAULT_CAPACITY,
        capacity,
    )


def computed_order(keys: Sequence[str], size_before_last_call: int) -> list[str]:
    """Distinct strings as a default HashMap iterates them that was filled by computeIfAbsent, in
    the order of their first calls.

    That method inserts at the head of a bucket, and grows the table at the beginning of the next
    call, whatever that is for.
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
    """Return whether a bucket ever held nine keys. Until the table has 64 buckets that makes it
    double, and later a tree (HM-5)."""
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
    """The key that sorts these as String.compareTo does: by UTF-16 unit. None where Python's own
    order is the same."""
    return None if all(text.isascii() or max(text) < "\ud800" for text in texts) else utf16


def sorted_strings(texts: Iterable[str]) -> list[str]:
    """Sorted as a TreeSet of strings is."""
    texts = list(texts)
    return sorted(texts, key=sort_key(texts))
