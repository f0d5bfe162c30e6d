"""Events of a group's membership in the classic protocol.

Values only. Instants and durations are milliseconds. Events hold the outcome of every rule that
was applied (the new leader, a deadline), so that `evolve` needs no rule. GenerationStored and
GroupEmptied are durable: Kafka writes them (PST-1).
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

_Protocols = tuple[tuple[str, bytes], ...]


class MemberPending(NamedTuple):
    """A member id was generated and sent with MEMBER_ID_REQUIRED; the client must join with that id
    before the deadline (MID-3).
    """

    member_id: str
    client_id: str
    deadline_ms: int


class PendingMemberRemoved(NamedTuple):
    """A pending member id was removed: it expired, left, or was refused in a full group (MID-5,
    LV-2, SIZE-1).
    """

    member_id: str
    reason: str


class MemberJoined(NamedTuple):
    """A member was added; its JoinGroup is parked (JOIN-6)."""

    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocol_type: str
    protocols: _Protocols
    leader: str  # of the group, after this
    extends_delay: bool  # it came while the initial delay ran (DLY-2)


class MemberRejoined(NamedTuple):
    """A known member sent JoinGroup again; the request is parked, and its settings replace the
    former ones (JOIN-7).
    """

    member_id: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocols: _Protocols
    changed: bool  # its protocols differ from those it had


class MemberReplaced(NamedTuple):
    """A static member rejoined under a new member id; the old id is fenced (STA-2)."""

    member_id: str
    replaced: str  # the old id
    group_instance_id: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocols: _Protocols
    leader: str | None
    parked: bool  # False: answered at once, without a rebalance (STA-3)


class MemberRemoved(NamedTuple):
    """A member was removed from the group; `leader` is the leader after that (LEAD-2)."""

    member_id: str
    reason: str  # one of the constants below
    leader: str | None
    detail: str | None = None
    """The reason in a LeaveGroup (KIP-800), how long a silence lasted, or that no silence
    ended the session (`Removal.ENDED_BY_HAND`)."""


class LeaderElected(NamedTuple):
    """The leader did not rejoin, so another member became the leader (LEAD-3)."""

    member_id: str


class RebalanceStarted(NamedTuple):
    """The group went to PreparingRebalance; members have until the deadline to rejoin (REB-1)."""

    reason: str
    deadline_ms: int
    delay_ms: int | None  # length of the initial delay; None: not an initial rebalance (DLY-1)
    delay_remaining_ms: int


class DelayExtended(NamedTuple):
    """New members joined during the initial delay, so it starts again (DLY-2)."""

    deadline_ms: int
    delay_ms: int
    delay_remaining_ms: int


class JoinPhaseExtended(NamedTuple):
    """No member rejoined, but static members remain: the join phase waits once more (REB-5)."""

    deadline_ms: int


class GenerationStarted(NamedTuple):
    """The join phase ended: a new generation began with these members, which now have to send
    SyncGroup (REB-4, REB-6).
    """

    generation: int
    protocol_name: str
    leader: str
    members: tuple[str, ...]
    subscribed_topics: tuple[str, ...] | None
    deadline_ms: int  # to sync


class GroupEmptied(NamedTuple):
    """The join phase ended without members: the group is Empty, in a new generation (REB-4, LV-5)."""

    generation: int
    protocol_type: str | None
    subscribed_topics: tuple[str, ...] | None


class MemberSynced(NamedTuple):
    """A member sent its SyncGroup; it is parked until the leader's, or was answered with its
    assignment at once (SYNC-2).
    """

    member_id: str
    parked: bool


class StoredMember(NamedTuple):
    """A member as the group's record holds it: with the metadata of the selected protocol only
    (PST-1)."""

    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    subscription: bytes
    assignment: bytes


class GenerationStored(NamedTuple):
    """Membership and assignments were written: the leader synced, and the group is Stable (SYNC-3);
    or a static member was replaced in a Stable group without a rebalance (STA-3)."""

    generation: int
    protocol_type: str
    protocol_name: str
    leader: str | None
    members: tuple[StoredMember, ...]


class AssignmentRejected(NamedTuple):
    """The leader's assignment could not be written; parked syncs get the error and a rebalance
    follows (SYNC-3, ERR-2)."""

    error: int


class Removal:
    """Reasons of a removal of a member or of a pending member id."""

    LEFT: ClassVar[str] = "left"
    SESSION_EXPIRED: ClassVar[str] = "session expired"
    ENDED_BY_HAND: ClassVar[str] = "its session was ended by hand"
    NEVER_JOINED: ClassVar[str] = "first join never completed"
    DID_NOT_REJOIN: ClassVar[str] = "did not rejoin in time"
    DID_NOT_SYNC: ClassVar[str] = "did not sync in time"
    GROUP_FULL: ClassVar[str] = "group is full"
