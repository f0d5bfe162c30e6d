"""Events of a share group (KIP-932): past-tense values, the only thing that changes its membership.

All of them are durable: they hold what Kafka's records of keys 3, 10 to 13 and 15 hold, so a
coordinator that loads the group has every member with its epoch, its target and its partitions,
and knows for which share partitions the share coordinator keeps state. Topic ids are 16 bytes; a
topic's name stands beside its id for the reader of a log.
"""

from __future__ import annotations

from typing import NamedTuple

from .consumer import Target, TopicPartitions


class ShareGroupCreated(NamedTuple):
    """The group is a share group from now on, without members."""


class ShareMemberSubscribed(NamedTuple):
    """A member was added, or its subscription or another of its properties changed."""

    member_id: str
    rack_id: str | None
    client_id: str
    client_host: str
    topics: tuple[str, ...]


class ShareMemberRemoved(NamedTuple):
    """A member was removed from the group (SH-HB-3, SH-HB-4)."""

    member_id: str
    reason: str  # one of `Removal`
    detail: str | None = None  # as of `MemberRemoved`


class ShareGroupEpochBumped(NamedTuple):
    """Members, subscriptions, topics or initialised partitions changed, so a new target assignment
    must be computed (SH-HB-2).
    """

    group_epoch: int
    metadata_hash: int
    reason: str


class ShareTargetAssigned(NamedTuple):
    """The result of the assignor: the targets that changed. `assignor` None: no member is left, so
    no assignor was called.
    """

    assignment_epoch: int
    assignor: str | None
    targets: tuple[Target, ...]


class ShareMemberReconciled(NamedTuple):
    """A member took over its target: its epochs and its partitions. It revokes nothing first,
    because other members may have the same partitions (SH-HB-3).
    """

    member_id: str
    member_epoch: int
    previous_member_epoch: int
    partitions: tuple[TopicPartitions, ...]


class SharePartitionsRecorded(NamedTuple):
    """The share partitions whose state the share coordinator was asked to initialise
    (`initializing`), has initialised (`initialized`), and the topics whose state is being
    deleted (`deleting`) (SH-HB-2). `change` says what changed for `topics`.
    """

    change: str  # one of `Change`
    topics: tuple[TopicPartitions, ...]
    initializing: tuple[TopicPartitions, ...]
    initialized: tuple[TopicPartitions, ...]
    deleting: tuple[TopicPartitions, ...]


class Change:
    """The possible changes of share partitions' state."""

    INITIALIZING = "initializing"
    INITIALIZED = "initialized"
    REFUSED = "refused"
    DELETING = "deleting"
    DELETED = "deleted"


ShareEvent = (
    ShareGroupCreated
    | ShareMemberSubscribed
    | ShareMemberRemoved
    | ShareGroupEpochBumped
    | ShareTargetAssigned
    | ShareMemberReconciled
    | SharePartitionsRecorded
)
