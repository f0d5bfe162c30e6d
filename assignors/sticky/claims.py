"""Owners of partitions as members claim them in their subscriptions, and the decision between
members that claim the same partition.

Owns the ownership phase of Java's AbstractStickyAssignor (STK-3..STK-6), and whether all members
subscribe to the same topics (STK-4). Does not depend on the form of a claim: the assignor reads
that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from assignors.model import Subscription
from assignors.sticky.numbers import Numbers
from assignors.user_data import DEFAULT_GENERATION, Runs

Memory = tuple[Runs, int | None]
"""One member's claim: the partitions it holds, and since which generation (None: it does not
know)."""


class Claims(NamedTuple):
    """The settled claims, by member number: what each member claimed (`told`), in which generation,
    and what it is taken to own. `doubly_claimed`: partitions that two members claimed at once.
    """

    told: list[list[int]]
    generations: list[int | None]
    owned: list[dict[int, None]]
    doubly_claimed: set[int]
    highest_generation: int


def settle_claims(
    numbers: Numbers, memory: Callable[[Subscription], Memory], highest_generation: int
) -> Claims:
    """Go through the members in Java's order; of two claims of a partition the one of the higher
    generation wins (STK-5).
    """
    size = len(numbers.ids)
    told: list[list[int]] = [[]] * size
    generations: list[int | None] = [None] * size
    owned: list[dict[int, None]] = [{} for _ in range(size)]
    doubly: set[int] = set()
    holder: dict[int, int] = {}
    for member in numbers.walk:
        runs, generation = memory(numbers.subscriptions[member])
        generations[member] = generation
        known = DEFAULT_GENERATION if generation is None else generation
        highest_generation = max(highest_generation, known)
        if not runs:
            continue
        told[member] = claimed = numbers.numbers_of(runs)
        mine = dict.fromkeys(claimed)
        if len(mine) == len(claimed) and holder.keys().isdisjoint(mine):
            owned[member] = mine
            holder.update(dict.fromkeys(claimed, member))
        else:
            _settle(claimed, member, known, numbers, owned, holder, doubly)
    return Claims(told, generations, owned, doubly, highest_generation)


def _settle(
    claimed: Sequence[int],
    member: int,
    generation: int,
    numbers: Numbers,
    owned: list[dict[int, None]],
    holder: dict[int, int],
    doubly: set[int],
) -> None:
    mine = owned[member]
    for partition in claimed:
        other = holder.get(partition)
        if other is None:
            mine[partition] = None
            holder[partition] = member
            continue
        # Java asks the other's subscription for its generation, not its memory: `sticky` members
        # have none there.
        told = numbers.subscriptions[other].generation
        others_generation = DEFAULT_GENERATION if told is None or told < 0 else told
        if generation < others_generation:
            continue
        held_it = partition in owned[other]
        owned[other].pop(partition, None)
        holder[partition] = member
        if generation == others_generation:
            doubly.add(partition)
        elif other != member or held_it:
            mine[partition] = None


def all_equal(numbers: Numbers) -> bool:
    """Return whether all members subscribe to the same topics. Each list is compared with the first
    one that is not empty (STK-4).
    """
    topics: set[str] = set()
    same: Sequence[str] | None = None
    for member in numbers.walk:
        wanted = numbers.subscriptions[member].topics
        if not topics:
            topics.update(wanted)
        elif wanted != same:
            if len(wanted) != len(topics) or not topics.issuperset(wanted):
                return False
            same = wanted
    return True
