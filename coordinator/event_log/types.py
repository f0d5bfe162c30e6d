"""The types of lines that a log can have, by stream; those that verbs write are of the table of
verbs. docs/event_log.md says what each means; a test compares this list with it."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Final

from ..verbs import ROWS

TYPES: Final[dict[str, tuple[str, ...]]] = {
    "run": ("RunStarted",),
    "group": (
        "GroupCreated",
        "MemberPending",
        "PendingMemberRemoved",
        "MemberJoined",
        "MemberRejoined",
        "MemberReplaced",
        "MemberRemoved",
        "LeaderElected",
        "RebalanceStarted",
        "DelayExtended",
        "JoinPhaseExtended",
        "GenerationStarted",
        "GroupEmptied",
        "MemberSynced",
        "GenerationStored",
        "AssignmentRejected",
        "OffsetsCommitted",
        "OffsetsPending",
        "PendingOffsetsEnded",
        "OffsetsRemoved",
        "GroupDeleted",
        "GroupUnloaded",
        "GroupLoaded",
        "ConsumerGroupCreated",
        "MembershipReset",
        "ConsumerGroupUpgraded",
        "ConsumerGroupDowngraded",
        "ConsumerMemberSubscribed",
        "ConsumerMemberReplaced",
        "FormerInstanceIdKept",
        "ConsumerMemberRemoved",
        "GroupEpochBumped",
        "TargetAssigned",
        "AssignmentFailed",
        "PreviousEpochAccepted",
        "ConsumerMemberReconciled",
        "TopicRegexResolved",
        "TopicRegexForgotten",
        "ShareGroupCreated",
        "ShareMemberSubscribed",
        "ShareMemberRemoved",
        "ShareGroupEpochBumped",
        "ShareTargetAssigned",
        "ShareMemberReconciled",
        "SharePartitionsRecorded",
    ),
    "coordinator": (
        "PartitionsUnloaded",
        "PartitionsLoading",
        "PartitionsLoaded",
        "PartitionsEmptied",
        "LogTruncated",
        "ShareStatesUnloaded",
        "ShareStatesLoading",
        "ShareStatesLoaded",
        "ShareStatesEmptied",
        "CoordinatorStopped",
    ),
    "transaction": (
        "ProducerInitialized",
        "PartitionsEnlisted",
        "TransactionPrepared",
        "TransactionCompleted",
        "TransactionalIdExpired",
        "TransactionalIdDeleted",
    ),
    "share": (
        "SharePartitionOpened",
        "RecordsAcquired",
        "RecordsAcknowledged",
        "AcknowledgementWaited",
        "RecordsReleased",
        "RecordsArchived",
        "DeadLettersWritten",
        "SharePartitionClosed",
        "ShareStateSnapshotted",
        "ShareStateUpdated",
        "ShareStateDeleted",
    ),
    "wire": (
        "RequestSeen",
        "RequestAnswered",
        "RequestRefused",
        "ConnectionRefused",
        "Authenticated",
        "AuthenticationFailed",
        "AuthorizationRefused",
        "ClientThrottled",
        "TopicAutoCreated",
        "ApiNotServed",
        "InternalTopicRead",
        "LogGap",
    ),
    "cluster": (
        "TopicCreated",
        "TopicDeleted",
        "PartitionsAdded",
        "BrokerRegistered",
        "BrokerUnfenced",
        "BrokerFenced",
        "BrokerShutdownStarted",
        "BrokerUnregistered",
        "ControllerElected",
        "ControllerLost",
        "LeaderElected",
        "LeaderLost",
        "IsrShrunk",
        "IsrExpanded",
        "ElrChanged",
        "ReassignmentProgressed",
        "ReassignmentStep",
        "DeletionPostponed",
        "ReassignmentStarted",
        "ReassignmentCompleted",
        "ReassignmentCancelled",
        "ReplicasReordered",
        "FeatureChanged",
        "ConfigChanged",
        "AclsCreated",
        "AclsDeleted",
    ),
    "member": (
        "PartitionsAssigned",
        "PartitionsRevoked",
        "PartitionsLost",
        "MemberStarted",
        "MemberClosing",
        "MemberClosed",
        "MemberCrashed",
        "MemberFailed",
        "ApplicationStalled",
        "ApplicationResumed",
        "RecordsPolled",
        "RecordsProcessed",
        "PositionReset",
        "Rewound",
        "CommitEnded",
        "SharedRecordsPolled",
        "AcknowledgementsEnded",
        "RequestRepeated",
        "ProducerStarted",
        "ProducerClosing",
        "ProducerClosed",
        "ProducerCrashed",
        "ProducerFailed",
        "RecordsSent",
        "RecordsDelivered",
        "TransactionEnded",
    ),
    "fault": (
        "FaultInjected",
        "SnapshotRestored",
        "RequestFaultBegan",
        "RequestFaultEnded",
        "FaultSkipped",
        "RunEnded",
        *(kind for row in ROWS.values() for kind in row.lines),
    ),
    "data": (
        "RecordsAppended",
        "RecordsServed",
        "MarkerWritten",
        "ConnectionOpened",
        "ConnectionClosed",
    ),
}


def unknown_type(kind: str, stream: str | None = None) -> str:
    """Why no line can be of this type, of this stream if one is given, and what is meant instead;
    "" if one can."""
    known = [name for each, names in TYPES.items() if stream in (None, each) for name in names]
    if kind in known:
        return ""
    elsewhere = [each for each, names in TYPES.items() if kind in names]
    if elsewhere:
        return f"{kind} is a line of the stream {elsewhere[0]}, not of {stream}"
    by_lower = {name.lower(): name for name in known}
    close = [by_lower[name] for name in get_close_matches(kind.lower(), by_lower, 3)]
    told = (
        f"did you mean {', '.join(close)}?"
        if close
        else f"such as {', '.join(known[:6])}; docs/event_log.md has all"
    )
    return (
        f"{kind!r} is no type of line{'' if stream is None else f' of the stream {stream}'}: {told}"
    )
