"""The server-side `simple` assignor of share groups (KIP-932): partitions are spread evenly over the
members that want them, and a partition has several members where members outnumber partitions
(SH-ASN-1, SH-ASN-2).

Owns how many members each partition has and how many partitions each member, which are Kafka's
numbers. Which member gets which partition is Kafka's HashMaps' affair there; here as little moves
as the numbers allow, and the rest goes in order. Does not depend on racks.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence

from assignors.server_side.model import GroupSpec, Plan, size_of

_Partition = tuple[bytes, int]


class SimpleAssignor:
    """The assignor that the coordinator calls `simple`."""

    name = "simple"

    def assign(self, spec: GroupSpec) -> Plan:
        """Give the partitions that may be given. Members that subscribe alike share all topics;
        else each topic is shared for itself. Raises AssignorError (SRV-5)."""
        if not spec.members:
            return {}
        members = list(spec.members)
        given: dict[str, list[_Partition]] = {member_id: [] for member_id in members}
        if spec.is_homogeneous():
            topics: Iterable[bytes] = spec.members[members[0]].topics
            pools = [(list(_assignable(spec, topics)), members)]
        else:
            pools = [
                (list(_assignable(spec, [topic])), those)
                for topic, those in _subscribers(spec).items()
            ]
        for partitions, those in pools:
            if partitions:
                _share(partitions, those, spec, given)
        return {member_id: _by_topic(given[member_id]) for member_id in members}


def _assignable(spec: GroupSpec, topics: Iterable[bytes]) -> Iterable[_Partition]:
    for topic in topics:
        allowed = None if spec.assignable is None else spec.assignable.get(topic, ())
        for number in range(size_of(spec, topic)):
            if allowed is None or number in allowed:
                yield topic, number


def _subscribers(spec: GroupSpec) -> dict[bytes, list[str]]:
    found: dict[bytes, list[str]] = {}
    for member_id, member in spec.members.items():
        for topic in member.topics:
            found.setdefault(topic, []).append(member_id)
    return found


def _share(
    partitions: Sequence[_Partition],
    members: Sequence[str],
    spec: GroupSpec,
    given: Mapping[str, list[_Partition]],
) -> None:
    """Share partitions among members: keep what the numbers allow, then fill up."""
    sharing = -(-len(members) // len(partitions))
    wanted = frozenset(partitions)
    held = {
        member_id: [
            (topic, number)
            for topic, numbers in spec.members[member_id].assignment.items()
            for number in numbers
            if (topic, number) in wanted
        ]
        for member_id in members
    }
    quotas = _quotas(sharing * len(partitions), members, held)
    holders = dict.fromkeys(partitions, 0)
    for member_id in members:
        for partition in held[member_id]:
            holders[partition] += 1
    kept = {
        member_id: _kept(held[member_id], quotas[member_id], sharing, holders)
        for member_id in members
    }
    unfilled = deque(member_id for member_id in members if len(kept[member_id]) < quotas[member_id])
    for partition in partitions:
        for _ in range(len(unfilled)):
            if holders[partition] >= sharing:
                break
            member_id = unfilled.popleft()
            if partition not in kept[member_id]:
                kept[member_id][partition] = None
                holders[partition] += 1
            if len(kept[member_id]) < quotas[member_id]:
                unfilled.append(member_id)
    if unfilled:
        wanting = [one for one in partitions for _ in range(sharing - holders[one])]
        _swap_in([m for m in unfilled for _ in range(quotas[m] - len(kept[m]))], wanting, kept)
    for member_id in members:
        given[member_id].extend(kept[member_id])


def _swap_in(
    unfilled: Iterable[str],
    wanting: Iterable[_Partition],
    kept: Mapping[str, dict[_Partition, None]],
) -> None:
    """Members that have too few have the partitions already that want one more: another member takes
    such a partition, and gives one of its own for it."""
    for member_id, partition in zip(unfilled, wanting, strict=True):
        mine = kept[member_id]
        for other in kept.values():
            spare = next((one for one in other if one not in mine), None)
            if partition not in other and spare is not None:
                del other[spare]
                other[partition] = mine[spare] = None
                break


def _quotas(
    total: int, members: Sequence[str], held: Mapping[str, Sequence[_Partition]]
) -> dict[str, int]:
    """How many partitions each member is to have: they differ by one at most. The larger ones go to
    who has most now."""
    least, larger = divmod(total, len(members))
    by_load = sorted(members, key=lambda member_id: -len(held[member_id]))
    return {member_id: least + (rank < larger) for rank, member_id in enumerate(by_load)}


def _kept(
    held: Sequence[_Partition], quota: int, sharing: int, holders: dict[_Partition, int]
) -> dict[_Partition, None]:
    """What a member keeps of what it has: first what fewest others have. What it gives up has a
    holder less."""
    if len(held) <= quota and all(holders[partition] <= sharing for partition in held):
        return dict.fromkeys(held)
    kept: dict[_Partition, None] = {}
    for partition in sorted(held, key=lambda one: holders[one]):
        if len(kept) < quota and holders[partition] <= sharing:
            kept[partition] = None
        else:
            holders[partition] -= 1
    return kept


def _by_topic(partitions: Iterable[_Partition]) -> dict[bytes, tuple[int, ...]]:
    found: dict[bytes, list[int]] = {}
    for topic, number in partitions:
        found.setdefault(topic, []).append(number)
    return {topic: tuple(sorted(numbers)) for topic, numbers in found.items()}
