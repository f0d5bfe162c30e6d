"""The server-side `simple` assignor of share groups (KIP-932): partitions are spread evenly over
their subscribers, and a partition has several members where there are more members than
partitions (SH-ASN-1, SH-ASN-2).

Members with equal subscriptions share all their topics together; otherwise each topic is shared
separately. Which member loses or gets which partition follows the iteration orders of Kafka's
HashMaps, which depend on the ids of members and topics. Does not depend on racks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from math import ceil
from typing import NamedTuple

from assignors.java_hash_table import HashTable
from assignors.java_hashing import int_hash, roomy, uuid_hash
from assignors.server_side.model import GroupSpec, Owned, Plan, size_of
from assignors.server_side.targets import unchanged

_UINT32 = 0xFFFFFFFF


class _Place(NamedTuple):
    """A partition, by topic id and number."""

    topic: bytes
    number: int


@lru_cache(maxsize=1 << 14)
def _place_hash(place: _Place) -> int:
    """Return TopicIdPartition.hashCode, which is that of a Java record."""
    return (31 * uuid_hash(place.topic) + place.number) & _UINT32


def _number_hash(place: _Place) -> int:
    return int_hash(place.number)


class SimpleAssignor:
    """The assignor that the coordinator calls `simple`."""

    name = "simple"

    def assign(self, spec: GroupSpec) -> Plan:
        """Assign the partitions that may be assigned. Raises AssignorError (SRV-5)."""
        members = list(spec.members.values())
        targets = [_Target(member.assignment) for member in members]
        if not members:
            return {}
        if spec.is_homogeneous():
            topics: Iterable[bytes] = members[0].topics
            if topics:
                places = list(_assignable(spec, topics))
                _share(
                    targets, range(len(members)), places, _place_hash, frozenset(topics), alike=True
                )
        else:
            wanted: HashTable[bytes] = HashTable(uuid_hash)
            subscribers: dict[bytes, list[int]] = {}
            for index, member in enumerate(members):
                for topic in member.topics:
                    wanted.put(topic)
                    subscribers.setdefault(topic, []).append(index)
            for topic in wanted:
                places, those = list(_assignable(spec, [topic])), subscribers[topic]
                _share(targets, those, places, _number_hash, frozenset([topic]), alike=False)
        if not any(member.topics for member in members):
            return {}
        return {name: of.plan() for name, of in zip(spec.members, targets, strict=True)}


def _assignable(spec: GroupSpec, topics: Iterable[bytes]) -> Iterable[_Place]:
    for topic in topics:
        allowed = None if spec.assignable is None else spec.assignable.get(topic, ())
        for number in range(size_of(spec, topic)):
            if allowed is None or number in allowed:
                yield _Place(topic, number)


class _Target:
    """A member's target while it is computed: its former target, and a copy of that once it
    changes.
    """

    __slots__ = ("_order", "_sets", "old")

    def __init__(self, assignment: Owned) -> None:
        self.old = assignment
        self._order: HashTable[bytes] | None = None
        self._sets: dict[bytes, HashTable[int]] = {}

    def open(self) -> HashTable[bytes]:
        """Copy the former target, if that was not done yet; return its topics."""
        if self._order is None:
            self._order = HashTable(uuid_hash, len(self.old))
            for topic, numbers in self.old.items():
                self._order.put(topic)
                self._sets[topic] = HashTable.copy_of(numbers, int_hash)
        return self._order

    def copied(self) -> None:
        """Take the iteration order that a copy has. A target of one partition needs no copy."""
        if len(self.old) > 1 or any(len(numbers) > 1 for numbers in self.old.values()):
            self.open()

    def drop(self, topic: bytes) -> None:
        """Remove a topic."""
        self.open().discard(topic)
        self._sets.pop(topic, None)

    def remove(self, place: _Place) -> bool:
        """Remove a partition; return whether it was there. A topic without partitions stays."""
        self.open()
        numbers = self._sets.get(place.topic)
        if numbers is None or place.number not in numbers:
            return False
        numbers.discard(place.number)
        return True

    def add(self, place: _Place) -> None:
        """Add a partition."""
        self.open().compute(place.topic)
        self._sets.setdefault(place.topic, HashTable(int_hash)).put(place.number)

    def plan(self) -> Mapping[bytes, tuple[int, ...]]:
        """Return the target as topics and partitions, in Java's order."""
        if self._order is None:
            return unchanged(self.old)
        return {topic: tuple(self._sets[topic]) for topic in self._order}


