"""Group: an id, committed offsets, and a membership. Only `evolve` writes it.

Offsets belong to the group whatever protocol its members use, so a group keeps them when its
membership is replaced by one of another protocol. The `Membership` protocol is all that a group
needs of its membership.
"""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from copy import copy
from typing import Final, Protocol

from coordinator.base.errors import ErrorCode

from .classic.model import ClassicGroup
from .consumer.model import ConsumerMembership
from .offset_table import Offsets
from .pending_offsets import PendingOffsets
from .share.model import ShareMembership


class Membership(Protocol):
    """Interface of a membership of any protocol, for the group's offsets and administration."""

    def is_dead(self) -> bool:
        """Return True if the group was unloaded or deleted while a caller still holds the object."""
        ...

    def refuse_offset_delete(self) -> ErrorCode:
        """Return the error of an OffsetDelete, or NONE (OD-1)."""
        ...

    def refuse_delete(self) -> ErrorCode:
        """Return the error of a DeleteGroups, or NONE (DG-1)."""
        ...

    def is_subscribed_to(self, topic: str) -> bool:
        """Return True if members subscribe to a topic, which protects its offsets from expiry and
        deletion (EXP-3, OD-2).
        """
        ...

    def commit_proves_life(self) -> bool:
        """Return True if a member's commit renews its session now (OC-7)."""
        ...

    def offsets_may_expire(self) -> bool:
        """Return True if offsets of this group may expire now (EXP-1)."""
        ...

    def offsets_unused_since_ms(self) -> int | None:
        """Return the instant at which the retention of all offsets begins; None: it begins at each
        commit (EXP-1).
        """
        ...


_TYPES: Final[Mapping[builtins.type, str]] = {
    ClassicGroup: "classic",
    ConsumerMembership: "consumer",
    ShareMembership: "share",
}


class Group:
    """One group, whose type is that of its membership. Only `evolve` writes it."""

    __slots__ = ("group_id", "membership", "offsets", "pending_offsets")

    def __init__(self, group_id: str, now: int, *, loading: bool = False) -> None:
        """Create a group without members and offsets. `loading`: it will be folded from durable
        events alone (ERR-7).
        """
        self.group_id = group_id
        self.membership: ClassicGroup | ConsumerMembership | ShareMembership = ClassicGroup(
            group_id, now, loading=loading
        )
        self.offsets = Offsets()
        self.pending_offsets = PendingOffsets()

    @property
    def classic(self) -> ClassicGroup:
        """The membership of a classic group."""
        membership = self.membership
        assert isinstance(membership, ClassicGroup), f"{self.group_id} is no classic group"
        return membership

    @property
    def is_classic(self) -> bool:
        """True for a classic group."""
        return isinstance(self.membership, ClassicGroup)

    @property
    def consumer(self) -> ConsumerMembership | None:
        """The membership of a consumer group; None for other types."""
        membership = self.membership
        return membership if isinstance(membership, ConsumerMembership) else None

    @property
    def share(self) -> ShareMembership | None:
        """The membership of a share group; None for other types."""
        membership = self.membership
        return membership if isinstance(membership, ShareMembership) else None

    @property
    def type(self) -> str:
        """The group's type, as ListGroups shows it."""
        return _TYPES[builtins.type(self.membership)]

    @property
    def state(self) -> object:
        """The membership's state; its `str` is the name on the wire."""
        return self.membership.state

    @property
    def generation(self) -> int | None:
        """The number of the current generation; None for other types of groups, which have epochs."""
        membership = self.membership
        return membership.generation if isinstance(membership, ClassicGroup) else None

    @property
    def members(self) -> Mapping[str, object]:
        """The members by id. The caller must not change them."""
        return self.membership.members

    def snapshot(self) -> dict[str, object]:
        """Return the group's whole hard state as plain values, not shared: equal snapshots mean
        equal groups.
        """
        return {
            **self.membership.snapshot(),
            "offsets": copy(self.offsets),
            "pending_offsets": copy(self.pending_offsets),
        }

    def __repr__(self) -> str:
        return f"Group({self.membership!r}, {len(self.offsets)} offsets)"
