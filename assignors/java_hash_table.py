"""The iteration order of java.util.HashMap and HashSet with topic ids and partition numbers as
keys.

The server-side assignors copy, shrink and grow such tables, and the order is visible: in the
partitions that a member keeps when it has too many, and in the lists that are sent to the
members. Owns the order of one table: its capacity, and every key's place in its bucket. Does not
depend on what a key means; values are the caller's. Sources: HM-1..HM-4, java.util.HashMap.

A bucket of nine keys makes a table of fewer than 64 buckets double (HashMap.treeifyBin). In
larger tables Java turns such a bucket into a tree, whose order is in `java_tree_bin`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import groupby
from typing import Final, Generic, TypeVar

from assignors.java_hashing import (
    DEEP_BUCKET,
    DEFAULT_CAPACITY,
    MIN_TREE_CAPACITY,
    copy_capacity,
    int_hash,
    map_capacity,
    utf16,
)
from assignors.java_tree_bin import TreeBin

K = TypeVar("K", bound=Hashable)

_SHALLOW_BUCKET: Final = 6
_MIXED: Final = 1 << 16  # from here on HashMap mixes the bits of a number
_LEAST_COPIED: Final = 11  # the most keys that fit into 16 buckets in every release


class HashTable(Generic[K]):
    """The keys of one HashMap or HashSet, iterated in Java's order."""

    __slots__ = ("_as_put", "_capacity", "_counts", "_first", "_hash", "_last", "_places", "_trees")

    def __init__(self, hash_code: Callable[[K], int], initial: int = DEFAULT_CAPACITY) -> None:
        self._hash = hash_code
        self._capacity = map_capacity(initial)
        self._places: dict[K, int] = {}
        self._counts: (
            dict[int, int] | None
        ) = {}  # keys in each bucket; None: to be counted when that is asked for
        self._trees: dict[int, TreeBin[K]] = {}
        self._first = 0
        self._last = 0
        self._as_put = True  # buckets list their keys in the order in which `_places` has them

    @classmethod
    def copy_of(
        cls, keys: Iterable[K], hash_code: Callable[[K], int], size: int | None = None
    ) -> HashTable[K]:
        """Return the table of `new HashSet(collection)` in the chosen Java release; the collection
        iterates as `keys` and reports `size` (HM-4).
        """
        keys = list(keys)
        table = cls(
            hash_code, copy_capacity(max(len(keys) if size is None else size, _LEAST_COPIED))
        )
        if hash_code is int_hash and table._took(keys):  # type: ignore[arg-type]  # K is int
            return table
        for key in keys:
            table.put(key)
        return table

    def _took(self, numbers: list[int]) -> bool:
        """Put distinct partition numbers into this new table at once, if there is room for all and
        no bucket becomes deep; return whether it was done.
        """
        capacity = self._capacity
        if not numbers or len(numbers) * 4 > capacity * 3 or (greatest := max(numbers)) >= _MIXED:
            return False
        if len(numbers) >= DEEP_BUCKET and greatest // capacity >= DEEP_BUCKET - 1:
            if max(Counter(map((capacity - 1).__and__, numbers)).values()) >= DEEP_BUCKET:
                return False
        self._places = dict(zip(numbers, range(1, len(numbers) + 1), strict=True))  # type: ignore[arg-type]  # K is int
        self._counts = None
        self._last = len(numbers)
        return True

    def put(self, key: K) -> None:
        """Add a key at the end of its bucket, unless it is present (HashMap.put, HashSet.add)."""
        if key in self._places:
            return
        self._last += 1
        self._join(key, self._last)
        if len(self._places) * 4 > self._capacity * 3:
            self._grow()

    def compute(self, key: K) -> None:
        """Add a key at the head of its bucket, unless it is present; grow at the next call
        (HashMap.computeIfAbsent).
        """
        if len(self._places) * 4 > self._capacity * 3:
            self._grow()
        if key not in self._places:
            self._first -= 1
            self._as_put = False
            self._join(key, self._first)

    def discard(self, key: K) -> None:
        """Remove a key, if it is present. A table never shrinks."""
        if self._places.pop(key, None) is None:
            return
        if self._counts is None:  # and so there are no trees
            return
        bucket = self._bucket(key)
        self._counts[bucket] -= 1
        tree = self._trees.get(bucket)
        if tree is not None and not tree.remove(key):
            self._make_list(bucket)

    def _join(self, key: K, place: int) -> None:
        if self._counts is None:
            self._counts = Counter(map(self._bucket, self._places))
        self._places[key] = place
        bucket = self._bucket(key)
        count = self._counts[bucket] = self._counts.get(bucket, 0) + 1
        if bucket in self._trees:
            self._trees[bucket].add(key)
        elif count >= DEEP_BUCKET - (place < 0):
            if self._capacity < MIN_TREE_CAPACITY:
                self._grow()
            else:
                self._as_put = False
                self._trees[bucket] = TreeBin(self._in_bucket(bucket), self._rank)

    def _grow(self) -> None:
        """Double the capacity and split every bucket in order; trees that stay deep are rebuilt
        (HashMap.resize, TreeNode.split).
        """
        old, trees = self._capacity, self._trees
        self._capacity, self._trees = 2 * old, {}
        self._counts = Counter(map(self._bucket, self._places))
        for bucket, tree in trees.items():
            halves = {
                half: [key for key in tree if self._bucket(key) == half]
                for half in (bucket, bucket + old)
            }
            for half, keys in halves.items():
                self._trees[half] = tree if len(keys) == len(tree) else TreeBin(keys, self._rank)
                if len(keys) <= _SHALLOW_BUCKET:
                    self._make_list(half, keys)

    def _make_list(self, bucket: int, keys: Iterable[K] | None = None) -> None:
        """Turn a tree back into a list, in its order (TreeNode.untreeify)."""
        for key in self._trees.pop(bucket) if keys is None else keys:
            self._last += 1
            self._places[key] = self._last
        self._trees.pop(bucket, None)

    def _bucket(self, key: K) -> int:
        code = self._hash(key)
        return (code ^ code >> 16) & (self._capacity - 1)

    def _in_bucket(self, bucket: int) -> list[K]:
        return sorted(
            (key for key in self._places if self._bucket(key) == bucket),
            key=self._places.__getitem__,
        )

    def _rank(self, key: K) -> tuple[int, bytes]:
        """Return the sort key of trees: the hash code as a signed number, then the order of
        String.compareTo.
        """
        code = self._hash(key)
        code ^= code >> 16
        return code - ((code & 0x8000_0000) << 1), utf16(key) if isinstance(key, str) else b""

    def __iter__(self) -> Iterator[K]:
        places, bucket = self._places, self._bucket
        if len(places) < 2:
            return iter(tuple(places))
        if self._as_put and self._hash is int_hash and max(places) < _MIXED:  # type: ignore[type-var, operator]
            return iter(sorted(places, key=(self._capacity - 1).__and__))  # type: ignore[arg-type]
        keys = sorted(places, key=lambda key: (bucket(key), places[key]))
        if not self._trees:
            return iter(keys)
        return (
            key
            for number, group in groupby(keys, bucket)
            for key in self._trees.get(number) or group
        )

    def __contains__(self, key: object) -> bool:
        return key in self._places

    def __len__(self) -> int:
        return len(self._places)


def order_of_puts(keys: Iterable[K], hash_code: Callable[[K], int]) -> list[K]:
    """Return these keys in the iteration order of a new table into which each was put once.

    If no bucket ever becomes deep, the capacity follows from the number of keys, and the order
    is that of the buckets.
    """
    keys = list(keys)
    codes = [code ^ code >> 16 for code in map(hash_code, keys)]
    capacity = DEFAULT_CAPACITY
    while True:
        full = min(len(keys), capacity * 3 // 4 + 1)  # what is in it when it doubles
        buckets = [code & (capacity - 1) for code in codes[:full]]
        if full and max(Counter(buckets).values()) >= DEEP_BUCKET - 1:
            table = HashTable(hash_code)
            for key in keys:
                table.put(key)
            return list(table)
        if len(keys) * 4 <= capacity * 3:
            return [keys[index] for index in sorted(range(len(keys)), key=buckets.__getitem__)]
        capacity *= 2
