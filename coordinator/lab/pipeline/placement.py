"""Distribution of work over tasks: bins of about equal work, the largest pieces first. It must not
know what the work is.

Spark starts the tasks of a stage in the order of their numbers, so the longest come first and
the short ones fill the gaps (LPT).
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heapreplace
from math import ceil

SMALLEST_CHUNK = 4 << 20
LARGEST_CHUNK = 1 << 30
"""Bytes of log in a chunk: events take about a tenth of that as Parquet."""


def chunk_count(weights: Sequence[int], slots: int) -> int:
    """Return the number of chunks for this many bytes of log and this many slots: none without
    work, at most one for each piece."""
    total = sum(weights)
    target = min(max(ceil(total / (2 * max(slots, 1))), SMALLEST_CHUNK), LARGEST_CHUNK)
    return min(len(weights), max(1, ceil(total / target)))


def bins(weights: Sequence[float], count: int) -> list[list[int]]:
    """Distribute pieces of work over `count` bins by the longest-processing-time rule; the
    heaviest bin comes first. Within a bin they keep their order. The same weights give the same
    bins."""
    if count < 1:
        return []
    heap = [(0.0, number) for number in range(count)]
    heapify(heap)
    filled: list[list[int]] = [[] for _ in range(count)]
    loads = [0.0] * count
    for number in sorted(range(len(weights)), key=lambda each: (-weights[each], each)):
        load, least = heap[0]
        filled[least].append(number)
        loads[least] = load + weights[number]
        heapreplace(heap, (loads[least], least))
    order = sorted(
        (each for each in range(count) if filled[each]), key=lambda each: (-loads[each], each)
    )
    return [sorted(filled[each]) for each in order]
