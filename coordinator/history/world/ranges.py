"""Ranges of offsets that are split where a part of them changes: the held records of a share
partition, in the order of offsets. This module must not know what a range stands for."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from typing import Any, Protocol, TypeVar


class Range(Protocol):
    """Interface of a dataclass with a first and a last offset."""

    @property
    def first(self) -> int:
        """The first offset."""
        ...

    @property
    def last(self) -> int:
        """The last offset."""
        ...


R = TypeVar("R", bound=Range)


def first_of(one: Range) -> int:
    """Return the key by which ranges are ordered."""
    return one.first


def put(held: list[R], one: R) -> None:
    """Add a range that overlaps no other."""
    held.insert(bisect_left(held, one.first, key=first_of), one)


def taken(held: list[R], first: int, last: int) -> list[R]:
    """Remove and return the parts of ranges within these offsets; parts outside stay."""
    at = max(bisect_left(held, first, key=first_of) - 1, 0)
    if at < len(held) and held[at].last < first:
        at += 1
    end = at
    while end < len(held) and held[end].first <= last:
        end += 1
    found = held[at:end]
    rest = []
    if found and found[0].first < first:
        rest.append(_having(found[0], last=first - 1))
        found[0] = _having(found[0], first=first)
    if found and found[-1].last > last:
        rest.append(_having(found[-1], first=last + 1))
        found[-1] = _having(found[-1], last=last)
    held[at:end] = rest
    return found


def _having(one: R, **changes: int) -> R:
    dataclass: Any = one
    changed: R = replace(dataclass, **changes)
    return changed
