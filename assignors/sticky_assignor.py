"""The assignors `sticky` and `cooperative-sticky`: as even as possible, while as many partitions as
that allows stay with their owners.

Owns the two classes: how a member claims its partitions, what it remembers, and, for the
cooperative one, that no member gets a partition before another has revoked it (KIP-429). The
algorithms are in `assignors.sticky`. Does not depend on the protocol around it. Sources:
org.apache.kafka.clients.consumer.StickyAssignor and CooperativeStickyAssignor.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from assignors.group_input import undisturbed
from assignors.java_hashing import DEFAULT_CAPACITY, copy_capacity
from assignors.java_order import computed_order, through_tables
from assignors.model import Assignment, Assignor, Racks, RebalanceProtocol, Subscription
from assignors.sticky.claims import Claims, Memory, all_equal, settle_claims
from assignors.sticky.equal import assign_equal
from assignors.sticky.general import assign_general
from assignors.sticky.numbers import Numbers, runs_of
from assignors.sticky.racks import RackView
from assignors.user_data import (
    DEFAULT_GENERATION,
    decode_cooperative,
    encode_cooperative,
    encode_sticky,
    read_sticky,
)


class _Plan(NamedTuple):
    lists: list[list[int]]
    transferring: list[set[int]] | None
    """By member what it must not get yet; None: not worked out (STK-26)."""
    order: list[str]


class _Sticky(Assignor):
    """The base class of both. The highest generation ever seen is remembered, as in Java (STK-6)."""

    def __init__(self) -> None:
        self._highest_generation = DEFAULT_GENERATION

    def memory(self, subscription: Subscription) -> Memory:
        """Return the partitions that the member claims to own, and their generation."""
        raise NotImplementedError

    def adjust(self, plan: _Plan, numbers: Numbers) -> None:
        """Change a finished plan; does nothing by default."""

    def assign(
        self,
        partitions: Mapping[str, int],
        members: Mapping[str, Subscription],
        racks: Racks | None = None,
    ) -> dict[str, Assignment]:
        """Compute the assignment, in Java's order of members. Raises AssignorError where Java's
        class throws (STK-12, STK-25, STK-29).
        """
        with undisturbed(partitions):
            numbers = Numbers(partitions, members)
            claims = settle_claims(numbers, self.memory, self._highest_generation)
            self._highest_generation = claims.highest_generation
            plan = _plan(numbers, claims, RackView(numbers, racks))
            self.adjust(plan, numbers)
            take = numbers.objects().__getitem__
            assigned = {
                member: Assignment(tuple(map(take, plan.lists[i])))
                for i, member in enumerate(numbers.ids)
            }
            return {member: assigned[member] for member in plan.order}


def _plan(numbers: Numbers, claims: Claims, racks: RackView) -> _Plan:
    if not all_equal(numbers):
        lists, order = assign_general(numbers, claims, racks)
        return _Plan(lists, None, order)
    lists, transferring = assign_equal(numbers, claims, racks)
    tables = DEFAULT_CAPACITY, copy_capacity(len(numbers.ids)), DEFAULT_CAPACITY
    return _Plan(lists, transferring, through_tables(numbers.current_order, *tables))


class StickyAssignor(_Sticky):
    """The assignor called `sticky`: eager; its members claim their partitions in their user data
    (STK-1, UD-1).
    """

    name = "sticky"
    rebalance_protocols: Sequence[RebalanceProtocol] = (RebalanceProtocol.EAGER,)

    def __init__(self) -> None:
        super().__init__()
        self._assigned: dict[str, list[int]] | None = None
        self._generation = DEFAULT_GENERATION

    def memory(self, subscription: Subscription) -> Memory:
        """Return the claim in the user data; the subscription's own fields are ignored (STK-1)."""
        return read_sticky(subscription.user_data)

    def subscription_user_data(self, topics: Iterable[str]) -> bytes | None:
        """Return this member's last assignment and its generation; None before the first assignment
        (UD-1).
        """
        return None if self._assigned is None else encode_sticky(self._assigned, self._generation)

    def on_assignment(self, assignment: Assignment, generation: int) -> None:
        """Remember the assignment for the next subscription."""
        by_topic: dict[str, list[int]] = {}
        before_last = 0
        for topic, partition in assignment.partitions:
            before_last = len(by_topic)
            by_topic.setdefault(topic, []).append(partition)
        self._assigned = {
            topic: by_topic[topic] for topic in computed_order(list(by_topic), before_last)
        }
        self._generation = generation


class CooperativeStickyAssignor(_Sticky):
    """The assignor called `cooperative-sticky`: members keep their partitions while the group
    rebalances (KIP-429).
    """

    name = "cooperative-sticky"
    rebalance_protocols: Sequence[RebalanceProtocol] = (
        RebalanceProtocol.COOPERATIVE,
        RebalanceProtocol.EAGER,
    )

    def __init__(self) -> None:
        super().__init__()
        self._generation = DEFAULT_GENERATION

    def memory(self, subscription: Subscription) -> Memory:
        """Return the owned partitions and their generation, from the subscription or, for older
        members, from the user data (STK-2).
        """
        generation = subscription.generation
        if generation is None or generation < 0:
            generation = decode_cooperative(subscription.user_data)
        return runs_of(subscription.owned_partitions), generation

    def subscription_user_data(self, topics: Iterable[str]) -> bytes | None:
        """Return the generation of the last assignment, -1 before the first (UD-3)."""
        return encode_cooperative(self._generation)

    def on_assignment(self, assignment: Assignment, generation: int) -> None:
        """Remember the generation."""
        self._generation = generation

    def adjust(self, plan: _Plan, numbers: Numbers) -> None:
        """Take back the partitions that another member still owns: they are assigned in the next
        rebalance, after that member has revoked them (STK-27).
        """
        transferring = (
            plan.transferring if plan.transferring is not None else _transferring(plan, numbers)
        )
        for taken, not_yet in zip(plan.lists, transferring, strict=True):
            if not_yet:
                taken[:] = [x for x in taken if not _take_out(x, not_yet)]


def _take_out(partition: int, wanted: set[int]) -> bool:
    """Remove a partition from the wanted ones; return whether it was among them. Java removes only
    the first occurrence.
    """
    if partition not in wanted:
        return False
    wanted.remove(partition)
    return True


def _transferring(plan: _Plan, numbers: Numbers) -> list[set[int]]:
    """Return, by member, the partitions that are new to it while their owner does not keep them
    (STK-27).
    """
    index = {member: i for i, member in enumerate(numbers.ids)}
    added: dict[int, int] = {}
    revoked: set[int] = set()
    for member in map(index.__getitem__, plan.order):
        owned = set(numbers.numbers_of(runs_of(numbers.subscriptions[member].owned_partitions)))
        taken = plan.lists[member]
        added.update((x, member) for x in taken if x not in owned)
        revoked |= owned.difference(taken)
    transferring: list[set[int]] = [set() for _ in numbers.ids]
    for x in revoked.intersection(added):
        transferring[added[x]].add(x)
    return transferring
