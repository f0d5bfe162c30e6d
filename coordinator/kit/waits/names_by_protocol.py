"""Event types that mean the same in groups of different protocols: a member's removal is a
MemberRemoved in a classic group and a ConsumerMemberRemoved in a KIP-848 group.

A wait for an event type that the group cannot have is refused at once, with the right name.
`event_waits` asks this module.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from coordinator.core.groups.consumer.model import ConsumerMembership
from coordinator.core.groups.share.model import ShareMembership
from coordinator.events import groups
from coordinator.events.groups import classic, consumer, share
from coordinator.events.vocabulary import named

_CLASSIC, _CONSUMER, _SHARE = "classic", "consumer", "share"
_KINDS: Final = {
    _CLASSIC: "a classic group",
    _CONSUMER: "a group of the consumer protocol (KIP-848)",
    _SHARE: "a share group",
}


class _Called(NamedTuple):
    """The event types for one occurrence, by kind of group; None where it does not occur."""

    classic: type | None = None
    consumer: type | None = None
    share: type | None = None


_NAMES: Final = (
    _Called(groups.GroupCreated, consumer.ConsumerGroupCreated, share.ShareGroupCreated),
    _Called(classic.MemberJoined, consumer.ConsumerMemberSubscribed, share.ShareMemberSubscribed),
    _Called(classic.MemberRejoined, consumer.ConsumerMemberSubscribed, share.ShareMemberSubscribed),
    _Called(classic.MemberReplaced, consumer.ConsumerMemberReplaced),
    _Called(classic.MemberRemoved, consumer.ConsumerMemberRemoved, share.ShareMemberRemoved),
    _Called(classic.RebalanceStarted, consumer.GroupEpochBumped, share.ShareGroupEpochBumped),
    _Called(classic.GenerationStarted, consumer.GroupEpochBumped, share.ShareGroupEpochBumped),
    _Called(classic.GenerationStored, consumer.TargetAssigned, share.ShareTargetAssigned),
    _Called(classic.MemberSynced, consumer.ConsumerMemberReconciled, share.ShareMemberReconciled),
    _Called(classic.MemberPending),
    _Called(classic.PendingMemberRemoved),
    _Called(classic.LeaderElected),
    _Called(classic.DelayExtended),
    _Called(classic.JoinPhaseExtended),
    _Called(classic.GroupEmptied),
    _Called(classic.AssignmentRejected),
    _Called(consumer=consumer.AssignmentFailed),
    _Called(consumer=consumer.PreviousEpochAccepted),
    _Called(consumer=consumer.FormerInstanceIdKept),
    _Called(consumer=consumer.TopicRegexResolved),
    _Called(consumer=consumer.TopicRegexForgotten),
    _Called(share=share.SharePartitionsRecorded),
)


def other_name(kind: str, has: str) -> str:
    """Return a sentence with the name of an event in a group of this type; "" if a line of the
    group can have the given name. `has`: classic, consumer or share."""
    types = {found.kind for found in named(kind)}
    rows = [row for row in _NAMES if types & set(row)]
    if types - {each for row in rows for each in row}:
        return ""  # the name stands in another stream, too
    if not rows or any(getattr(row, has) in types for row in rows):
        return ""
    meant = list(
        dict.fromkeys(each.__name__ for row in rows if (each := getattr(row, has)) is not None)
    )
    if meant:
        return f"{kind} never happens to {_KINDS[has]}; the equivalent is {' or '.join(meant)}"
    return f"{kind} never happens to {_KINDS[has]}, which has nothing similar"


def refused(membership: object, kind: str) -> str:
    """Return why no event of this type can come while the group's membership is this one; "" if one
    can.

    A group without members, or with members of the classic protocol, may still become a group of
    another kind, so nothing is refused for it.
    """
    if isinstance(membership, ConsumerMembership):
        settled = bool(membership.members) and not membership.classic_members
        return other_name(kind, _CONSUMER) if settled else ""
    if isinstance(membership, ShareMembership):
        return other_name(kind, _SHARE) if membership.members else ""
    return ""
