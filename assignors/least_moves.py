"""The fewest partitions that had to move, so that a plan's stickiness can be judged.

A partition counts as moved if it had an owner and has another one, or none, afterwards; the
result is the least number of moves among all complete assignments that are balanced as Kafka
says (STK-22). It is exact in these cases:

* Equal subscriptions: always. Partitions are alike, so counting is enough. * Unequal ones:
whenever there are few enough possible loads. For given loads, STK-22 forbids a
  member to own a topic that a member with two or more partitions less subscribes to, and nothing
  else; the best assignment with those loads and without the forbidden pairs is a cheapest flow. All
  loads are tried that could beat the best found.
* Otherwise the result is a lower bound: the partitions whose owner is gone or no longer
subscribes.

Does not depend on any plan, or on how assignors work.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from math import comb
from typing import Final, NamedTuple

from assignors.flow import most_kept
from assignors.ownership import Partition

_MAX_LOADS: Final = 20_000


class LeastMoves(NamedTuple):
    """The least number of moves; if it is not `exact`, a lower bound."""

    moves: int
    exact: bool


def least_moves(
    partitions: Mapping[str, int], topics: Mapping[str, Set[str]], owners: Mapping[Partition, str]
) -> LeastMoves:
    """Return the least number of moves, from the partitions of each existing topic, the topics of
    each member, and the former owners (members that are gone included).
    """
    existing = {p: owner for p, owner in owners.items() if p[1] < partitions.get(p[0], 0)}
    kept = Counter(
        owner for (topic, _), owner in existing.items() if topic in topics.get(owner, ())
    )
    wanted = {topic for member in topics.values() for topic in member if partitions.get(topic, 0)}
    total = sum(partitions[topic] for topic in wanted)
    if not topics or not total:
        return LeastMoves(len(existing), True)
    relevant = {frozenset(member & wanted) for member in topics.values()}
    if len(relevant) == 1:
        return LeastMoves(len(existing) - _kept_if_equal(list(topics), total, kept), True)
    bound = LeastMoves(len(existing) - kept.total(), False)
    if comb(total + len(topics) - 1, len(topics) - 1) > _MAX_LOADS:
        return bound
    best = _kept_if_unequal(
        {t: partitions[t] for t in sorted(wanted)}, topics, existing, kept, total
    )
    return LeastMoves(len(existing) - best, True)


def _kept_if_equal(members: Sequence[str], total: int, kept: Counter[str]) -> int:
    """Return how many partitions can stay with equal subscriptions: every member keeps up to the
    lower quota, and as many as may have the higher one keep one more.
    """
    quota, extras = divmod(total, len(members))
    return sum(min(kept[m], quota) for m in members) + min(
        extras, sum(kept[m] > quota for m in members)
    )


def _kept_if_unequal(
    sizes: Mapping[str, int],
    topics: Mapping[str, Set[str]],
    owners: Mapping[Partition, str],
    kept: Counter[str],
    total: int,
) -> int:
    """Return how many partitions can stay with unequal subscriptions: try all loads that could be
    better than the best so far, the most promising first.
    """
    members = sorted(topics)
    classes = _classes(sizes, topics, owners)
    roof = [
        sum(size for topic, size in sizes.items() if topic in topics[member]) for member in members
    ]
    held = [kept[member] for member in members]
    best = -1
    for promise, loads in sorted(
        ((sum(map(min, loads, held)), loads) for loads in _loads(total, roof)), reverse=True
    ):
        if promise <= best:
            break
        load_of = dict(zip(members, loads, strict=True))
        best = max(best, most_kept(classes, load_of, _allowed(sizes, topics, load_of)))
    return best


def _classes(
    sizes: Mapping[str, int], topics: Mapping[str, Set[str]], owners: Mapping[Partition, str]
) -> Counter[tuple[str, str | None]]:
    """Return how many partitions of each topic each member could keep; those that no member can
    keep are under None.
    """
    found: Counter[tuple[str, str | None]] = Counter()
    for topic, size in sizes.items():
        for number in range(size):
            owner = owners.get((topic, number))
            found[topic, owner if topic in topics.get(owner or "", ()) else None] += 1
    return found


def _loads(total: int, roof: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield all ways to divide `total` among members, each up to its own maximum in `roof`."""
    if len(roof) == 1:
        if total <= roof[0]:
            yield (total,)
        return
    room = sum(roof[1:])
    for first in range(max(0, total - room), min(total, roof[0]) + 1):
        for rest in _loads(total - first, roof[1:]):
            yield (first, *rest)


def _allowed(
    sizes: Mapping[str, int], topics: Mapping[str, Set[str]], load_of: Mapping[str, int]
) -> dict[str, frozenset[str]]:
    """Return, by topic, the subscribers that may own its partitions: those for which no other
    subscriber has two or more partitions less (STK-22).
    """
    allowed = {}
    for topic in sizes:
        readers = [member for member in topics if topic in topics[member]]
        fewest = min(load_of[member] for member in readers)
        allowed[topic] = frozenset(member for member in readers if load_of[member] <= fewest + 1)
    return allowed
