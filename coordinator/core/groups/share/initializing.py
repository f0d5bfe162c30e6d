"""Initialization of share partitions: for which ones the share coordinator keeps state on behalf of
a group (SH-HB-2).

Owns which share partitions are new at a heartbeat, the effect of the share coordinator's answer,
and the removal when a topic is deleted. Does not know how the share coordinator is asked.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from coordinator.events.groups.consumer import TopicPartitions
from coordinator.events.groups.share import Change, SharePartitionsRecorded

from ..consumer.environment import Topics
from ..consumer.java_order import uuid_order
from ..consumer.subscription import existing
from .environment import ShareEnvironment
from .model import ShareMembership, StatePartitions
from .requests import Initialization

Kept = Mapping[bytes, StatePartitions]


class Wanted(NamedTuple):
    """A due initialization: the event that records it, and the request to the share coordinator."""

    event: SharePartitionsRecorded
    initialize: Initialization


def wanted(
    group: ShareMembership,
    subscribed: Collection[str],
    group_epoch: int,
    now: int,
    environment: ShareEnvironment,
) -> Wanted | None:
    """Return the initialization of those partitions of subscribed topics that are neither
    initialized nor requested lately, or None.
    """
    topics = environment.topics
    lately = now - environment.initialize_retry_interval_ms
    new: dict[bytes, StatePartitions] = {}
    for name in existing(subscribed, topics):
        topic_id = topics.topic_id(name)
        assert topic_id is not None, f"{name} exists"
        count = topics.partition_count(topic_id)
        done = group.initialized.get(topic_id)
        asked = group.initializing.get(topic_id)
        known = frozenset() if done is None else done.partitions
        if asked is not None and asked.since_ms > lately:
            known |= asked.partitions
        if len(known) < count:
            missing = frozenset(range(count)) - known
            new[topic_id] = StatePartitions(name, missing, now)
    if not new:
        return None
    initializing = dict(group.initializing)
    for topic_id, of in new.items():
        before = initializing.get(topic_id)
        both = of.partitions if before is None else of.partitions | before.partitions
        initializing[topic_id] = of._replace(partitions=both)
    event = _recorded(Change.INITIALIZING, new, initializing, group.initialized, group)
    grown = frozenset(new.keys() & group.initialized.keys())
    return Wanted(event, Initialization(group.group_id, group_epoch, event.topics, grown))


def answered(
    group: ShareMembership, topics: Collection[TopicPartitions], *, initialized: bool, now: int
) -> SharePartitionsRecorded | None:
    """Return the event for the share coordinator's answer; None if the group no longer waits for
    these partitions.
    """
    known: dict[bytes, StatePartitions] = {}
    for of in topics:
        asked = group.initializing.get(of.topic_id)
        if asked is not None and (numbers := asked.partitions.intersection(of.partitions)):
            known[of.topic_id] = StatePartitions(of.topic, numbers, now)
    if not known:
        return None
    initializing, done = dict(group.initializing), dict(group.initialized)
    for topic_id, of_topic in known.items():
        left = initializing[topic_id].partitions - of_topic.partitions
        if left:
            initializing[topic_id] = initializing[topic_id]._replace(partitions=left)
        else:
            del initializing[topic_id]
        if initialized:
            before = done.get(topic_id)
            both = (
                of_topic.partitions if before is None else of_topic.partitions | before.partitions
            )
            done[topic_id] = of_topic._replace(partitions=both)
    change = Change.INITIALIZED if initialized else Change.REFUSED
    return _recorded(change, known, initializing, done, group)


def added(
    group: ShareMembership, topics: Collection[TopicPartitions], now: int
) -> SharePartitionsRecorded:
    """Return the event for partitions whose state exists without the group's request, because their
    offsets were set (SH-OFF-3).
    """
    known = {of.topic_id: StatePartitions(of.topic, frozenset(of.partitions), now) for of in topics}
    done = dict(group.initialized)
    for topic_id, of_topic in known.items():
        before = done.get(topic_id)
        both = of_topic.partitions if before is None else of_topic.partitions | before.partitions
        done[topic_id] = of_topic._replace(partitions=both)
    return _recorded(Change.INITIALIZED, known, group.initializing, done, group)


def deleting(
    group: ShareMembership, topic_ids: Collection[bytes]
) -> SharePartitionsRecorded | None:
    """Return the event before the state of topics is deleted, which are assigned to no member from
    then on; None if there is no such state.
    """
    known = _known(group, topic_ids)
    if not known:
        return None
    names = group.deleting | {topic_id: of.topic for topic_id, of in known.items()}
    return _without(Change.DELETING, known, names, group)


def forgotten(
    group: ShareMembership, topic_ids: Collection[bytes]
) -> SharePartitionsRecorded | None:
    """Return the event after the state of topics was deleted, or None if the group has none of
    them.
    """
    known = _known(group, topic_ids)
    names = dict(group.deleting)
    for topic_id in topic_ids:
        name = names.pop(topic_id, None)
        if name is not None:
            known.setdefault(topic_id, StatePartitions(name, frozenset(), 0))
    return _without(Change.DELETED, known, names, group) if known else None


def gone(
    group: ShareMembership, names: Collection[str], topics: Topics
) -> SharePartitionsRecorded | None:
    """Return the event after topics of these names were deleted, or None if the group has none of
    them. A topic created again under the name is another one.
    """
    known = {
        t: of.topic for kept in (group.initialized, group.initializing) for t, of in kept.items()
    }
    known |= group.deleting
    ids = [t for t, name in known.items() if name in names and topics.topic_name(t) is None]
    return forgotten(group, ids)


def _known(group: ShareMembership, topic_ids: Collection[bytes]) -> dict[bytes, StatePartitions]:
    known: dict[bytes, StatePartitions] = {}
    for topic_id in topic_ids:
        for kept in (group.initialized, group.initializing):
            of, before = kept.get(topic_id), known.get(topic_id)
            if of is not None:
                both = of.partitions if before is None else of.partitions | before.partitions
                known[topic_id] = of._replace(partitions=both)
    return known


def _without(
    change: str, topics: Kept, names: Mapping[bytes, str], group: ShareMembership
) -> SharePartitionsRecorded:
    return SharePartitionsRecorded(
        change,
        told(topics),
        told({t: of for t, of in group.initializing.items() if t not in topics}),
        told({t: of for t, of in group.initialized.items() if t not in topics}),
        _named(names),
    )


def all_known(group: ShareMembership) -> tuple[TopicPartitions, ...]:
    """Return all share partitions for which the share coordinator keeps state, or may."""
    return told(_known(group, [*group.initialized, *group.initializing]))


def is_assignment_pending(group: ShareMembership) -> bool:
    """Return True if initialized partitions are in no member's target, so that a new target is due
    (SH-HB-2).
    """
    if not group.members or not group.subscribers:
        return False
    assigned: dict[bytes, set[int]] = {}
    for target in group.targets.values():
        for topic_id, numbers in target.items():
            assigned.setdefault(topic_id, set()).update(numbers)
    return any(
        assigned.get(topic_id, frozenset()) != of.partitions
        for topic_id, of in group.initialized.items()
        if of.topic in group.subscribers
    )


def told(kept: Kept) -> tuple[TopicPartitions, ...]:
    """Return partitions in the event's form."""
    return tuple(
        TopicPartitions(kept[topic_id].topic, topic_id, tuple(sorted(kept[topic_id].partitions)))
        for topic_id in uuid_order(sorted(kept))
    )


def _recorded(
    change: str, topics: Kept, initializing: Kept, initialized: Kept, group: ShareMembership
) -> SharePartitionsRecorded:
    return SharePartitionsRecorded(
        change,
        told(topics),
        told(initializing),
        told(initialized),
        _named(group.deleting),
    )


def _named(names: Mapping[bytes, str]) -> tuple[TopicPartitions, ...]:
    return told({t: StatePartitions(name, frozenset(), 0) for t, name in names.items()})
