"""Combination of older and newer state batches of a share partition into ranges that do not
overlap.

Kafka's rule for an offset in several batches: the higher delivery count wins, then the higher
state, whichever is newer. Neighbours with equal state and count are merged. Offsets before the
start offset are dropped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import heappop, heappush
from operator import attrgetter

from coordinator.events.share_states import StateBatch

from .model import NO_OFFSET

_FIRST = attrgetter("first_offset")


def combined(
    older: Iterable[StateBatch], newer: Iterable[StateBatch], start_offset: int
) -> tuple[StateBatch, ...]:
    """Return the ranges in order. A single batch is kept as it is, even one that ends before it
    begins.
    """
    given = [*older, *newer]
    if start_offset != NO_OFFSET:
        given = [
            one if one.first_offset >= start_offset else one._replace(first_offset=start_offset)
            for one in given
            if one.last_offset >= start_offset
        ]
    if len(given) < 2:
        return tuple(given)
    return tuple(_joined(_apart(sorted(given, key=_FIRST))))


def _apart(batches: list[StateBatch]) -> Iterator[StateBatch]:
    """Yield disjoint ranges with the winning batch's values. Batches are sorted by first offset."""
    open_: list[tuple[int, int, int]] = []  # (-count, -state, last offset): the first one counts
    at, position = 0, 0
    while position < len(batches) or open_:
        if not open_:
            at = batches[position].first_offset
        while position < len(batches) and batches[position].first_offset <= at:
            one = batches[position]
            heappush(open_, (-one.delivery_count, -one.delivery_state, one.last_offset))
            position += 1
        while open_ and open_[0][2] < at:
            heappop(open_)
        if not open_:
            continue
        count, state, last = open_[0]
        if position < len(batches):
            last = min(last, batches[position].first_offset - 1)
        yield StateBatch(at, last, -state, -count)
        at = last + 1


def _joined(batches: Iterable[StateBatch]) -> Iterator[StateBatch]:
    before: StateBatch | None = None
    for one in batches:
        if (
            before is not None
            and before.last_offset + 1 == one.first_offset
            and before[2:] == one[2:]
        ):
            before = before._replace(last_offset=one.last_offset)
            continue
        if before is not None:
            yield before
        before = one
    if before is not None:
        yield before
