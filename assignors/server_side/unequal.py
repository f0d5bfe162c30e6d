"""The server-side `uniform` for members with different subscriptions (SRV-4).

Owns UniformHeterogeneousAssignmentBuilder: keep partitions that are still subscribed to, assign
the others topic by topic, then balance. Members are given by their index in the group. Like
Java, does not depend on racks.
"""

from __future__ import annotations

from assignors.errors import AssignorError
from assignors.java_hash_table import HashTable
from assignors.java_hashing import roomy, string_hash
from assignors.server_side.levels import Levels
from assignors.server_side.model import GroupSpec, Plan, size_of, uuid_order
from assignors.server_side.targets import Target

_MAX_PASSES = 16
_NOBODY = -1


def assign_unequal(spec: GroupSpec) -> Plan:
    """Return a target for the group. Raises AssignorError (SRV-5)."""
    work = _Work(spec)
    if not work.subscribers:
        return {}
    work.keep()
    work.assign_the_rest()
    work.balance()
    order = HashTable[str](string_hash)
    for member_id in spec.members:
        order.put(member_id)
    return {member_id: work.targets[member_id].result() for member_id in order}


class _Work:
    """The assignment while it is computed."""

    def __init__(self, spec: GroupSpec) -> None:
        self.spec = spec
        self.subscribers: dict[bytes, list[int]] = {}
        for index, member in enumerate(spec.members.values()):
            for topic in member.topics:
                size_of(spec, topic)
                self.subscribers.setdefault(topic, []).append(index)
        self.targets = {
            member_id: Target(member.assignment) for member_id, member in spec.members.items()
        }
        self.by_index = list(self.targets.values())
        self.loads = [0] * len(self.by_index)
        self.owners = {topic: [_NOBODY] * spec.partitions[topic] for topic in self.subscribers}

    def keep(self) -> None:
        """Keep each member's partitions of the topics that it subscribes to; drop its other topics."""
        for index, member in enumerate(self.spec.members.values()):
            wanted = frozenset(member.topics)
            for topic, partitions in member.assignment.items():
                if topic not in wanted:
                    self.by_index[index].drop(topic)
                    continue
                self.loads[index] += len(partitions)
                for partition in partitions:
                    if partition >= len(self.owners[topic]):
                        raise AssignorError(
                            f"SRV-4: {topic.hex()}-{partition} is in a target, but the topic has no such partition"
                        )
                    self.owners[topic][partition] = index

    def assign_the_rest(self) -> None:
        """Phase 1: assign every topic's unassigned partitions to the least loaded of its
        subscribers.
        """
        unassigned = {
            topic: [p for p, owner in enumerate(owners) if owner == _NOBODY]
            for topic, owners in self.owners.items()
        }
        for topic in self._sorted(
            [topic for topic, partitions in unassigned.items() if partitions]
        ):
            levels = Levels(self.loads, self.subscribers[topic])
            for partition in unassigned[topic]:
                self._give(topic, partition, levels.next_least_loaded())

    def balance(self) -> None:
        """Phase 2: balance topic after topic, until a whole round changes nothing, 16 rounds at
        most.
        """
        topics = self._sorted(
            [topic for topic, subscribers in self.subscribers.items() if len(subscribers) > 1]
        )
        last_change = -1
        for _ in range(_MAX_PASSES):
            for position, topic in enumerate(topics):
                if position == last_change:
                    return
                if self._balance_topic(topic) or last_change == -1:
                    last_change = position

    def _balance_topic(self, topic: bytes) -> bool:
        """Move partitions of this topic from the most to the least loaded; return whether any
        moved.
        """
        levels = Levels(self.loads, self.subscribers[topic])
        if levels.spread <= 1:
            return False
        owned: dict[int, list[int]] = {}
        for partition, owner in enumerate(self.owners[topic]):
            owned.setdefault(owner, []).append(partition)
        moved = False
        while not levels.is_balanced():
            giver = levels.next_most_loaded()
            while giver is not None and not owned.get(giver):
                levels.exclude_most_loaded()
                giver = levels.next_most_loaded()
            if giver is None:
                break
            partition = owned[giver].pop()
            taker = levels.next_least_loaded()
            if levels.is_balanced():
                break
            self._give(topic, partition, taker)
            moved = True
        return moved

    def _give(self, topic: bytes, partition: int, member: int) -> None:
        owners = self.owners[topic]
        if owners[partition] != _NOBODY:
            self.by_index[owners[partition]].remove(topic, partition)
            self.loads[owners[partition]] -= 1
        subscribers = len(self.subscribers[topic])
        self.by_index[member].add(topic, partition, roomy(-(-len(owners) // subscribers)))
        owners[partition] = member
        self.loads[member] += 1

    def _sorted(self, topics: list[bytes]) -> list[bytes]:
        """Sort topics: most partitions per subscriber first, then fewest subscribers, then by id."""

        def rank(topic: bytes) -> tuple[float, int, tuple[int, int]]:
            subscribers = len(self.subscribers[topic])
            return -(len(self.owners[topic]) / subscribers), subscribers, uuid_order(topic)

        return sorted(topics, key=rank)
