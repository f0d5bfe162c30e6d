"""What a timeline is made of: groups, members, rebalances and notes, as plain records. Folding them is `timeline`'s business."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..wire.consumer_protocol import Subscription
from .reader import Line
from .words import short_name

Partitions = dict[str, tuple[int, ...]]
"""Partition numbers by topic."""


@dataclass(slots=True)
class MemberView:
    """A member, as far as the log has shown it."""

    member_id: str
    name: str
    client_id: str = ""
    client_host: str = ""
    group_instance_id: str | None = None
    subscription: Subscription | None = None
    assignment: Partitions | None = None  # None: none yet, or bytes that are no assignment of a consumer
    seen_ms: int = 0
    seen_by: str = ""  # what it was last seen by


@dataclass(slots=True)
class Change:
    """One thing that happened to the membership: why a rebalance began, or what came in its course."""

    seq: int
    at_ms: int
    kind: str  # the event's type
    members: list[str]  # short names
    line: Line
    note: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Share:
    """What one member has in a generation, and how that differs from what it had before."""

    name: str
    member_id: str
    partitions: Partitions | None
    bytes: int
    added: Partitions
    revoked: Partitions


@dataclass(slots=True)
class Rebalance:
    """The way to one generation. Instants are None as long as they have not come."""

    group: str
    seq: int
    started_ms: int
    trigger: Change
    reason: str
    state_before: str
    delay_ms: int | None
    causes: list[Line]
    changes: list[Change] = field(default_factory=list)
    generation: int | None = None
    generation_ms: int | None = None
    stored_ms: int | None = None
    ended_ms: int | None = None  # when the next rebalance began, or the group went
    outcome: str = "joining"  # then: syncing, stable; or empty, interrupted, lost
    leader: str | None = None
    assignor: str | None = None
    members: list[str] = field(default_factory=list)
    shares: list[Share] = field(default_factory=list)


@dataclass(slots=True)
class Note:
    """Something worth telling that is no part of a rebalance."""

    at_ms: int
    seq: int
    kind: str
    generation: int
    members: list[str]
    line: Line


@dataclass(slots=True)
class GroupView:
    """A group's timeline so far. `entries` is its story in order."""

    group: str
    created_ms: int
    state: str = "Empty"
    given_up_as: str = ""  # its state when a coordinator gave it up, while it is Dead for that reason
    generation: int = 0
    leader: str | None = None
    assignor: str | None = None
    protocol_type: str | None = None
    members: dict[str, MemberView] = field(default_factory=dict)
    entries: list[Rebalance | Note] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    stored: frozenset[str] = frozenset()  # the members that a coordinator which loads the group will find
    commits: int = 0
    rearmed: tuple[int, str] = (0, "")  # when all sessions began anew, and at what
    waiting: list[Change] = field(default_factory=list)  # changes that no rebalance has taken up yet

    @property
    def rebalances(self) -> list[Rebalance]:
        """The rebalances, in order."""
        return [entry for entry in self.entries if isinstance(entry, Rebalance)]

    @property
    def current(self) -> Rebalance | None:
        """The last rebalance."""
        return next((entry for entry in reversed(self.entries) if isinstance(entry, Rebalance)), None)

    def name(self, member_id: str | None) -> str | None:
        """A member's short name, unlike all others of the group."""
        if member_id is None:
            return None
        if member_id not in self.names:
            self.names[member_id] = short_name(member_id, self.names.values())
        return self.names[member_id]

    def member(self, member_id: str) -> MemberView:
        """A member; one that the log did not introduce is made up from its id."""
        if member_id not in self.members:
            self.members[member_id] = MemberView(member_id, self.name(member_id) or "")
        return self.members[member_id]
