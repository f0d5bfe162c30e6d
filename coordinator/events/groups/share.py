"""Events of a share group (KIP-932): past-tense values, the only thing that changes
its membership.

All of them are durable: they say what Kafka's records of keys 3, 10 to 13 and
15 say, so a coordinator that loads the group has every member with its epoch, its target and its
partitions, and knows of which share partitions the share coordinator keeps state. Topic ids are 16
bytes; a topic's name stands beside its id for the reader of a log.
"""

from __future__ import annotations

from typing import NamedTuple

from .consumer import Target, TopicPartitions


class ShareGroupCreated(NamedTuple):
    """The group is a share group from now on, without members."""


class ShareMemberSubscribed(NamedTuple):
    """A member is new, or what it said about itself changed."""

    member_id: str
    rack_id: str | None
    client_id: str
    client_host: str
    topics: tuple[str, ...]


class ShareMemberRemoved(NamedTuple):
    """A member was taken out of the group (SH-HB-3, SH-HB-4)."""

    member_id: str
    reason: str  # one of `Removal`


class ShareGroupEpochBumped(NamedTuple):
    """Members, subscriptions, topics or initialised partitions changed, so a new target assignment is
    due (SH-HB-2)."""

    group_epoch: int
    metadata_hash: int
    reason: str


class ShareTargetAssigned(NamedTuple):
    """The assignor's answer: the targets that changed. `assignor` None: nobody is left, so no
    assignor was asked."""

    assignment_epoch: int
    assignor: str | None
    targets: tuple[Target, ...]


class ShareMemberReconciled(NamedTuple):
    """A member took over its target: its epochs and its partitions. It revokes nothing first, for
    other members may have the same partitions (SH-HB-3)."""

    member_id: str
    member_epoch: int
    previous_member_epoch: int
    partitions: tuple[TopicPartitions, ...]


class SharePartitionsRecorded(NamedTuple):
    """Of which share partitions the share coordinator was asked to make state, of which it did, and
    of which topics it is asked to delete it (SH-HB-2). `change` says what is new, of `topics`."""

    change: str  # one of `Change`
    topics: tuple[TopicPartitions, ...]
    initializing: tuple[TopicPartitions, ...]
    initialized: tuple[TopicPartitions, ...]
    deleting: tuple[TopicPartitions, ...]


class Change:
    """The change of share partitions' state."""

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
