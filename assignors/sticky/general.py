"""The assignment when subscriptions differ: assign what is unassigned, then move partition by
partition until nothing gets better.

Owns GeneralAssignmentBuilder of Java's AbstractStickyAssignor (STK-15..STK-25), in Java's order
of steps, because the result depends on it. Java's repeated scans are left out where they cannot
matter:

* Java tests before each partition whether all is balanced. While every member has only
partitions
  that it subscribes to, "balanced" means that no partition can move any more; then the test is the
  same as finding that none moves. It is made only where the two differ: from the first move to a
  former owner that no longer subscribes (STK-25), and where claimed partitions do not exist (STK-29).
* Java first looks for a better member in the owner's rack, then anywhere. Both end in the same
move
  (STK-21).
* Members in the order of (count, id) are a heap per topic while partitions are assigned;
  afterwards only the least of a topic's subscribers is needed.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heapify, heapreplace

from assignors.errors import AssignorError
from assignors.java_hash_table import HashTable
from assignors.java_hashing import map_capacity, string_hash
from assignors.java_order import is_deep, table_order
from assignors.sticky.claims import Claims
from assignors.sticky.movements import Movements
from assignors.sticky.numbers import Numbers
from assignors.sticky.racks import RackView

Runs = list[tuple[int, list[int]]]
"""Partitions in Java's order, those of a topic together: the topic, and their numbers."""

_NOBODY = -1


def assign_general(
    numbers: Numbers, claims: Claims, racks: RackView
) -> tuple[list[list[int]], list[str]]:
    """Return the partitions by member number, and the member ids in Java's order. Raises
    AssignorError where Java's class throws (STK-25).
    """
    work = _General(numbers, claims, racks)
    return work.lists, work.build()


