"""Fold of events into a consumer group's membership: its only writer. Contains no rule; every event
says the new state.

The membership is changed in place. All events are durable, so a load is the same fold from an
empty membership (PST-4).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from coordinator.base.java_hash import set_capacity
from coordinator.events.groups import consumer as ev

from .java_order import int_order, uuid_order
from .model import (
    NOTHING,
    ConsumerMembership,
    Held,
    Member,
    MemberState,
    Partitions,
    add_names,
    remove_names,
    replace_names,
)

_STATES = {state.value: state for state in MemberState}


def evolve(group: ConsumerMembership, event: ev.ConsumerEvent, at: int) -> None:
    """Fold `event`, which happened at the instant `at`, into `group`."""
    _FOLDS[type(event)](group, event, at)


def held_of(topics: Iterable[ev.HeldPartitions]) -> Held:
    """Return an event's partitions of a member, in the order of the maps into which Kafka reads its
    record.
    """
    by_id = {of.topic_id: of for of in topics}
    held: dict[bytes, dict[int, int]] = {}
    for topic_id in uuid_order(list(by_id)):
        epochs = dict(zip(by_id[topic_id].partitions, by_id[topic_id].epochs, strict=True))
        held[topic_id] = {partition: epochs[partition] for partition in int_order(list(epochs))}
    return held


def partitions_of(topics: Iterable[ev.TopicPartitions]) -> Partitions:
    """Return an event's target partitions, in the order of the maps into which Kafka reads its
    record.
    """
    by_id = {of.topic_id: of.partitions for of in topics}
    return {
        t: tuple(int_order(by_id[t], set_capacity(len(by_id[t])))) for t in uuid_order(list(by_id))
    }


def _created(group: ConsumerMembership, event: ev.ConsumerGroupCreated, at: int) -> None:
    """Do nothing: the owner replaces the membership by a new one."""


def _upgraded(group: ConsumerMembership, event: ev.ConsumerGroupUpgraded, at: int) -> None:
    group.group_epoch = event.group_epoch
    group.metadata_hash = event.metadata_hash


def _subscribed(group: ConsumerMembership, event: ev.ConsumerMemberSubscribed, at: int) -> None:
    _put(group, _with(group.members.get(event.member_id) or Member(event.member_id), event))


def _with(member: Member, said: ev.ConsumerMemberSubscribed) -> Member:
    return member._replace(
        instance_id=said.group_instance_id,
        rack_id=said.rack_id,
        client_id=said.client_id,
        client_host=said.client_host,
        rebalance_timeout_ms=said.rebalance_timeout_ms,
        topics=frozenset(said.topics),
        regex=said.topic_regex,
        assignor=said.server_assignor,
        classic=said.classic,
    )


def _replaced(group: ConsumerMembership, event: ev.ConsumerMemberReplaced, at: int) -> None:
    old = group.members.get(event.replaced)
    group.targets.pop(event.replaced, None)
    if old is not None:
        _take_out(group, old)
    new = Member(
        event.member_id,
        0,
        0,
        _STATES[event.state],
        held=held_of(event.held),
        revoking=held_of(event.revoking),
        told=event.held,
    )
    _put(group, _with(new, event.subscription))
    group.targets[event.member_id] = partitions_of(event.target)


def _instance_kept(group: ConsumerMembership, event: ev.FormerInstanceIdKept, at: int) -> None:
    group.static_members[event.group_instance_id] = event.member_id


def _removed(group: ConsumerMembership, event: ev.ConsumerMemberRemoved, at: int) -> None:
    group.targets.pop(event.member_id, None)
    member = group.members.get(event.member_id)
    if member is not None:  # not in a load, where nothing is left of it
        _take_out(group, member)


def _bumped(group: ConsumerMembership, event: ev.GroupEpochBumped, at: int) -> None:
    group.group_epoch = event.group_epoch
    group.metadata_hash = event.metadata_hash


def _assigned(group: ConsumerMembership, event: ev.TargetAssigned, at: int) -> None:
    for member_id, topics in event.targets:
        group.targets[member_id] = partitions_of(topics)
    group.assignment_epoch = event.assignment_epoch
    group.assignment_ms = None if event.assignor is None else at


def _unchanged(
    group: ConsumerMembership, event: ev.AssignmentFailed | ev.PreviousEpochAccepted, at: int
) -> None:
    """Do nothing: the event changes no state."""


def _reconciled(group: ConsumerMembership, event: ev.ConsumerMemberReconciled, at: int) -> None:
    old = group.members.get(event.member_id)
    member = old or Member(event.member_id)
    member = member._replace(
        member_epoch=event.member_epoch,
        previous_epoch=event.previous_member_epoch,
        state=_STATES[event.state],
        held=member.held if event.held == member.told else held_of(event.held),
        revoking=held_of(event.revoking) if event.revoking else NOTHING,
        told=event.held,
    )
    if old is None:
        _put(group, member)
        return
    group.members[event.member_id] = member
    if old.held is not member.held or old.revoking:
        _release(group, old)
    _own(group, member.held, member.member_epoch)
    if member.revoking:
        _own(group, member.revoking, member.member_epoch)


def _regex_resolved(group: ConsumerMembership, event: ev.TopicRegexResolved, at: int) -> None:
    _forget_regex(group, event.regex)
    topics = frozenset(event.topics)
    group.regexes[event.regex] = topics
    group.regexes_ms[event.regex] = at
    add_names(group.subscribers, topics, 0, 1)


def _regex_forgotten(group: ConsumerMembership, event: ev.TopicRegexForgotten, at: int) -> None:
    _forget_regex(group, event.regex)


def _forget_regex(group: ConsumerMembership, regex: str) -> None:
    group.regexes_ms.pop(regex, None)
    remove_names(group.subscribers, group.regexes.pop(regex, ()), 0, 1)


# -- members and what is counted of them


def _put(group: ConsumerMembership, member: Member) -> None:
    old = group.members.get(member.member_id)
    group.members[member.member_id] = member
    if (
        old is None
        or old.held is not member.held
        or old.revoking is not member.revoking
        or old.member_epoch != member.member_epoch
    ):
        if old is not None:
            _release(group, old)
        _own(group, member.held, member.member_epoch)
        _own(group, member.revoking, member.member_epoch)
    _tell_apart(group, old, member)
    if old is not None and old.instance_id != member.instance_id:
        _forget_instance(group, old)
    if member.instance_id is not None:
        group.static_members[member.instance_id] = member.member_id


def _take_out(group: ConsumerMembership, member: Member) -> None:
    del group.members[member.member_id]
    group.renewals.pop(member.member_id, None)
    group.followings.pop(member.member_id, None)
    _release(group, member)
    _tell_apart(group, member, None)
    _forget_instance(group, member)


def _forget_instance(group: ConsumerMembership, member: Member) -> None:
    if (
        member.instance_id is not None
        and group.static_members.get(member.instance_id) == member.member_id
    ):
        del group.static_members[member.instance_id]


def _own(group: ConsumerMembership, held: Held, epoch: int) -> None:
    for topic_id, partitions in held.items():
        group.owner_epochs.setdefault(topic_id, {}).update(dict.fromkeys(partitions, epoch))


def _release(group: ConsumerMembership, member: Member) -> None:
    for held in (member.held, member.revoking):
        for topic_id, partitions in held.items():
            owners = group.owner_epochs.get(topic_id)
            if owners is None:
                continue
            for partition in partitions:
                if owners.get(partition) == member.member_epoch:
                    del owners[partition]
            if not owners:
                del group.owner_epochs[topic_id]


def _tell_apart(group: ConsumerMembership, old: Member | None, new: Member | None) -> None:
    """Update the counts of subscriptions, votes and classic members after a member changed."""
    replace_names(
        group.subscribers,
        frozenset() if old is None else old.topics,
        frozenset() if new is None else new.topics,
    )
    for counts, one, other in (
        (group.regex_members, _regexes(old), _regexes(new)),
        (group.assignor_votes, _votes(old), _votes(new)),
        (group.classic_support, _protocols(old), _protocols(new)),
    ):
        if one != other:
            _add(counts, one, -1)
            _add(counts, other, 1)
    group.classic_members += (new is not None and new.classic is not None) - (
        old is not None and old.classic is not None
    )


def _add(counts: dict[str, int], keys: Iterable[str], by: int) -> None:
    for key in keys:
        counts[key] = counts.get(key, 0) + by
        if not counts[key]:
            del counts[key]


def _regexes(member: Member | None) -> tuple[str, ...]:
    return (member.regex,) if member is not None and member.regex else ()


def _votes(member: Member | None) -> tuple[str, ...]:
    return (member.assignor,) if member is not None and member.assignor is not None else ()


def _protocols(member: Member | None) -> tuple[str, ...]:
    return (
        ()
        if member is None or member.classic is None
        else tuple(dict.fromkeys(name for name, _ in member.classic.protocols))
    )


_FOLDS: dict[type, Callable[[ConsumerMembership, Any, int], None]] = {
    ev.ConsumerGroupCreated: _created,
    ev.ConsumerGroupUpgraded: _upgraded,
    ev.ConsumerMemberSubscribed: _subscribed,
    ev.ConsumerMemberReplaced: _replaced,
    ev.FormerInstanceIdKept: _instance_kept,
    ev.ConsumerMemberRemoved: _removed,
    ev.GroupEpochBumped: _bumped,
    ev.TargetAssigned: _assigned,
    ev.AssignmentFailed: _unchanged,
    ev.PreviousEpochAccepted: _unchanged,
    ev.ConsumerMemberReconciled: _reconciled,
    ev.TopicRegexResolved: _regex_resolved,
    ev.TopicRegexForgotten: _regex_forgotten,
}
