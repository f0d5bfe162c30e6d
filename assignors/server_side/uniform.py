"""The server-side `uniform`: as even as can be, and as sticky as that allows.

Owns org.apache.kafka.coordinator.group.assignor.UniformAssignor: which of two ways a group is assigned, and the way for equal
subscriptions (SRV-3; UniformHomogeneousAssignmentBuilder). The way for unequal ones is `unequal`'s. Refuses to know racks, as Java does.

One thing is newer than SRV-3: since 4.1 a member that would get an extra partition, but does not hold one, hands the extra on
while there are enough members after it to take all extras.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from assignors.errors import AssignorError
from assignors.java_order import string_hash
from assignors.server_side.hash_table import HashTable, uuid_hash
from assignors.server_side.model import GroupSpec, Owned, Plan, size_of
from assignors.server_side.targets import Target
from assignors.server_side.unequal import assign_unequal


class UniformAssignor:
    """The assignor that the coordinator calls `uniform`."""

    name = "uniform"

    def assign(self, spec: GroupSpec) -> Plan:
        """A target for the group. Raises AssignorError (SRV-5)."""
        if not spec.members:
            return {}
        return _assign_equal(spec) if spec.is_homogeneous() else assign_unequal(spec)


def _assign_equal(spec: GroupSpec) -> Plan:
    first = next(iter(spec.members.values()))
    topics = HashTable.copy_of(first.topics, uuid_hash, len(first.topics) + first.unresolved)
    if not topics:
        return {}
    assigned = spec.assigned_partitions()
    unassigned = [(t, p) for t in topics for p in range(size_of(spec, t)) if p not in assigned.get(t, ())]
    quota, extras = divmod(sum(size_of(spec, topic) for topic in topics), len(spec.members))
    targets: dict[str, Target] = {}
    unfilled: list[tuple[Target, int]] = []
    order = HashTable[str](string_hash)
    for index, (member_id, member) in enumerate(spec.members.items()):
        target = targets[member_id] = Target(member.assignment)
        order.put(member_id)
        takes_extra = extras > 0
        left, lost = _keep(target, member.assignment, topics, quota + takes_extra)
        unassigned += lost
        if left and takes_extra and len(spec.members) - index > extras:
            left -= 1
            takes_extra = False
        if left:
            unfilled.append((target, left))
        extras -= takes_extra
    _fill(unfilled, unassigned)
    return {member_id: targets[member_id].result() for member_id in order}


def _keep(target: Target, assignment: Owned, topics: HashTable[bytes], quota: int) -> tuple[int, list[tuple[bytes, int]]]:
    """Take from a member what it may not keep; (how much more it may have, what was taken and must go to somebody)."""
    lost = []
    for topic, partitions in assignment.items():
        if topic not in topics:
            target.drop(topic)
            continue
        for partition in partitions[quota:]:
            target.remove(topic, partition)
            lost.append((topic, partition))
        quota -= min(quota, len(partitions))
    return quota, lost


def _fill(unfilled: Iterable[tuple[Target, int]], unassigned: Iterable[tuple[bytes, int]]) -> None:
    """Give the unassigned partitions, in order, to those who have room, in order."""
    rest = iter(unassigned)
    for target, room in unfilled:
        target.open()
        for topic, partition in islice(rest, room):
            target.add(topic, partition)
    if next(rest, None) is not None:
        raise AssignorError("Partitions were left unassigned")
