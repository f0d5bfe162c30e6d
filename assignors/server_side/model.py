"""Questions to a server-side assignor and its answers (KIP-848): plain values, in the orders
that Java's tables show.

Owns the words `Member`, `GroupSpec`, `Plan` and the one way an assignor fails. Topics are 16-byte
ids. Does not depend on who asks: the coordinator hands over what Kafka's TargetAssignmentBuilder
hands over, and does with the answer what it likes.
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

    `topics`: the ids of the topics it subscribes to, as Java's subscription set iterates;
    `unresolved`: how many more names it subscribes to that no topic has (they count in the size of
    that set, K8-TGT-4). `assignment`: its current target. `rack` is told and, in 4.4.0, heeded by
    nobody.
    """

    topics: Sequence[bytes]
    assignment: Owned = field(default_factory=dict)
    instance_id: str | None = None
    rack: str | None = None
    unresolved: int = 0


class MemberSeen(Protocol):
    """An assignor's view of a member: a `Member`, or whatever else has the same attributes."""

    @property
    def topics(self) -> Sequence[bytes]:
        """See `Member`."""

    @property
    def assignment(self) -> Owned:
        """See `Member`."""

    @property
    def instance_id(self) -> str | None:
        """group.instance.id of a static member."""

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
    `partitions`: how many each topic has. `homogeneous`: every subscribed name is subscribed to by
    all members; None: judged by the topic ids (SRV-1). `assigned`: the partitions somebody's target
    holds, by topic; None: what the members' assignments say. `assignable`: which partitions may be
    given, by topic; None: all. `simple` alone heeds it.
    """

    members: Mapping[str, MemberSeen]
    partitions: Mapping[bytes, int]
    homogeneous: bool | None = None
    assigned: Mapping[bytes, Container[int]] | None = None
    assignable: Mapping[bytes, Container[int]] | None = None

    def is_homogeneous(self) -> bool:
        """True if the group counts as HOMOGENEOUS (SRV-1)."""
        if self.homogeneous is not None:
            return self.homogeneous
        return len({frozenset(member.topics) for member in self.members.values()}) < 2

    def assigned_partitions(self) -> Mapping[bytes, Container[int]]:
        """The inverted current target: which partitions are somebody's."""
        if self.assigned is not None:
            return self.assigned
        found: dict[bytes, set[int]] = {}
        for member in self.members.values():
            for topic, partitions in member.assignment.items():
                found.setdefault(topic, set()).update(partitions)
        return found


class ServerAssignor(Protocol):
    """An assignor that the coordinator can be given."""

    name: str

    def assign(self, spec: GroupSpec) -> Plan:
        """A target for the group; members that are left out get nothing. Raises AssignorError, as
        Java throws (SRV-5)."""


def uuid_order(topic_id: bytes) -> tuple[int, int]:
    """The key that sorts topic ids as Uuid.compareTo does: both halves are signed."""
    return int.from_bytes(topic_id[:8], "big", signed=True), int.from_bytes(
        topic_id[8:], "big", signed=True
    )


def utf16_order(text: str) -> bytes:
    """The key that sorts texts as String.compareTo does: by UTF-16 code units."""
    return text.encode("utf-16-be", "surrogatepass")


def size_of(spec: GroupSpec, topic: bytes) -> int:
    """Return the number of partitions of a subscribed topic. Raises AssignorError if nobody can
    describe it (SRV-5)."""
    try:
        return spec.partitions[topic]
    except KeyError:
        raise AssignorError(
            f"SRV-5: a member subscribes to topic {topic.hex()}, which does not exist"
        ) from None
