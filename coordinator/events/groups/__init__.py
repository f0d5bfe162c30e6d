"""Events of a group: past-tense values, and the only thing that changes a group.

Instants and durations are milliseconds. A durable event is one that Kafka writes to
__consumer_offsets: a coordinator that loads a group folds those alone (PST-1, ERR-7);
explanation and replay fold all of them. Events hold the outcome of every rule that was applied
(the new leader, a deadline), so that folding them needs no rule.
"""

from __future__ import annotations

from typing import NamedTuple, get_args

from .classic import (
    AssignmentRejected,
    DelayExtended,
    GenerationStarted,
    GenerationStored,
    GroupEmptied,
    JoinPhaseExtended,
    LeaderElected,
    MemberJoined,
    MemberPending,
    MemberRejoined,
    MemberRemoved,
    MemberReplaced,
    MemberSynced,
    PendingMemberRemoved,
    RebalanceStarted,
    Removal,
    StoredMember,
)
from .consumer import AssignmentFailed, ConsumerEvent, PreviousEpochAccepted
from .offsets import (
    CommittedOffset,
    OffsetsCommitted,
    OffsetsPending,
    OffsetsRemoved,
    PendingOffsetsEnded,
)
from .share import ShareEvent

__all__ = [
    "DATED",
    "DURABLE",
    "AssignmentRejected",
    "CommittedOffset",
    "ConsumerEvent",
    "DelayExtended",
    "Event",
    "GenerationStarted",
    "GenerationStored",
    "GroupCreated",
    "GroupDeleted",
    "GroupEmptied",
    "GroupLoaded",
    "GroupUnloaded",
    "JoinPhaseExtended",
    "LeaderElected",
    "MemberJoined",
    "MemberPending",
    "MemberRejoined",
    "MemberRemoved",
    "MemberReplaced",
    "MemberSynced",
    "OffsetsCommitted",
    "OffsetsPending",
    "OffsetsRemoved",
    "PendingMemberRemoved",
    "PendingOffsetsEnded",
    "RebalanceStarted",
    "Removal",
    "ShareEvent",
    "StoredMember",
]


class GroupCreated(NamedTuple):
    """A group was created, Empty: by a JoinGroup without member id or by a commit without
    generation (JOIN-1, OC-1).
    """

    by: str  # "join" or "commit"


class GroupDeleted(NamedTuple):
    """The group and its offsets were deleted: by DeleteGroups, or by a cleanup because it was Empty
    without offsets (DG-1, EXP-6).
    """

    reason: str


class GroupUnloaded(NamedTuple):
    """The coordinator lost the group's partition: parked requests are answered with NOT_COORDINATOR
    (ERR-6).
    """

    error: int


class GroupLoaded(NamedTuple):
    """A coordinator loaded the group and restarted all its members' sessions (ERR-7)."""

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
    | ConsumerEvent
    | ShareEvent
)

#: The events that Kafka writes down; a load folds only these (PST-1, PST-5, ERR-7).
DURABLE: frozenset[type] = frozenset(
    {
        GroupCreated,
        GenerationStored,
        GroupEmptied,
        OffsetsCommitted,
        OffsetsPending,
        PendingOffsetsEnded,
        OffsetsRemoved,
        GroupDeleted,
        *get_args(ConsumerEvent),
        *get_args(ShareEvent),
    }
) - {AssignmentFailed, PreviousEpochAccepted}
#: The events that are folded at the instant that the wall clock of the broker's host tells: it
#: jumps, and offsets expire by it (EXP-1).
DATED: frozenset[type] = frozenset({OffsetsCommitted, OffsetsPending, GroupEmptied})
