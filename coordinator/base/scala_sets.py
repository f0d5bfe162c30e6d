"""The iteration order of Scala's immutable sets of names: Kafka 4's request handlers keep names in
such sets, and clients see the order in responses.

Rules HM-4 and HM-7. Does not depend on what the names are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from .java_hash import java_hash, set_capacity, spread
from .slices import ITEMS_A_STEP, Slices, each

_SMALL: Final = 4
"""Sets of so many elements keep the order of insertion."""
_BITS: Final = 5
_LAST: Final = 30
_ALL: Final = 0xFFFFFFFF


def in_set_order(names: Iterable[str]) -> Slices[list[str]]:
    """Return distinct names, given in insertion order, in the iteration order of an immutable Set
    (HM-7): up to four in insertion order, more by a trie of their mixed hash codes.
    """
    unique = list(dict.fromkeys(names))
    if len(unique) <= _SMALL:
        return unique
    hashes = yield from each(unique, lambda name: (_mixed(java_hash(name)), name))
    return (yield from _of_node(hashes, 0))


def copied_to_java(names: Sequence[str]) -> Slices[list[str]]:
    """Return distinct names in the iteration order of a java.util.HashSet that was made as a copy
    of a collection in this order (HM-4).
    """
    buckets: dict[int, list[str]] = {}
    last = set_capacity(len(names)) - 1
    for count, name in enumerate(names, 1):
        if not count % ITEMS_A_STEP:
            yield
        buckets.setdefault(spread(java_hash(name)) & last, []).append(name)
    ordered: list[str] = []
    for count, bucket in enumerate(sorted(buckets), 1):
        if not count % ITEMS_A_STEP:
            yield
        ordered += buckets[bucket]
    return ordered


def _mixed(h: int) -> int:
    """Return a hash code as scala.collection.Hashing mixes it."""
    h = (h + (~(h << 9) & _ALL)) & _ALL
    h ^= h >> 14
    h = (h + (h << 4)) & _ALL
    return h ^ h >> 10


def _of_node(elements: Sequence[tuple[int, str]], shift: int) -> Slices[list[str]]:
    """Return the elements of a node of the trie in order: first those that are alone under five
    bits of their hash, then the nodes of those that share them, each in the order of these bits.
    """
    groups: dict[int, list[tuple[int, str]]] = {}
    for count, element in enumerate(elements, 1):
        if not count % ITEMS_A_STEP:
            yield
        groups.setdefault(element[0] >> shift & (1 << _BITS) - 1, []).append(element)
    ordered = [groups[bits] for bits in sorted(groups)]
    names = [group[0][1] for group in ordered if len(group) == 1]
    for group in ordered:
        if len(group) > 1 and shift >= _LAST:
            names += [name for _, name in group]
        elif len(group) > 1:
            names += yield from _of_node(group, shift + _BITS)
    return names
