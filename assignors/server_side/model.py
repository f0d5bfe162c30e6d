"""Input and output of server-side assignors (KIP-848): plain values, in the iteration orders of
Java's tables.

Owns `Member`, `GroupSpec`, `Plan` and the errors of server-side assignors. Topics are 16-byte
ids. Does not depend on the caller: the coordinator passes what Kafka's TargetAssignmentBuilder
passes.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from assignors.errors import AssignorError

Owned = Mapping[bytes, Sequence[int]]
"""Topic id -> partitions, both in the order in which Java's map and sets iterate."""

Plan = dict[str, Mapping[bytes, tuple[int, ...]]]
"""Member id -> topic id -> partitions, in the order in which Java's map, maps and sets iterate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One member as the assignor sees it.

    `topics`: the ids of the topics that it subscribes to, as Java's subscription set iterates;
    `unresolved`: the number of subscribed names without a topic (they count in the size of that
    set, K8-TGT-4). `assignment`: its current target. `rack` is not used by any assignor in
    4.4.0.
    """

    topics: Sequence[bytes]
    assignment: Owned = field(default_factory=dict)
    instance_id: str | None = None
    rack: str | None = None
    unresolved: int = 0


class MemberSeen(Protocol):
    """The attributes of a member that assignors read; `Member` has them."""

    @property
    def topics(self) -> Sequence[bytes]:
        """See `Member`."""

    @property
    def assignment(self) -> Owned:
        """See `Member`."""

    @property
    def instance_id(self) -> str | None:
        """Return the group.instance.id of a static member."""

    @property
    def rack(self) -> str | None:
        """See `Member`."""

    @property
    def unresolved(self) -> int:
        """See `Member`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSpec:
    """A group to assign.

    `members` iterates as Java's memberIds() does: `assignors.java_order` gives that order.
    `partitions`: the number of partitions of each topic. `homogeneous`: whether every subscribed
    name is subscribed to by all members; None: derived from the topic ids (SRV-1). `assigned`:
    the partitions in any member's target, by topic; None: derived from the members' assignments.
    `assignable`: the partitions that may be assigned, by topic; None: all. Only `simple` uses
    it.
    """

    members: Mapping[str, MemberSeen]
    partitions: Mapping[bytes, int]
    homogeneous: bool | None = None
    assigned: Mapping[bytes, Container[int]] | None = None
    assignable: Mapping[bytes, Container[int]] | None = None

    def is_homogeneous(self) -> bool:
        """Return whether the group is HOMOGENEOUS (SRV-1)."""
        if self.homogeneous is not None:
            return self.homogeneous
        return len({frozenset(member.topics) for member in self.members.values()}) < 2

    def assigned_partitions(self) -> Mapping[bytes, Container[int]]:
        """Return the partitions that are in any member's current target, by topic."""
        if self.assigned is not None:
            return self.assigned
        found: dict[bytes, set[int]] = {}
        for member in self.members.values():
            for topic, partitions in member.assignment.items():
                found.setdefault(topic, set()).update(partitions)
        return found


class ServerAssignor(Protocol):
    """An assignor that can run in the coordinator."""

    name: str

    def assign(self, spec: GroupSpec) -> Plan:
        """Return a target for the group; members that it leaves out get no partitions. Raises
        AssignorError where Java throws (SRV-5).
        """


def uuid_order(topic_id: bytes) -> tuple[int, int]:
    """Return the key that sorts topic ids as Uuid.compareTo does: both halves are signed."""
    return int.from_bytes(topic_id[:8], "big", signed=True), int.from_bytes(
        topic_id[8:], "big", signed=True
    )


def utf16_order(text: str) -> bytes:
    """Return the key that sorts texts as String.compareTo does: by UTF-16 code units."""
    return text.encode("utf-16-be", "surrogatepass")


def size_of(spec: GroupSpec, topic: bytes) -> int:
    """Return the number of partitions of a subscribed topic. Raises AssignorError if there is no
    such topic (SRV-5).
    """
    try:
        return spec.partitions[topic]
    except KeyError:
        raise AssignorError(
            f"SRV-5: a member subscribes to topic {topic.hex()}, which does not exist"
        ) from None
