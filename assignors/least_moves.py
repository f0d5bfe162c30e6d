"""The fewest partitions that had to move, so that a plan's stickiness can be judged.

Counted is every partition that had an owner and has another one, or none, afterwards; the answer is
the least such number among all complete assignments that are balanced as Kafka says (STK-22). What
is exact:

* Equal subscriptions: always. Partitions are alike, so counting is enough.
* Unequal ones: whenever there are few enough possible loads. For given loads, STK-22 forbids a
  member to hold a topic that a member with two or more partitions less subscribes to, and nothing
  else; the best assignment with those loads and without the forbidden pairs is a cheapest flow. All
  loads are tried that could beat the best found.
* Otherwise the answer is a lower bound: the partitions whose owner is gone or no longer subscribes.

Does not depend on any plan, and how assignors go about it.
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
    """At least `moves` partitions had to move; `exact`: and that is enough."""

    moves: int
    exact: bool


def least_moves(
    partitions: Mapping[str, int], topics: Mapping[str, Set[str]], owners: Mapping[Partition, str]
) -> LeastMoves:
    """Partitions of each existing topic, topics of each member, owners before (also such as are
    gone)."""
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
    """Everybody keeps up to the lower quota; as many as may have the higher one keep one more."""
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
    """Try all loads that could be better than the best so far, the most promising first."""
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
    """Return how many partitions of each topic each member could keep; those that nobody can keep
    stand under None."""
    found: Counter[tuple[str, str | None]] = Counter()
    for topic, size in sizes.items():
        for number in range(size):
            owner = owners.get((topic, number))
            found[topic, owner if topic in topics.get(owner or "", ()) else None] += 1
    return found


def _loads(total: int, roof: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """All ways to divide `total` so that nobody gets more than its roof."""
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
    """By topic, the subscribers that may hold of it: nobody else who reads it has two or more
    partitions less (STK-22)."""
    allowed = {}
    for topic in sizes:
        readers = [member for member in topics if topic in topics[member]]
        fewest = min(load_of[member] for member in readers)
        allowed[topic] = frozenset(member for member in readers if load_of[member] <= fewest + 1)
    return allowed
