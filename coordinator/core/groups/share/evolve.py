"""Fold of events into a share group's membership: its only writer. Contains no rule; every event
says the new state.

The membership is changed in place. All events are durable, so a load is the same fold from an
empty membership.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from coordinator.events.groups import share as ev
from coordinator.events.groups.consumer import TopicPartitions

from ..consumer.evolve import partitions_of
from .model import Member, ShareMembership, StatePartitions, recount


def evolve(group: ShareMembership, event: ev.ShareEvent, at: int) -> None:
    """Fold `event`, which happened at the instant `at`, into `group`."""
    _FOLDS[type(event)](group, event, at)


def _created(group: ShareMembership, event: ev.ShareGroupCreated, at: int) -> None:
    """Do nothing: the owner replaces the membership by a new one."""


def _subscribed(group: ShareMembership, event: ev.ShareMemberSubscribed, at: int) -> None:
    old = group.members.get(event.member_id)
    member = (old or Member(event.member_id))._replace(
        rack_id=event.rack_id,
        client_id=event.client_id,
        client_host=event.client_host,
        topics=frozenset(event.topics),
    )
    recount(group.subscribers, frozenset() if old is None else old.topics, member.topics)
    group.members[event.member_id] = member


def _removed(group: ShareMembership, event: ev.ShareMemberRemoved, at: int) -> None:
    group.targets.pop(event.member_id, None)
    group.renewals.pop(event.member_id, None)
    member = group.members.pop(event.member_id, None)
    if member is not None:  # not in a load, where nothing is left of it
        recount(group.subscribers, member.topics, frozenset())


def _bumped(group: ShareMembership, event: ev.ShareGroupEpochBumped, at: int) -> None:
    group.group_epoch = event.group_epoch
    group.metadata_hash = event.metadata_hash


def _assigned(group: ShareMembership, event: ev.ShareTargetAssigned, at: int) -> None:
    for member_id, topics in event.targets:
        group.targets[member_id] = partitions_of(topics)
    group.assignment_epoch = event.assignment_epoch
    group.assignment_ms = None if event.assignor is None else at


def _reconciled(group: ShareMembership, event: ev.ShareMemberReconciled, at: int) -> None:
    member = group.members.get(event.member_id) or Member(event.member_id)
    group.members[event.member_id] = member._replace(
        member_epoch=event.member_epoch,
        previous_epoch=event.previous_member_epoch,
        held=partitions_of(event.partitions),
    )


def _recorded(group: ShareMembership, event: ev.SharePartitionsRecorded, at: int) -> None:
    group.initializing = _kept(event.initializing, at)
    group.initialized = _kept(event.initialized, at)
    group.deleting = {of.topic_id: of.topic for of in event.deleting}
    if event.change != ev.Change.INITIALIZING:
        group.checked_version = None  # so the next heartbeat looks whether anything follows


def _kept(topics: Iterable[TopicPartitions], at: int) -> dict[bytes, StatePartitions]:
    return {of.topic_id: StatePartitions(of.topic, frozenset(of.partitions), at) for of in topics}


_FOLDS: dict[type, Callable[[ShareMembership, Any, int], None]] = {
    ev.ShareGroupCreated: _created,
    ev.ShareMemberSubscribed: _subscribed,
    ev.ShareMemberRemoved: _removed,
    ev.ShareGroupEpochBumped: _bumped,
    ev.ShareTargetAssigned: _assigned,
    ev.ShareMemberReconciled: _reconciled,
    ev.SharePartitionsRecorded: _recorded,
}