class _Given:
    """The members of each partition and the partitions of each member, in the orders of Kafka's
    maps.
    """

    def __init__(self, places: int, hash_code: Callable[[_Place], int]) -> None:
        self._hash = hash_code
        self.order: HashTable[_Place] = HashTable(hash_code, roomy(places + 1))
        self.members: dict[_Place, HashTable[int]] = {}
        self.places: dict[int, HashTable[_Place]] = {}

    def known(self, place: _Place) -> HashTable[int]:
        """Return the members of a partition, which is added if it is new."""
        self.order.compute(place)
        members = self.members.get(place)
        if members is None:
            members = self.members[place] = HashTable(int_hash)
        return members

    def had(self, member: int, place: _Place) -> None:
        """Add a member's partition from its former target."""
        self.known(place)
        self.add(member, place)

    def add(self, member: int, place: _Place) -> None:
        """Assign a member a partition that was added before."""
        self.members[place].put(member)
        places = self.places.get(member)
        if places is None:
            places = self.places[member] = HashTable(self._hash)
        places.put(place)

    def remove(self, member: int, place: _Place) -> None:
        """Take a partition from a member."""
        self.members[place].discard(member)
        self.places[member].discard(place)

    def count(self, member: int) -> int:
        """Return how many partitions a member has."""
        return len(self.places.get(member, ()))


def _share(
    targets: Sequence[_Target],
    members: Sequence[int],
    places: Sequence[_Place],
    hash_code: Callable[[_Place], int],
    topics: frozenset[bytes],
    *,
    alike: bool,
) -> None:
    """Share the partitions of topics among members (given by number): first surplus partitions are
    taken away, then the others are assigned. `alike`: all members subscribe to these topics
    only, and lose any others.
    """
    sharing = -(-len(members) // len(places)) if places else 0
    share = sharing * len(places) / len(members)
    desired = dict.fromkeys(range(len(targets)), 0)
    for rank, member in enumerate(members):
        desired[member] = ceil(share * (rank + 1)) - ceil(share * rank)
    given = _Given(len(places), hash_code)
    for member, target in enumerate(targets):
        for owned in target.old if alike else topics:
            if owned not in topics:
                target.drop(owned)
                continue
            for number in target.old.get(owned, ()):
                given.had(member, _Place(owned, number))
                if alike and given.count(member) >= desired[member]:
                    target.copied()
    _take_back(targets, given, desired, sharing)
    for place in places:
        given.known(place)
    unfilled = [member for member in members if given.count(member) < desired[member]]
    _give(targets, given, desired, sharing, unfilled)


def _take_back(
    targets: Sequence[_Target], given: _Given, desired: Mapping[int, int], sharing: int
) -> None:
    """Take partitions from members that have too many, then members from partitions that have too
    many.
    """
    for member, places in given.places.items():
        too_many = len(places) - desired[member]
        for place in list(places)[: max(too_many, 0)]:
            targets[member].remove(place)
            given.remove(member, place)
    for place in given.order:
        for member in list(given.members[place]):
            if len(given.members[place]) <= sharing:
                break
            if targets[member].remove(place):
                given.remove(member, place)


def _give(
    targets: Sequence[_Target],
    given: _Given,
    desired: Mapping[int, int],
    sharing: int,
    unfilled: list[int],
) -> None:
    """Assign partitions with too few members to members with too few partitions, in turn."""
    turn, at, some = list(unfilled), 0, False
    for place in given.order:
        if not unfilled:
            return
        members = given.members[place]
        while len(members) < sharing:
            if at == len(turn):
                if not some or not unfilled:
                    break
                turn, at, some = list(unfilled), 0, False
            member = turn[at]
            at += 1
            if member in members:
                continue
            targets[member].add(place)
            given.add(member, place)
            some = True
            if given.count(member) >= desired[member]:
                unfilled.remove(member)
