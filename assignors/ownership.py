"""Owners of partitions before an assignment, with which the judge and the explanation compare a
plan.

Owns one question, and its two hard cases. A partition claimed by several members belonged to the
one that claims it in the highest generation; if two claim it in the same generation, its owner
is uncertain, and the partition is disputed. Independent of the assignors, each of which handles
such claims in Java's own way. Does not depend on the new assignment.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

Partition = tuple[str, int]
"""Topic and number; a TopicPartition is one."""


class Subscriber(Protocol):
    """A member as the judge and the explanation read it; every Subscription has these attributes."""

    @property
    def topics(self) -> Sequence[str]:
        """Return the topics that it subscribes to."""

    @property
    def owned_partitions(self) -> Iterable[Partition]:
        """Return the partitions that it claims to own."""

    @property
    def generation(self) -> int | None:
        """Return the generation in which it got them; None if it is unknown."""


class Ownership(NamedTuple):
    """The former owners. `disputed`: partitions that several members claim in the same generation,
    with those members.
    """

    owners: dict[Partition, str]
    disputed: dict[Partition, tuple[str, ...]]

    def held_by(self, member: str) -> list[Partition]:
        """Return the partitions that certainly belonged to a member, in ascending order."""
        return sorted(partition for partition, owner in self.owners.items() if owner == member)


def ownership(
    members: Mapping[str, Subscriber], previous: Mapping[str, Iterable[Partition]] | None = None
) -> Ownership:
    """Return the owners before an assignment: from `previous`, which may name members that are
    gone, else from the members' claims.
    """
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
