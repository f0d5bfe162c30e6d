"""The server-side `range` (SRV-2): consecutive partitions of each topic for each member, in order
of members; neither sticky nor rack-aware.

Owns what org.apache.kafka.coordinator.group.assignor.RangeAssignor does. Does not depend on
former assignments.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from assignors.java_hash_table import HashTable
from assignors.java_hashing import roomy, string_hash, uuid_hash
from assignors.server_side.model import GroupSpec, MemberSeen, Plan, size_of, utf16_order


class RangeAssignor:
    """The assignor that the coordinator calls `range`."""

    name = "range"

    def assign(self, spec: GroupSpec) -> Plan:
        """Give every subscriber of a topic its run of partitions. Raises AssignorError (SRV-5)."""
        if not spec.members:
            return {}
        ordered = sorted(spec.members.items(), key=_rank)
        everybody = ordered[0][1].topics if spec.is_homogeneous() else None
        subscribers = (
            Counter(dict.fromkeys(everybody, len(ordered)))
            if everybody is not None
            else _subscribers(ordered)
        )
        runs = {topic: _Runs(size_of(spec, topic), count) for topic, count in subscribers.items()}
        members = HashTable[str](string_hash, roomy(len(ordered)))
        targets = {}
        for member_id, member in ordered:
            members.put(member_id)
            if everybody is not None:
                targets[member_id] = _take(runs, everybody, len(everybody))
            else:
                targets[member_id] = _take(
                    runs, member.topics, len(member.topics) + member.unresolved
                )
        return {member_id: targets[member_id] for member_id in members}


class _Runs:
    """The runs of one topic: where the next one begins, and its length."""

    __slots__ = ("extra", "next", "quota", "size")

    def __init__(self, size: int, subscribers: int) -> None:
        self.size = size
        self.quota, self.extra = divmod(size, subscribers)
        self.next = 0

    def take(self) -> tuple[int, ...]:
        """Return the next subscriber's run, which is one longer as long as extra partitions are
        left.
        """
        start = self.next
        self.next += self.quota + (self.extra > 0)
        self.extra -= self.extra > 0
        return tuple(range(start, self.next))


def _take(
    runs: dict[bytes, _Runs], topics: Sequence[bytes], expected: int
) -> dict[bytes, tuple[int, ...]]:
    """Return one member's runs of `topics`, in the order of a map made for `expected` topics."""
    table: HashTable[bytes] = HashTable(uuid_hash, roomy(expected))
    taken = {}
    for topic in topics:
        run = runs[topic].take()
        if run:
            table.put(topic)
            taken[topic] = run
    return {topic: taken[topic] for topic in table}


def _subscribers(members: list[tuple[str, MemberSeen]]) -> Counter[bytes]:
    return Counter(topic for _, member in members for topic in member.topics)


def _rank(item: tuple[str, MemberSeen]) -> tuple[bool, bytes]:
    """Return the sort key of members: static ones by instance id, then dynamic ones by member id
    (APA-2).
    """
    member_id, member = item
    return member.instance_id is None, utf16_order(
        member_id if member.instance_id is None else member.instance_id
    )
