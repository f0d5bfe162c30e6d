"""What can have happened to a group: a handful of past-tense values. They are the only thing that changes a group.

Instants and durations are milliseconds. A durable event is one that Kafka writes to __consumer_offsets: a coordinator that
loads a group sees those alone (PST-1, ERR-7); explanation and replay fold all of them. Events hold the outcome of every
rule that was applied (who leads now, until when), so that folding them needs no rule.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

_Protocols = tuple[tuple[str, bytes], ...]


class GroupCreated(NamedTuple):
    """A group came to be, Empty: by a JoinGroup without member id or by a commit without generation (JOIN-1, OC-1)."""

    by: str  # "join" or "commit"


class MemberPending(NamedTuple):
    """An id was minted and sent back with MEMBER_ID_REQUIRED; it must join with that id before the deadline (MID-3)."""

    member_id: str
    client_id: str
    deadline_ms: int


class PendingMemberRemoved(NamedTuple):
    """A pending id was taken back: it expired, left, or was refused in a full group (MID-5, LV-2, SIZE-1)."""

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
    """A known member asked to join again; its JoinGroup is parked and replaces what it said before (JOIN-7)."""

    member_id: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocols: _Protocols
    changed: bool  # its protocols differ from those it had


class MemberReplaced(NamedTuple):
    """A static member came back under a new id; the old id is fenced (STA-2)."""

    member_id: str
    replaced: str  # the old id
    group_instance_id: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocols: _Protocols
    leader: str | None
    parked: bool  # False: answered at once, without a rebalance (STA-3)


class MemberRemoved(NamedTuple):
    """A member was taken out of the group; `leader` is who leads after that (LEAD-2)."""

    member_id: str
    reason: str  # one of the constants below
    leader: str | None
    detail: str | None = None  # what a LeaveGroup gave as its reason (KIP-800), or how long a silence lasted


class LeaderElected(NamedTuple):
    """The leader did not rejoin, so another member leads (LEAD-3)."""

    member_id: str


class RebalanceStarted(NamedTuple):
    """The group went to PreparingRebalance; members have until the deadline to rejoin (REB-1)."""

    reason: str
    deadline_ms: int
    delay_ms: int | None  # length of the initial delay; None: not an initial rebalance (DLY-1)
    delay_remaining_ms: int


class DelayExtended(NamedTuple):
    """New members came during the initial delay, so it runs once more (DLY-2)."""

    deadline_ms: int
    delay_ms: int
    delay_remaining_ms: int


class JoinPhaseExtended(NamedTuple):
    """Nobody rejoined but static members stay: the join phase waits once more (REB-5)."""

    deadline_ms: int


class GenerationStarted(NamedTuple):
    """The join phase ended: a new generation with these members, which now have to sync (REB-4, REB-6)."""

    generation: int
    protocol_name: str
    leader: str
    members: tuple[str, ...]
    subscribed_topics: tuple[str, ...] | None
    deadline_ms: int  # to sync


class GroupEmptied(NamedTuple):
    """The join phase ended with no member: the group is Empty, in a new generation (REB-4, LV-5)."""

    generation: int
    protocol_type: str | None
    subscribed_topics: tuple[str, ...] | None


class MemberSynced(NamedTuple):
    """A member sent its SyncGroup; it waits for the leader's, or had its assignment at once (SYNC-2)."""

    member_id: str
    parked: bool


class StoredMember(NamedTuple):
    """A member as the group's record holds it: with the metadata of the selected protocol only (PST-1)."""

    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    subscription: bytes
    assignment: bytes


class GenerationStored(NamedTuple):
    """Membership and assignments were written: the leader synced, and the group is Stable (SYNC-3); or a static member
    was replaced in a Stable group without a rebalance (STA-3)."""

    generation: int
    protocol_type: str
    protocol_name: str
    leader: str | None
    members: tuple[StoredMember, ...]


class AssignmentRejected(NamedTuple):
    """The leader's assignment could not be written; parked syncs get the error and a rebalance follows (SYNC-3, ERR-2)."""

    error: int


class CommittedOffset(NamedTuple):
    """One partition's part of a commit. `expire_ms` None: kept as long as the group's retention says (OC-8)."""

    topic: str
    partition: int
    offset: int
    leader_epoch: int
    metadata: str
    expire_ms: int | None


class OffsetsCommitted(NamedTuple):
    """Offsets were committed by a member ("" for a client without membership) (OC-7, OC-8)."""

    member_id: str
    offsets: tuple[CommittedOffset, ...]


class OffsetsPending(NamedTuple):
    """Offsets were committed within a transaction of a producer: they count for nothing until it ends (TXN-5)."""

    member_id: str
    producer_id: int
    offsets: tuple[CommittedOffset, ...]


class PendingOffsetsEnded(NamedTuple):
    """A producer's transaction ended. `partitions`: those whose pending offsets are the committed ones now; of an aborted
    transaction none, of a committed one those that no later commit had overtaken (TXN-5)."""

    producer_id: int
    committed: bool
    partitions: tuple[tuple[str, int], ...]


class OffsetsRemoved(NamedTuple):
    """Committed and pending offsets went: expired, deleted by OffsetDelete, or their topic is gone (EXP-2, OD-2, EXP-7, TXN-7)."""

    reason: str
    partitions: tuple[tuple[str, int], ...]


class GroupDeleted(NamedTuple):
    """The group and its offsets are gone: by DeleteGroups, or Empty without offsets at a cleanup (DG-1, EXP-6)."""

    reason: str


class GroupUnloaded(NamedTuple):
    """The coordinator lost the group's partition: parked requests get NOT_COORDINATOR (ERR-6)."""

    error: int


class GroupLoaded(NamedTuple):
    """A coordinator took the group over and re-armed all its members' sessions (ERR-7)."""

    state: str
    generation: int


Event = (
    GroupCreated
    | MemberPending
    | PendingMemberRemoved
    | MemberJoined
    | MemberRejoined
    | MemberReplaced
    | MemberRemoved
    | LeaderElected
    | RebalanceStarted
    | DelayExtended
    | JoinPhaseExtended
    | GenerationStarted
    | GroupEmptied
    | MemberSynced
    | GenerationStored
    | AssignmentRejected
    | OffsetsCommitted
    | OffsetsPending
    | PendingOffsetsEnded
    | OffsetsRemoved
    | GroupDeleted
    | GroupUnloaded
    | GroupLoaded
)

#: The events that Kafka writes down; a load folds only these (PST-1, PST-5, ERR-7).
DURABLE: frozenset[type] = frozenset({
    GroupCreated, GenerationStored, GroupEmptied, OffsetsCommitted, OffsetsPending, PendingOffsetsEnded, OffsetsRemoved, GroupDeleted,
})  # fmt: skip


class Removal:
    """Why a member or a pending id was removed."""

    LEFT: ClassVar[str] = "left"
    SESSION_EXPIRED: ClassVar[str] = "session expired"
    NEVER_JOINED: ClassVar[str] = "first join never completed"
    DID_NOT_REJOIN: ClassVar[str] = "did not rejoin in time"
    DID_NOT_SYNC: ClassVar[str] = "did not sync in time"
    GROUP_FULL: ClassVar[str] = "group is full"
