"""Owners of partitions before an assignment, with which the judge and the explanation compare a
plan.

Owns one question, and its two hard cases. A partition claimed by several members belonged to the
one that claims it in the highest generation; claimed twice in the same generation it belonged to
nobody for certain, and is disputed. Written apart from the assignors, which each have Java's own
way with such claims. Does not depend on what is assigned now.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

Partition = tuple[str, int]
"""Topic and number; a TopicPartition is one."""


class Subscriber(Protocol):
    """Facts judge and explanation read of a member; every Subscription has them."""

    @property
    def topics(self) -> Sequence[str]:
        """The topics it asks for."""

    @property
    def owned_partitions(self) -> Iterable[Partition]:
        """Those it says it still holds."""

    @property
    def generation(self) -> int | None:
        """The generation it got them in; None: it does not say."""


class Ownership(NamedTuple):
    """Former ownership. `disputed`: partitions that several members claim in the same generation,
    with those members."""

    owners: dict[Partition, str]
    disputed: dict[Partition, tuple[str, ...]]

    def held_by(self, member: str) -> list[Partition]:
        """A member's certain partitions, in order."""
        return sorted(partition for partition, owner in self.owners.items() if owner == member)


def ownership(
    members: Mapping[str, Subscriber], previous: Mapping[str, Iterable[Partition]] | None = None
) -> Ownership:
    """Return the owners before an assignment: by `previous`, which may name members that are gone,
    else by what the members claim to own."""
    claims: dict[Partition, dict[str, int]] = {}
    if previous is not None:
        for member, partitions in previous.items():
            for topic, number in partitions:
                claims.setdefault((topic, number), {})[member] = 0
    else:
        for member, subscription in members.items():
            generation = -1 if subscription.generation is None else subscription.generation
            for topic, number in subscription.owned_partitions:
                claims.setdefault((topic, number), {})[member] = generation
    found = Ownership({}, {})
    for partition, claimants in claims.items():
        newest = max(claimants.values())
        holders = tuple(member for member, generation in claimants.items() if generation == newest)
        if len(holders) == 1:
            found.owners[partition] = holders[0]
        else:
            found.disputed[partition] = holders
    return found
