"""Target assignment of a share group: the input of the assignor, and the changed targets in its
answer (SH-ASN-1, KIP-1263).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from coordinator.base.errors import ErrorCode
from coordinator.events.groups import share as ev
from coordinator.events.groups.consumer import AssignmentFailed, Target

from ..consumer.environment import AssignmentInput, AssignorFailed, SubscribedMember, Topics
from ..consumer.java_order import name_order, timeline_order
from ..consumer.requests import Refused
from ..consumer.subscription import existing
from ..consumer.target import is_same, told
from .environment import ShareEnvironment
from .model import NOTHING, Member, Partitions, ShareMembership


class TargetOutcome(NamedTuple):
    """Target of the member, and the event if a new target assignment was computed."""

    epoch: int
    target: Partitions
    event: ev.ShareTargetAssigned | None = None


def update_target(
    group: ShareMembership,
    group_epoch: int,
    new: Member,
    subscribers: Mapping[str, int],
    now: int,
    environment: ShareEnvironment,
) -> TargetOutcome:
    """Return the target for `new`, computed again if that is due. Raises Refused with
    UNKNOWN_SERVER_ERROR if the assignor fails.
    """
    if not _is_due(group, group_epoch, now, environment):
        return TargetOutcome(group.assignment_epoch, group.target(new.member_id))
    asked = _asked(group, new, subscribers, environment.topics)
    try:
        answer = environment.assignor.assign(asked)
    except AssignorFailed as failure:
        event = AssignmentFailed(group_epoch, environment.assignor.name, str(failure))
        raise Refused(ErrorCode.UNKNOWN_SERVER_ERROR, event=event) from None
    known = group.targets
    targets = tuple(
        Target(member_id, told(target, environment.topics))
        for member_id in asked.members
        if not is_same(target := answer.get(member_id, NOTHING), known.get(member_id))
    )
    mine = {t: tuple(numbers) for t, numbers in answer.get(new.member_id, NOTHING).items()}
    name = environment.assignor.name
    return TargetOutcome(group_epoch, mine, ev.ShareTargetAssigned(group_epoch, name, targets))


def _is_due(
    group: ShareMembership, group_epoch: int, now: int, environment: ShareEnvironment
) -> bool:
    """Return True if the group epoch is ahead and the assignment interval is over (KIP-1263)."""
    if group.assignment_epoch >= group_epoch:
        return False
    if group.assignment_ms is None:
        return True
    return now >= group.assignment_ms + environment.settings(group.group_id).assignment_interval_ms


def _asked(
    group: ShareMembership, new: Member, subscribers: Mapping[str, int], topics: Topics
) -> AssignmentInput:
    members = {member_id: group.members[member_id] for member_id in timeline_order(group.members)}
    members[new.member_id] = new
    ids: dict[frozenset[str], list[bytes]] = {}
    sizes: dict[bytes, int] = {}
    specs = {}
    for member_id in name_order(list(members), 16):
        member = members[member_id]
        found = ids.get(member.topics)
        if found is None:
            named = [topics.topic_id(name) for name in existing(member.topics, topics)]
            found = ids[member.topics] = [topic_id for topic_id in named if topic_id is not None]
            sizes.update((topic_id, topics.partition_count(topic_id)) for topic_id in found)
        specs[member_id] = SubscribedMember(
            found,
            len(member.topics) - len(found),
            group.targets.get(member_id, NOTHING),
            None,
            member.rack_id,
        )
    homogeneous = set(subscribers.values()) <= {len(members)}
    assignable = {topic_id: of.partitions for topic_id, of in group.initialized.items()}
    return AssignmentInput(specs, sizes, homogeneous, assignable=assignable)
