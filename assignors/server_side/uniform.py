"""The server-side `uniform`: as even as possible, and as sticky as that allows.

Owns org.apache.kafka.coordinator.group.assignor.UniformAssignor: the choice between its two
algorithms, and the one for equal subscriptions (SRV-3; UniformHomogeneousAssignmentBuilder). The
one for different subscriptions is in `unequal`. Like Java, does not depend on racks.

One rule is newer than SRV-3: since 4.1 a member that would get an extra partition, but does not
have one yet, leaves the extra to later members as long as there are enough of them to take all
extras.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from itertools import islice

from assignors.errors import AssignorError
from assignors.java_hash_table import HashTable, order_of_puts
from assignors.java_hashing import string_hash, uuid_hash
from assignors.server_side.model import GroupSpec, Owned, Plan, size_of
from assignors.server_side.targets import Target, unchanged
from assignors.server_side.unequal import assign_unequal


class UniformAssignor:
    """The assignor that the coordinator calls `uniform`."""

    name = "uniform"

    def assign(self, spec: GroupSpec) -> Plan:
        """Return a target for the group. Raises AssignorError (SRV-5)."""
        if not spec.members:
            return {}
        return _assign_equal(spec) if spec.is_homogeneous() else assign_unequal(spec)


def _assign_equal(spec: GroupSpec) -> Plan:
    first = next(iter(spec.members.values()))
    topics = HashTable.copy_of(first.topics, uuid_hash, len(first.topics) + first.unresolved)
    if not topics:
        return {}
    assigned = spec.assigned_partitions()
    unassigned = [
        (topic, partition)
        for topic in topics
        for partition in _free(size_of(spec, topic), assigned.get(topic, ()))
    ]
    quota, extras = divmod(sum(size_of(spec, topic) for topic in topics), len(spec.members))
    results: dict[str, Mapping[bytes, tuple[int, ...]]] = {}
    changed: dict[str, Target] = {}
    unfilled: list[tuple[Target, int]] = []
    members = len(spec.members)
    for index, (member_id, member) in enumerate(spec.members.items()):
        assignment = member.assignment
        takes_extra = extras > 0
        left = quota + takes_extra
        if _fits(assignment, topics, left):  # most members keep what they have
            left -= sum(map(len, assignment.values()))
            target = None
            results[member_id] = unchanged(assignment)
        else:
            target = changed[member_id] = Target(assignment)
            left, lost = _keep(target, assignment, topics, left)
            unassigned += lost
        if left and takes_extra and members - index > extras:
            left -= 1
            takes_extra = False
        if left:
            if target is None:
                target = changed[member_id] = Target(assignment)
            unfilled.append((target, left))
        extras -= takes_extra
    _fill(unfilled, unassigned)
    for member_id, target in changed.items():
        results[member_id] = target.result()
    return {member_id: results[member_id] for member_id in order_of_puts(spec.members, string_hash)}


def _free(size: int, held: Container[int]) -> Iterable[int]:
    """Return the unassigned partitions of a topic, in ascending order."""
    if isinstance(held, set | frozenset):
        return sorted(set(range(size)).difference(held)) if held else range(size)
    return [partition for partition in range(size) if partition not in held]


def _fits(assignment: Owned, topics: HashTable[bytes], quota: int) -> bool:
    """Return whether a member may keep all of its partitions."""
    for topic, partitions in assignment.items():
        quota -= len(partitions)
        if quota < 0 or topic not in topics:
            return False
    return True


def _keep(
    target: Target, assignment: Owned, topics: HashTable[bytes], quota: int
) -> tuple[int, list[tuple[bytes, int]]]:
    """Take from a member the partitions that it may not keep; return how many more it may have, and
    the partitions that must be assigned again.
    """
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
    """Assign the unassigned partitions, in order, to the members with room, in order."""
    rest = iter(unassigned)
    for target, room in unfilled:
        target.open()
        for topic, partition in islice(rest, room):
            target.add(topic, partition)
    if next(rest, None) is not None:
        raise AssignorError("Partitions were left unassigned")
