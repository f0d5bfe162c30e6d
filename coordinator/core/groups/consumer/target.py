"""Target assignment of a consumer group: the input of the assignor, and the changed targets in its
answer (K8-TGT-1..4, KIP-1263).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Final, NamedTuple

from coordinator.base.errors import ErrorCode
from coordinator.events.groups import consumer as ev

from .environment import AssignmentInput, AssignorFailed, Environment, SubscribedMember, Topics
from .java_order import name_order, timeline_order
from .model import ConsumerMembership, Member, Partitions
from .requests import Refused
from .subscription import names_of, ordered_topics

_NOTHING: Final[Partitions] = {}


class TargetOutcome(NamedTuple):
    """Target of the member, and the event if a new target assignment was computed."""

    epoch: int
    target: Partitions
    event: ev.TargetAssigned | None = None


def is_due(group: ConsumerMembership, group_epoch: int, now: int, environment: Environment) -> bool:
    """Return True if a new target may be computed: the group epoch is ahead, and the assignment
    interval is over (KIP-1263).
    """
    if group.assignment_epoch >= group_epoch:
        return False
    if group.assignment_ms is None:
        return True
    return now >= group.assignment_ms + environment.settings(group.group_id).assignment_interval_ms


def update_target(
    group: ConsumerMembership,
    group_epoch: int,
    old: Member,
    new: Member,
    homogeneous: bool,
    now: int,
    environment: Environment,
) -> TargetOutcome:
    """Return the target for `new`, computed again if that is due. Raises Refused with
    UNKNOWN_SERVER_ERROR if the assignor fails (K8-TGT-3).
    """
    if not is_due(group, group_epoch, now, environment):
        return TargetOutcome(group.assignment_epoch, current_target(group, new))
    assignor = group.preferred_assignor_if(old, new) or environment.default_assignor()
    asked = _asked(group, new, homogeneous, environment.topics)
    try:
        answer = environment.assignors[assignor].assign(asked)
    except AssignorFailed as failure:
        event = ev.AssignmentFailed(group_epoch, assignor, str(failure))
        raise Refused(ErrorCode.UNKNOWN_SERVER_ERROR, event=event) from None
    targets = []
    known = group.targets
    for member_id in asked.members:
        target, before = answer.get(member_id, _NOTHING), known.get(member_id)
        if target is not before and not is_same(target, before):
            targets.append(ev.Target(member_id, told(target, environment.topics)))
    mine = {
        topic_id: tuple(partitions)
        for topic_id, partitions in answer.get(new.member_id, {}).items()
    }
    return TargetOutcome(
        group_epoch, mine, ev.TargetAssigned(group_epoch, assignor, tuple(targets))
    )


def current_target(group: ConsumerMembership, member: Member) -> Partitions:
    """Return a member's present target; for a static member that of the present holder of its
    instance id (K8-ST-1).
    """
    if member.instance_id is None:
        return group.target(member.member_id)
    return group.target(group.static_members.get(member.instance_id, ""))


def told(target: Mapping[bytes, Sequence[int]], topics: Topics) -> tuple[ev.TopicPartitions, ...]:
    """Return a target in the event's form."""
    return tuple(
        [
            ev.TopicPartitions(topics.topic_name(t) or "", t, tuple(partitions))
            for t, partitions in target.items()
        ]
    )


def is_same(target: Mapping[bytes, Sequence[int]], known: Partitions | None) -> bool:
    """Return True if a target equals the known one, in any order."""
    if target == known:
        return True
    if known is None or target.keys() != known.keys():
        return False
    return all(
        target[topic_id] == partitions or set(target[topic_id]) == set(partitions)
        for topic_id, partitions in known.items()
    )


def _asked(
    group: ConsumerMembership, new: Member, homogeneous: bool, topics: Topics
) -> AssignmentInput:
    members = {member_id: group.members[member_id] for member_id in timeline_order(group.members)}
    members[new.member_id] = new
    replaced = group.static_members.get(new.instance_id) if new.instance_id is not None else None
    if replaced is not None and replaced != new.member_id:
        members.pop(replaced, None)
    partitions: dict[bytes, int] = {}
    resolved: dict[frozenset[str] | tuple[frozenset[str], str], tuple[list[bytes], int]] = {}
    specs = {}
    targets = group.targets
    for member_id in name_order(list(members), 16):
        member = members[member_id]
        key = (member.topics, member.regex) if member.regex else member.topics
        found = resolved.get(key)
        if found is None:
            ids = ordered_topics(group, member, topics)
            found = resolved[key] = (ids, len(names_of(group, member)) - len(ids))
            partitions.update((topic_id, topics.partition_count(topic_id)) for topic_id in ids)
        target = (
            current_target(group, member) if member is new else targets.get(member_id, _NOTHING)
        )
        specs[member_id] = SubscribedMember(
            found[0], found[1], target, member.instance_id, member.rack_id
        )
    return AssignmentInput(specs, partitions, homogeneous, _assigned(group))


def _assigned(group: ConsumerMembership) -> dict[bytes, set[int]]:
    lists: dict[bytes, list[Sequence[int]]] = {}
    for target in group.targets.values():
        for topic_id, partitions in target.items():
            lists.setdefault(topic_id, []).append(partitions)
    return {topic_id: set(chain.from_iterable(rows)) for topic_id, rows in lists.items()}
