"""What consumer groups (KIP-848) and share groups (KIP-932) have in common: members with epochs and a
target assignment, a group epoch, and the answers that a group's offsets and administration ask for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Generic, TypeVar

from coordinator.base.errors import ErrorCode

from .java_order import timeline_order

M = TypeVar("M")
Partitions = Mapping[bytes, tuple[int, ...]]
"""Topic id -> partitions, both in the order in which Java's maps iterate."""
_NO_TARGET: Partitions = {}


class EpochMembership(Generic[M]):
    """Members of a group that the coordinator assigns. Only `evolve` writes it. `checked_version` is
    soft: the version of the topics with which the group was last compared.
    """

    __slots__ = (
        "assignment_epoch",
        "assignment_ms",
        "checked_version",
        "group_epoch",
        "group_id",
        "loading",
        "members",
        "metadata_hash",
        "targets",
    )
    SOFT: ClassVar[frozenset[str]] = frozenset({"checked_version", "loading"})
    """The fields that no load brings back."""

    def __init__(self, group_id: str, *, loading: bool = False) -> None:
        self.group_id = group_id
        self.loading = loading
        """True while it is folded from durable events alone, and serves no requests yet (ERR-7)."""
        self.group_epoch = 1
        self.assignment_epoch = 0
        self.assignment_ms: int | None = None
        """The instant of the last target assignment; None: there was none, or it needed no assignor
        (KIP-1263)."""
        self.metadata_hash = 0
        self.members: dict[str, M] = {}
        self.targets: dict[str, Partitions] = {}
        self.checked_version: int | None = None

    @property
    def is_new(self) -> bool:
        """Return True if the group never had a member."""
        return not self.members and self.group_epoch == 1 and self.assignment_epoch == 0

    def target(self, member_id: str) -> Partitions:
        """Return a member's target; empty if it has none."""
        return self.targets.get(member_id, _NO_TARGET)

    def in_java_order(self) -> list[M]:
        """Return the members in Kafka's order of iteration."""
        return [self.members[member_id] for member_id in timeline_order(self.members)]

    # -- what a group's offsets and its administration ask of its membership (see
    # groups.group.Membership)

    def is_dead(self) -> bool:
        """Return False: the group never has the state Dead."""
        return False

    def refuse_delete(self) -> ErrorCode:
        """Return the error of a DeleteGroups, or NONE if the group has no members (DG-1,
        SH-DEL-1).
        """
        return ErrorCode.NON_EMPTY_GROUP if self.members else ErrorCode.NONE

    def commit_proves_life(self) -> bool:
        """Return False: commits renew no session."""
        return False

    def offsets_unused_since_ms(self) -> int | None:
        """Return None: retention counts from each commit."""
        return None

    def snapshot(self) -> dict[str, object]:
        """Return the whole hard state as plain values: equal snapshots mean equal memberships."""
        fields = [
            name
            for kind in reversed(type(self).__mro__)
            for name in getattr(kind, "__slots__", ())
            if name not in self.SOFT
        ]
        values = {name: getattr(self, name) for name in fields}
        return {
            name: dict(value) if isinstance(value, dict) else value
            for name, value in values.items()
        }
