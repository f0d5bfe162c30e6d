"""The assignor `range`: consecutive partitions of each topic for each member, in order of members;
rack-aware where racks can help (KIP-881).

Owns what org.apache.kafka.clients.consumer.RangeAssignor does (RNG-1..RNG-5). Topics with the
same subscribers and the same number of partitions are kept co-partitioned. Does not depend on
former assignments.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from assignors.group_input import answer_order, member_rank, partition_objects, topics_in_map_order
from assignors.java_order import sorted_strings, table_order
from assignors.model import (
    Assignment,
    Assignor,
    Racks,
    RebalanceProtocol,
    Subscription,
    TopicPartition,
)
from assignors.racks import differ, racks_of

Lists = dict[str, list[TopicPartition]]


class RangeAssignor(Assignor):
    """The assignor called `range`. It is stateless and sends no user data (UD-4)."""

    name = "range"
    rebalance_protocols: Sequence[RebalanceProtocol] = (RebalanceProtocol.EAGER,)

    def assign(
        self,
        partitions: Mapping[str, int],
        members: Mapping[str, Subscription],
        racks: Racks | None = None,
    ) -> dict[str, Assignment]:
        """Assign runs of consecutive partitions. The result is in Java's order of members."""
        order = table_order(list(members))
        topics = topics_in_map_order(partitions, [members[member] for member in order])
        subscribers: dict[str, list[str]] = {topic: [] for topic in topics}
        for member in member_rank(members, order):
            for topic in dict.fromkeys(members[member].topics):
                if topic in subscribers:
                    subscribers[topic].append(member)
        lists: Lists = {member: [] for member in order}
        member_racks = {member: rack for member in order if (rack := members[member].rack)}
        if member_racks and racks:
            _assign_by_rack(
                [
                    _Topic(t, n, subscribers[t], member_racks, racks_of(racks, t, n))
                    for t, n in topics.items()
                ],
                lists,
            )
        else:
            for topic, count in topics.items():
                _assign_runs(partition_objects(topic, count), subscribers[topic], lists)
        return {member: Assignment(tuple(lists[member])) for member in answer_order(order)}


def _assign_runs(partitions: list[TopicPartition], subscribers: list[str], lists: Lists) -> None:
    """Assign each subscriber a run of equal length; the first ones get one partition more if the
    division has a remainder (RNG-2).
    """
    size, extra = divmod(len(partitions), len(subscribers))
    if size == 0:
        for member, partition in zip(subscribers, partitions, strict=False):
            lists[member].append(partition)
        return
    start = 0
    for i, member in enumerate(subscribers):
        end = start + size + (i < extra)
        lists[member] += partitions[start:end]
        start = end


class _Topic:
    """One topic during a rack-aware assignment, with the number of partitions that each subscriber
    may still get (RNG-1).
    """

    def __init__(
        self,
        name: str,
        count: int,
        subscribers: list[str],
        member_racks: Mapping[str, str],
        racks: list[frozenset[str]],
    ) -> None:
        self.partitions = partition_objects(name, count)
        self.member_racks = {member: member_racks.get(member) for member in subscribers}
        wanted = {rack for rack in self.member_racks.values() if rack is not None}
        self.racks = racks if wanted else []
        self.needs_racks = differ(wanted, self.racks)
        self.unassigned = dict.fromkeys(range(count))
        self._size, self._extra = divmod(count, len(subscribers))
        self._taken = dict.fromkeys(subscribers, 0)

    def matches(self, member: str, partition: int) -> bool:
        """Return whether a replica is in the member's rack; True for a member without one."""
        rack = self.member_racks[member]
        return rack is None or (partition < len(self.racks) and rack in self.racks[partition])

    def room(self, member: str) -> int:
        """Return how many more partitions the member may get."""
        return max(0, self._size + (self._extra > 0) - self._taken[member])

    def give(self, member: str, numbers: Sequence[int], lists: Lists) -> None:
        """Assign these partitions to the member."""
        lists[member] += [self.partitions[number] for number in numbers]
        self._taken[member] += len(numbers)
        if self._taken[member] > self._size:
            self._extra -= 1
        for number in numbers:
            self.unassigned.pop(number, None)

    def give_runs(self, lists: Lists, *, only_matching: bool) -> None:
        """Assign runs of the partitions that are left (RNG-2)."""
        for member in self.member_racks:
            if not self.unassigned:
                return
            room = self.room(member)
            taken: list[int] = []
            for number in self.unassigned:
                if len(taken) == room:
                    break
                if not only_matching or self.matches(member, number):
                    taken.append(number)
            if taken:
                self.give(member, taken, lists)


def _assign_by_rack(topics: list[_Topic], lists: Lists) -> None:
    """Assign first the partitions with a replica in a member's rack, then the rest in runs; sort
    the lists at the end (RNG-3..RNG-5).
    """
    by_rack = any(topic.needs_racks for topic in topics)
    if by_rack:
        for group in _co_partitioned(topics):
            if len(group) > 1:
                _give_together(group, lists)
            elif group[0].needs_racks:
                group[0].give_runs(lists, only_matching=True)
    for topic in topics:
        topic.give_runs(lists, only_matching=False)
    if by_rack:
        names = sorted_strings({tp.topic for taken in lists.values() for tp in taken})
        rank = {name: i for i, name in enumerate(names)}
        for taken in lists.values():
            taken.sort(key=lambda tp: (rank[tp.topic], tp.partition))


def _co_partitioned(topics: Iterable[_Topic]) -> list[list[_Topic]]:
    """Group the topics that have the same subscribers, in the same racks, and as many partitions
    with known racks (RNG-4).
    """
    groups: dict[tuple[frozenset[tuple[str, str | None]], int], list[_Topic]] = {}
    for topic in topics:
        groups.setdefault((frozenset(topic.member_racks.items()), len(topic.racks)), []).append(
            topic
        )
    return list(groups.values())


def _give_together(group: list[_Topic], lists: Lists) -> None:
    """Assign the same partition of every topic of the group to the same member, where the racks and
    quotas of all topics allow it (RNG-4).
    """
    remaining = list(group[0].member_racks)
    for number in range(len(group[0].racks)):
        for member in remaining:
            if all(topic.matches(member, number) and topic.room(member) > 0 for topic in group):
                for topic in group:
                    topic.give(member, (number,), lists)
                if not any(topic.room(member) > 0 for topic in group):
                    remaining.remove(member)
                break
        if not remaining:
            return
