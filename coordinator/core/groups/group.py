"""Group: a group id, the group's offsets, and its membership. Only `evolve` writes it.

Offsets belong to the group whatever protocol its members speak, so a group keeps them when its
membership is replaced by one of another protocol. What a group needs to know of its membership is
the `Membership` protocol; every kind of membership answers it for itself.
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
    """Facts that a group's offsets and its administration need of a membership, whatever its
    protocol."""

    def is_dead(self) -> bool:
        """True if the group was unloaded or deleted while somebody held on to it."""
        ...

    def refuse_offset_delete(self) -> ErrorCode:
        """NONE if offsets of this group may be deleted (OD-1)."""
        ...

    def refuse_delete(self) -> ErrorCode:
        """NONE if the group may be deleted (DG-1)."""
        ...

    def is_subscribed_to(self, topic: str) -> bool:
        """True if members subscribe to a topic, which keeps its offsets from expiring and from
        deletion (EXP-3, OD-2)."""
        ...

    def commit_proves_life(self) -> bool:
        """True if a member's commit renews its session now (OC-7)."""
        ...

    def offsets_may_expire(self) -> bool:
        """True if offsets of this group may expire at all now (EXP-1)."""
        ...

    def offsets_unused_since_ms(self) -> int | None:
        """The instant since which the retention of all offsets counts; None: each counts from its
        commit (EXP-1)."""
        ...


_TYPES: Final[Mapping[builtins.type, str]] = {
    ClassicGroup: "classic",
    ConsumerMembership: "consumer",
    ShareMembership: "share",
}


class Group:
    """One group. `evolve` is its only writer."""

    __slots__ = ("group_id", "membership", "offsets", "pending_offsets")

    def __init__(self, group_id: str, now: int, *, loading: bool = False) -> None:
        """A group without members and offsets. `loading`: it is about to be folded from durable
        events alone (ERR-7)."""
        self.group_id = group_id
        self.membership: ClassicGroup | ConsumerMembership | ShareMembership = ClassicGroup(
            group_id, now, loading=loading
        )
        self.offsets = Offsets()
        self.pending_offsets = PendingOffsets()

    @property
    def classic(self) -> ClassicGroup:
        """The membership of a group of the classic protocol."""
        membership = self.membership
        assert isinstance(membership, ClassicGroup), f"{self.group_id} is no classic group"
        return membership

    @property
    def is_classic(self) -> bool:
        """True if it is a group of the classic protocol."""
        return isinstance(self.membership, ClassicGroup)

    @property
    def consumer(self) -> ConsumerMembership | None:
        """The membership of a consumer group; None if the group is of another type."""
        membership = self.membership
        return membership if isinstance(membership, ConsumerMembership) else None

    @property
    def share(self) -> ShareMembership | None:
        """The membership of a share group; None if the group is of another type."""
        membership = self.membership
        return membership if isinstance(membership, ShareMembership) else None

    @property
    def type(self) -> str:
        """The group's type, as ListGroups shows it."""
        return _TYPES[builtins.type(self.membership)]

    @property
    def state(self) -> object:
        """The membership's state; `str` of it is the name on the wire."""
        return self.membership.state

    @property
    def generation(self) -> int | None:
        """The number of the current membership agreement; None in groups of other types, which have
        epochs instead."""
        membership = self.membership
        return membership.generation if isinstance(membership, ClassicGroup) else None

    @property
    def members(self) -> Mapping[str, object]:
        """Members by id. Not to be changed by the caller."""
        return self.membership.members

    def snapshot(self) -> dict[str, object]:
        """The group's whole hard state as plain values, shared with nobody: equal snapshots mean
        equal groups."""
        return {
            **self.membership.snapshot(),
            "offsets": copy(self.offsets),
            "pending_offsets": copy(self.pending_offsets),
        }

    def __repr__(self) -> str:
        return f"Group({self.membership!r}, {len(self.offsets)} offsets)"
