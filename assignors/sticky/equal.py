"""The assignment when all members subscribe to the same topics: linear in the number of partitions.

Owns ConstrainedAssignmentBuilder of Java's AbstractStickyAssignor (STK-7..STK-14): every member
keeps partitions up to its quota, and the others are assigned in turn to members below it. Where
Java assigns one by one, whole rounds are assigned as slices. Does not depend on generations.
"""

from __future__ import annotations

from typing import NamedTuple

from assignors.errors import AssignorError
from assignors.sticky.claims import Claims
from assignors.sticky.numbers import Numbers
from assignors.sticky.racks import RackView


class EqualPlan(NamedTuple):
    """The result by member number: its partitions, and those of them that another member may still
    own (STK-13).
    """

    lists: list[list[int]]
    transferring: list[set[int]]


def assign_equal(numbers: Numbers, claims: Claims, racks: RackView) -> EqualPlan:
    """Compute the assignment. Raises AssignorError where Java's class throws (STK-11, STK-12,
    STK-29).
    """
    if not numbers.ids:
        raise AssignorError(
            "STK-7: a sticky assignor needs at least one member; Java divides by their number"
        )
    deal = _Deal(numbers, racks)
    for member in numbers.current_walk:
        deal.keep(member, claims)
    kept = [len(taken) for taken in deal.lists]
    left = deal.unassigned()
    deal.under.sort()
    deal.exact.sort()
    racks.sort_by_candidates(left)
    if racks.used:
        left = deal.by_rack(left)
    deal.in_rounds(left)
    transferring = (
        [
            {
                x
                for x in taken[count:]
                if deal.revoked.get(x, member) != member or x in claims.doubly_claimed
            }
            if count < len(taken)
            else set()
            for member, (taken, count) in enumerate(zip(deal.lists, kept, strict=True))
        ]
        if deal.revoked or claims.doubly_claimed
        else [set() for _ in kept]
    )
    return EqualPlan(deal.lists, transferring)


class _Deal:
    def __init__(self, numbers: Numbers, racks: RackView) -> None:
        self._numbers = numbers
        self._racks = racks
        self.min_quota, self._extras = divmod(numbers.total, len(numbers.ids))
        self._max_quota = self.min_quota + (self._extras > 0)
        self._over = 0
        """The number of members that have more than the lower quota."""
        self.lists: list[list[int]] = [[] for _ in numbers.ids]
        self.under: list[int] = []
        """Members below the lower quota."""
        self.exact: list[int] = []
        """Members at the lower quota that may get one more."""
        self.revoked: dict[int, int] = {}
        """Partitions that a member claims and does not keep."""
        topics = len(numbers.topics)
        self._by_number = [
            key
            for t, count in enumerate(numbers.counts)
            for key in range(t, t + count * topics, topics)
        ]
        self._by_number += [partition * topics + t for t, partition in numbers.phantoms]

    def keep(self, member: int, claims: Claims) -> None:
        """Let a member keep its own partitions, ordered by number and topic, up to the quota
        (STK-8).
        """
        owned = list(claims.owned[member])
        if owned and self._racks.used:
            away = [x for x in owned if self._racks.mismatch(member, x)]
            self.revoked.update(dict.fromkeys(away, member))
            owned = [x for x in owned if not self._racks.mismatch(member, x)]
        if owned and claims.doubly_claimed:
            owned = [x for x in owned if x not in claims.doubly_claimed]
        owned.sort(key=self._by_number.__getitem__)
        if len(owned) < self.min_quota:
            self.lists[member] = owned
            self.under.append(member)
            return
        if len(owned) >= self._max_quota and self._over < self._extras:
            self._count_over()
            quota = self._max_quota
        else:
            quota = self.min_quota
            if self._over < self._extras:
                self.exact.append(member)
        self.lists[member] = owned[:quota]
        self.revoked.update(dict.fromkeys(owned[quota:], member))

    def _count_over(self) -> None:
        self._over += 1
        if self._over == self._extras:
            self.exact.clear()

    def unassigned(self) -> list[int]:
        """Return the unassigned partitions (STK-9). Java compares them with the kept ones one by
        one, and stops comparing at a kept partition that does not exist (STK-29).
        """
        total = self._numbers.total
        stuck_at = total
        free = bytearray(b"\1") * (total + len(self._numbers.phantoms))
        for taken in self.lists:
            for x in taken:
                free[x] = 0
                if x >= total:
                    topic, partition = self._numbers.phantoms[x - total]
                    stuck_at = min(stuck_at, self._numbers.bases[topic + (partition > 0)])
        return [x for x in range(total) if free[x] or x >= stuck_at]

    def by_rack(self, left: list[int]) -> list[int]:
        """Assign partitions to members in their racks; return the others (STK-10)."""
        rack_of, partitions = self._racks.rack_of, self._racks.partitions
        wanting = dict.fromkeys(self._racks.members_in, 0)
        for member in self.under:
            if (rack := rack_of[member]) is not None:
                wanting[rack] += 1
        rest: list[int] = []
        turn = 0
        for x in left:
            racks = partitions[x]
            if any(wanting.get(rack) for rack in racks):
                at = next(
                    i
                    for i in (*range(turn, len(self.under)), *range(turn))
                    if rack_of[self.under[i]] in racks
                )
                member = self.under[at]
                self.lists[member].append(x)
                if len(self.lists[member]) >= self.min_quota:
                    del self.under[at]
                    wanting[rack_of[member] or ""] -= 1
                    if len(self.lists[member]) < self._max_quota and self._over < self._extras:
                        self.exact.append(member)
                else:
                    at += 1
                turn = at % len(self.under) if self.under else 0
                continue
            at = next((i for i, member in enumerate(self.exact) if rack_of[member] in racks), -1)
            if at < 0:
                rest.append(x)
                continue
            member = self.exact[at]
            self.lists[member].append(x)
            if len(self.lists[member]) == self._max_quota:
                del self.exact[at]
                self._count_over()
        return rest

    def in_rounds(self, left: list[int]) -> None:
        """Assign partitions in turn to the members below the quota, then one each to those at it
        (STK-11, STK-12).
        """
        at = 0
        while self.under and at < len(left):
            size = len(self.under)
            rounds = min(
                self.min_quota - max(len(self.lists[member]) for member in self.under),
                (len(left) - at) // size,
            )
            end = at + rounds * size if rounds else len(left)
            for i, member in enumerate(self.under[: end - at]):
                self.lists[member] += left[at + i : end : size]
            at = end
            self.exact += [
                member for member in self.under if len(self.lists[member]) == self.min_quota
            ]
            self.under = [
                member for member in self.under if len(self.lists[member]) < self.min_quota
            ]
        if len(left) - at > len(self.exact):
            raise AssignorError(
                "STK-11: partitions are left and nobody to be filled; a claimed partition does not exist (STK-29)"
            )
        for x, member in zip(left[at:], self.exact, strict=False):
            self.lists[member].append(x)
        if self.under:
            raise AssignorError(
                f"STK-12: member {self._numbers.ids[self.under[0]]} stays below the quota, and no partitions are left"
            )
