"""The order in which Scala's immutable sets of names show their elements: Kafka 4's request handlers
keep names in such sets, and clients see the order in answers.

Rules HM-7 and HM-8. Does not depend on what the names are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from .java_hash import java_hash, spread
from .slices import ITEMS_A_STEP, Slices

_SMALL: Final = 4
"""Sets of so many elements keep the order of insertion."""
_BITS: Final = 5
_LAST: Final = 30
_ALL: Final = 0xFFFFFFFF


def in_set_order(names: Iterable[str]) -> Slices[list[str]]:
    """Distinct names, given in the order of their insertion, as an immutable Set iterates them
    (HM-7): up to four as they came, more by a trie of their mixed hash codes."""
    unique = list(dict.fromkeys(names))
    if len(unique) <= _SMALL:
        return unique
    hashed: list[tuple[int, str]] = []
    for count, name in enumerate(unique, 1):
        if not count % ITEMS_A_STEP:
            yield
        hashed.append((_mixed(java_hash(name)), name))
    return _of_node(hashed, 0)


def copied_to_java(names: Sequence[str]) -> list[str]:
    """Distinct names as a java.util.HashSet shows them that was made as a copy of a collection in
    this order (HM-8)."""
    capacity = 16
    while capacity < len(names) * 4 // 3 + 1:
        capacity *= 2
    return sorted(names, key=lambda name: spread(java_hash(name)) & capacity - 1)


def _mixed(h: int) -> int:
    """What scala.collection.Hashing makes of a hash code."""
    h = (h + (~(h << 9) & _ALL)) & _ALL
    h ^= h >> 14
    h = (h + (h << 4)) & _ALL
    return h ^ h >> 10


def _of_node(elements: Sequence[tuple[int, str]], shift: int) -> list[str]:
    """A node of the trie: first the elements that stand alone under five bits of their hash, then
    the nodes of those that share them, each in the order of these bits."""
    groups: dict[int, list[tuple[int, str]]] = {}
    for element in elements:
        groups.setdefault(element[0] >> shift & (1 << _BITS) - 1, []).append(element)
    ordered = [groups[bits] for bits in sorted(groups)]
    names = [group[0][1] for group in ordered if len(group) == 1]
    for group in ordered:
        if len(group) > 1:
            names += (
                [name for _, name in group] if shift >= _LAST else _of_node(group, shift + _BITS)
            )
    return names
