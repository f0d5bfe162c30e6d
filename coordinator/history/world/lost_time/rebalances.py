"""What each rebalance of a group cost: the time in which nobody worked on partitions because of
it.

That is the time that partitions lost from the beginning of the rebalance until the group was
Stable, before it the silence of the members that it removed, and after it the time until
partitions without an owner had one. Time that belongs to several successive rebalances is
charged to the first. The costs are less than what the group lost if partitions had no leader, or
members did nothing, while no rebalance was going on.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator
from heapq import merge
from typing import Final, NamedTuple

from ..groups.epochs import EpochView
from ..views import GroupView, Rebalance
from .groups import GroupActivity
from .partitions import PERHAPS, Lost, Span
from .processes import GONE, SILENT, Key, Process

_STILL: Final = (SILENT, GONE, "frozen", "stalled")


class Cost(NamedTuple):
    """Cost of a rebalance. `longest_ms`: the longest time that a single partition lost, at least.
    `partitions`: the numbers of those that surely lost time, by topic."""

    lost: Lost
    longest_ms: int
    partitions: dict[str, set[int]]
    alike: bool
    """All of these partitions lost the same time."""


NO_COST: Final = Cost(Lost(), 0, {}, True)


class _Window(NamedTuple):
    """The time of a rebalance: from `since_ms` until it was over. `emptied`: by then the group had
    no members."""

    since_ms: int
    over_ms: int
    seq: int
    emptied: bool


def costs(
    view: GroupView, activity: GroupActivity | None, end_ms: int, since_ms: int = -1
) -> dict[int, Cost]:
    """Return the cost of each rebalance and group epoch up to an instant, by the number of the
    line with which it began. `since_ms`: leave those out that began before this instant."""
    if activity is None:
        return {}
    windows = list(_windows(view, activity, end_ms, since_ms))
    if not windows:
        return {}
    begins = [window.since_ms for window in windows]
    sums: dict[int, dict[Key, list[int]]] = {window.seq: {} for window in windows}
    for key, span in activity.partitions.lost(end_ms, begins[0]):
        place = max(0, bisect_right(begins, span.begin) - 1)
        for at in range(place, len(windows)):
            if begins[at] >= span.end:
                break
            length_ms = _within(span, windows, at, end_ms)
            if length_ms > 0:
                least_most = sums[windows[at].seq].setdefault(key, [0, 0])
                least_most[0] += 0 if span.lost == PERHAPS else length_ms
                least_most[1] += length_ms
    return {seq: _cost(by_key) for seq, by_key in sums.items()}


def _within(span: Span, windows: list[_Window], at: int, end_ms: int) -> int:
    """Return how much of a span belongs to a rebalance, in ms.

    A partition that is given up between two rebalances and has no owner when the second one
    begins was given up for that one.
    """
    window, begin_ms = windows[at], max(span.begin, windows[at].since_ms)
    if at and _given_up_after(span, windows[at - 1]):
        begin_ms = span.begin
    until_ms, for_the_next = end_ms, False
    if at + 1 < len(windows):
        until_ms = windows[at + 1].since_ms
        for_the_next = span.end > until_ms and _given_up_after(span, window)
    goes_on = not span.owners and not window.emptied and not for_the_next
    last_ms = until_ms if goes_on else min(window.over_ms, until_ms)
    return min(span.end, last_ms) - begin_ms


def _given_up_after(span: Span, window: _Window) -> bool:
    return not span.owners and not window.emptied and span.begin >= window.over_ms


def _cost(by_key: dict[Key, list[int]]) -> Cost:
    surely = {key: least for key, (least, _) in by_key.items() if least}
    partitions: dict[str, set[int]] = defaultdict(set)
    for topic, number in surely:
        partitions[topic].add(number)
    most_ms = sum(most for _, most in by_key.values())
    lengths = set(surely.values())
    lost = Lost(sum(surely.values()), most_ms)
    return Cost(lost, max(lengths, default=0), dict(partitions), len(lengths) <= 1)


def _windows(
    view: GroupView, activity: GroupActivity, end_ms: int, since_ms: int
) -> Iterator[_Window]:
    """Yield the rebalances that began at an instant or later, in order. Their times do not
    overlap."""
    told: list[tuple[int, int, int, bool]] = []
    claimed_ms = 0
    for each in _latest_first(view):
        stable_ms = each.stored_ms if isinstance(each, Rebalance) else each.stable_ms
        over_ms = each.ended_ms if stable_ms is None else stable_ms
        over_ms = end_ms if over_ms is None else over_ms
        if each.started_ms < since_ms:
            claimed_ms = over_ms
            break
        told.append((each.seq, each.started_ms, over_ms, each.outcome == "empty"))
    if not told:
        return
    told.sort()
    first_ms = told[0][1]
    silences = sorted(
        each for process in activity.processes for each in _silences(process, first_ms, end_ms)
    )
    ends = [end for end, _ in silences]
    for seq, begun_ms, over_ms, emptied in told:
        first, last = bisect_left(ends, begun_ms), bisect_right(ends, over_ms)
        begin_ms = min([begun_ms, *(begin for _, begin in silences[first:last])])
        begin_ms = min(max(begin_ms, claimed_ms), over_ms)
        claimed_ms = max(claimed_ms, over_ms)
        yield _Window(begin_ms, over_ms, seq, emptied)


def _latest_first(view: GroupView) -> Iterator[Rebalance | EpochView]:
    """Yield the rebalances and the group epochs of a group, the latest first."""
    epochs: Iterable[EpochView] = () if view.epochs is None else reversed(view.epochs.views)
    rebalances = (each for each in reversed(view.entries) if isinstance(each, Rebalance))
    return merge(epochs, rebalances, key=lambda each: -each.seq)


def _silences(process: Process, since_ms: int, end_ms: int) -> Iterator[tuple[int, int]]:
    """Yield the end of each membership of a process that ended since an instant, and since when
    the process had done nothing."""
    for joined_ms, left_ms, _ in process.membership.between(since_ms, end_ms):
        doing = process.activity.last_before(left_ms, end_ms)
        begin, end, does = doing if doing is not None else (0, joined_ms, "")
        if end < left_ms:
            yield left_ms, max(joined_ms, end)
        elif does in _STILL:
            yield left_ms, max(joined_ms, begin)