class _General:
    def __init__(self, numbers: Numbers, claims: Claims, racks: RackView) -> None:
        self.numbers, self.racks = numbers, racks
        index = numbers.topic_index
        self.size = len(numbers.ids)
        self.topics_of = [
            [index[topic] for topic in s.topics if topic in index] for s in numbers.subscriptions
        ]
        self.wants = [set(topics) for topics in self.topics_of]
        self.candidates: list[list[int]] = [[] for _ in numbers.topics]
        """By topic its subscribers (STK-15). A list that names a topic twice counts twice."""
        for member in numbers.walk:
            for t in self.topics_of[member]:
                self.candidates[t].append(member)
        self.topic_order = sorted(
            range(len(numbers.topics)), key=lambda t: (len(self.candidates[t]), t)
        )
        self.topic_of = numbers.topic_of_each()
        self.owner = [_NOBODY] * len(self.topic_of)
        self.lists: list[list[int]] = [[] for _ in numbers.ids]
        self.revocation_required = False
        self._keep(claims)
        self.previous = self._previous(claims)
        self.strangers_hold = False
        """Did a former owner that does not subscribe get something back?"""
        self.keys: list[int] = []
        """By member number: how many it has, times the number of members, plus its number. Sorts as
        (count, id)."""
        self.movements = Movements(numbers)
        self.scope: set[int] = set()

    def _keep(self, claims: Claims) -> None:
        """Let members keep the owned partitions that they still subscribe to and whose racks match
        (STK-17).
        """
        for member, owned in enumerate(claims.owned):
            wants = self.wants[member]
            kept = self.lists[member] = [x for x in owned if self.topic_of[x] in wants]
            if kept and self.racks.used:
                kept[:] = [x for x in kept if not self.racks.mismatch(member, x)]
            self.revocation_required |= len(kept) < len(owned)
            for x in kept:
                self.owner[x] = member

    def _previous(self, claims: Claims) -> dict[int, int]:
        """Return the last owner of each partition, as claimed by members that missed a generation
        (STK-16).
        """
        latest: dict[int, tuple[int, int]] = {}
        for member in self.numbers.walk:
            told = claims.generations[member]
            generation = -1 if told is None else told
            if generation < claims.highest_generation:
                for x in claims.told[member]:
                    if x not in latest or generation > latest[x][1]:
                        latest[x] = member, generation
        return {x: member for x, (member, _) in latest.items() if x < self.numbers.total}

    def build(self) -> list[str]:
        """Assign and balance, and revert the moves if they did not lower the score; return the
        members in the result's order (STK-18..STK-24).
        """
        numbers, size = self.numbers, self.size
        unassigned = self._unassigned()
        self.keys = [len(taken) * size + member for member, taken in enumerate(self.lists)]
        initializing = not any(self.lists)
        rest = self._give(unassigned, by_rack=True) if self.racks.used else unassigned
        self._give(rest, by_rack=False)
        shared = [len(candidates) >= 2 for candidates in self.candidates]
        self.scope = {member for member in range(size) if self._can_take_part(member, shared)}
        before = [list(taken) for taken in self.lists]
        if not self.revocation_required:
            self._reassign([(t, xs) for t, xs in unassigned if shared[t]])
        everything = [
            (t, list(range(numbers.bases[t], numbers.bases[t + 1])))
            for t in self.topic_order
            if shared[t]
        ]
        reverted = (
            self._reassign(everything)
            and not initializing
            and self._score(self.lists) >= self._score(before)
        )
        if reverted:
            self.lists[:] = before
        return self._order(reverted=reverted)

    def _order(self, *, reverted: bool) -> list[str]:
        """Return the members in the result's order: those set aside were removed from the map and
        put back last; a revert fills it again.
        """
        ids = self.numbers.ids
        inside = [ids[member] for member in self.numbers.current_walk if member in self.scope]
        aside = [ids[member] for member in self.numbers.walk if member not in self.scope]
        if not is_deep(self.numbers.current_order):
            return table_order(inside + aside)
        table: HashTable[str] = HashTable(string_hash)
        walk = [ids[member] for member in self.numbers.walk]
        for member in walk:
            table.put(member)
        aside = [
            member for member in table_order(walk, map_capacity(len(ids))) if member in set(aside)
        ]
        for member in aside:
            table.discard(member)
        if reverted:
            inside = table_order(list(table))
            for member in inside:
                table.discard(member)
            for member in inside:
                table.put(member)
        for member in table_order(aside):
            table.put(member)
        return table_order(list(table))

    def _unassigned(self) -> Runs:
        """Return the unassigned partitions, in order. Java stops comparing at a kept partition that
        does not exist, and treats all after it as unassigned (STK-29).
        """
        rank = {t: i for i, t in enumerate(self.topic_order)}
        stuck = (len(rank), 0)
        for i, (t, partition) in enumerate(self.numbers.phantoms):
            if self.owner[self.numbers.total + i] != _NOBODY:
                stuck = min(stuck, (rank[t], partition))
        runs: Runs = []
        for i, t in enumerate(self.topic_order):
            run = range(self.numbers.bases[t], self.numbers.bases[t + 1])
            free = i > stuck[0] or (i == stuck[0] and stuck[1] < 0)
            runs.append((t, list(run) if free else [x for x in run if self.owner[x] == _NOBODY]))
        return runs

    def _give(self, runs: Runs, *, by_rack: bool) -> Runs:
        """Assign each partition to the subscriber with the fewest, in its rack if `by_rack`
        (STK-18). Return those without such a subscriber.
        """
        size, keys, lists, owner = self.size, self.keys, self.lists, self.owner
        rest: Runs = []
        for t, xs in runs:
            if not xs:
                continue
            heaps = self._heaps(t, by_rack=by_rack)
            left: list[int] = []
            for x in xs:
                heap = self._heap_for(x, heaps) if by_rack else heaps[None]
                if heap is None:
                    left.append(x)
                    continue
                key = heap[0]
                member = key % size
                lists[member].append(x)
                owner[x] = member
                heapreplace(heap, key + size)
            for heap in heaps.values():
                for key in heap:
                    keys[key % size] = key
            if left:
                rest.append((t, left))
        return rest

    def _heaps(self, topic: int, *, by_rack: bool) -> dict[str | None, list[int]]:
        """Return the subscribers' keys as heaps, one for each rack."""
        heaps: dict[str | None, list[int]] = {}
        for member in set(self.candidates[topic]):
            heaps.setdefault(self.racks.rack_of[member] if by_rack else None, []).append(
                self.keys[member]
            )
        for heap in heaps.values():
            heapify(heap)
        return heaps

    def _heap_for(self, partition: int, heaps: dict[str | None, list[int]]) -> list[int] | None:
        """Return the heap whose first member is the first of all that match: members in the
        partition's racks, and members without a rack.
        """
        found = [
            heap for rack in (None, *self.racks.partitions[partition]) if (heap := heaps.get(rack))
        ]
        return min(found, key=lambda heap: heap[0], default=None)

    def _most(self, member: int) -> int:
        """Return how many partitions the member's topics have."""
        topics = self.topics_of[member]
        return (
            self.numbers.total
            if len(topics) == len(self.numbers.topics)
            else sum(self.numbers.counts[t] for t in topics)
        )

    def _can_take_part(self, member: int, shared: list[bool]) -> bool:
        """Return whether the member could get more partitions, or has one that another member could
        get (STK-19).
        """
        taken = self.lists[member]
        return len(taken) < self._most(member) or any(shared[self.topic_of[x]] for x in taken)

    def _score(self, lists: list[list[int]]) -> int:
        """Return the sum of the differences between all pairs of members, in Java's 32 bits
        (STK-24).
        """
        counts = sorted(len(lists[member]) for member in self.scope)
        score = sum(count * (2 * i - len(counts) + 1) for i, count in enumerate(counts))
        return (score + 0x8000_0000) % 0x1_0000_0000 - 0x8000_0000

    def _reassign(self, runs: Runs) -> bool:
        """Make passes over these partitions until one changes nothing (STK-21). Return whether any
        moved.
        """
        moved = False
        while self._pass(runs):
            moved = True
        return moved

    def _pass(self, runs: Runs) -> bool:
        moved = False
        for t, xs in runs:
            if not xs:
                continue
            if self.scope.issuperset(self.candidates[t]):
                moved_here, balanced = self._pass_topic(t, xs)
            else:
                moved_here, balanced = self._pass_odd_topic(t, xs)
            moved |= moved_here
            if balanced:
                break
        return moved

    def _pass_topic(self, topic: int, partitions: Iterable[int]) -> tuple[bool, bool]:
        """Balance one topic whose subscribers all take part. Return whether any partition moved,
        and whether the group was found balanced.
        """
        lists, owner, previous, size = self.lists, self.owner, self.previous, self.size
        key_of, candidates = self.keys.__getitem__, self.candidates[topic]
        least = min(map(key_of, candidates))
        limit = least // size + 1
        moved = False
        for x in partitions:
            count = len(lists[owner[x]])
            if count <= limit and x not in previous:
                continue
            target = self._former_owner(x, topic, count)
            if target == _NOBODY:
                if count <= limit:
                    continue
                target = least % size
            if self._is_doubtful(topic, target) and self._is_balanced():
                return moved, True
            self._move(x, topic, target)
            moved = True
            least = min(map(key_of, candidates))
            limit = least // size + 1
        return moved, False

    def _pass_odd_topic(self, topic: int, partitions: Iterable[int]) -> tuple[bool, bool]:
        """Do the same for a topic with a subscriber that was set aside: Java throws when it reaches
        it (STK-25).
        """
        moved = False
        for x in partitions:
            if self._is_balanced():
                return moved, True
            count = self._count(self.owner[x])
            target = self._former_owner(x, topic, count)
            if target == _NOBODY:
                if not self._has_better(x, topic, count):
                    continue
                target = (
                    min(self.keys[m] for m in self.candidates[topic] if m in self.scope) % self.size
                )
            self._move(x, topic, target)
            moved = True
        return moved, False

    def _has_better(self, partition: int, topic: int, count: int) -> bool:
        """Return whether a subscriber has at least two partitions fewer. Java looks in the owner's
        rack first, so it may miss members that are set aside.
        """
        rack = self.racks.rack_of[self.owner[partition]]
        candidates = self.candidates[topic]
        near: list[int] = []
        if rack is not None and rack in self.racks.partitions[partition]:
            near = [
                m for m in candidates if self.racks.rack_of[m] in self.racks.partitions[partition]
            ]
        return any(count > self._count(member) + 1 for member in (*near, *candidates))

    def _count(self, member: int) -> int:
        if member not in self.scope:
            raise AssignorError(
                f"STK-25: Java's class looks for member {self.numbers.ids[member]}, which it had set aside, and fails"
            )
        return len(self.lists[member])

    def _former_owner(self, partition: int, topic: int, count: int) -> int:
        """Return the member that owned the partition before, if the partition goes back to it, else
        `_NOBODY`.
        """
        former = self.previous.get(partition, _NOBODY)
        if former == _NOBODY:
            return _NOBODY
        if former not in self.scope:
            if self._is_balanced():
                return _NOBODY
            self._count(former)
        return former if count > len(self.lists[former]) + 1 else _NOBODY

    def _is_doubtful(self, topic: int, target: int) -> bool:
        """Return whether the group may be balanced although a move is due, so that the test has to
        be made.
        """
        return bool(self.numbers.phantoms) or self.strangers_hold or topic not in self.wants[target]

    def _is_balanced(self) -> bool:
        """Return whether Java's isBalanced would be true (STK-22)."""
        lists = self.lists
        counts = [len(lists[member]) for member in self.scope]
        if min(counts) >= max(counts) - 1:
            return True
        if self.numbers.phantoms:
            return self._is_balanced_partition_by_partition()
        bases = self.numbers.bases
        most = [
            max(len(lists[m]) for m in set(self.owner[bases[t] : bases[t + 1]]))
            for t in range(len(self.numbers.topics))
        ]
        return not any(
            len(lists[member]) + 1 < most[t]
            for member in self.scope
            if len(lists[member]) != self._most(member)
            for t in self.wants[member]
        )

    def _is_balanced_partition_by_partition(self) -> bool:
        holder = {
            x: member
            for member in self.numbers.walk
            if member in self.scope
            for x in self.lists[member]
        }
        for key in sorted(self.keys[member] for member in self.scope):
            count, member = divmod(key, self.size)
            if count == self._most(member):
                continue
            mine = set(self.lists[member])
            for t in self.topics_of[member]:
                for x in range(self.numbers.bases[t], self.numbers.bases[t + 1]):
                    if x not in mine and count + 1 < self._count(holder.get(x, self.owner[x])):
                        return False
        return True

    def _move(self, partition: int, topic: int, target: int) -> None:
        """Move a partition, or another one of the topic that moved in the opposite direction before
        (STK-23).
        """
        x = self.movements.instead_of(partition, topic, self.owner[partition], target)
        source = self.owner[x]
        self.movements.record(x, topic, source, target)
        self.strangers_hold |= topic not in self.wants[target]
        if x in self.lists[source]:
            self.lists[source].remove(x)
        self.lists[target].append(x)
        self.owner[x] = target
        for member in {source, target}:
            self.keys[member] = len(self.lists[member]) * self.size + member
