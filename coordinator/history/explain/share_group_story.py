"""Sentences about events of share groups (KIP-932): members that joined and left, the reason of
each epoch, and when partitions could be assigned.

Wording only: the facts come from `coordinator/history/world/shares/groups.py`. A sentence is
made before that fold has seen the line, so that it can say what is new.
"""

from __future__ import annotations

from typing import Final, assert_never

from coordinator.events.groups.consumer import TopicPartitions
from coordinator.events.groups.share import (
    Change,
    ShareEvent,
    ShareGroupCreated,
    ShareGroupEpochBumped,
    ShareMemberReconciled,
    ShareMemberRemoved,
    ShareMemberSubscribed,
    SharePartitionsRecorded,
    ShareTargetAssigned,
)
from coordinator.events.line import Line

from ..world.groups.consumer_groups import by_topic
from ..world.shares.groups import ShareGroup
from .formatting import listed, partitions, printable, renamed

_MOST_TOLD: Final = 5


def sentence(group: ShareGroup, line: Line) -> str:
    """Return an event as a sentence; "" if it needs none."""
    event: ShareEvent = line.event
    match event:
        case ShareGroupCreated():
            return "The group is a share group (KIP-932) from now on."
        case ShareMemberSubscribed():
            return _subscribed(group, event)
        case ShareMemberRemoved(member, "left"):
            return f"{_who(group, member)} left the group."
        case ShareMemberRemoved(member, reason):
            return f"{_who(group, member)} is no longer in the group ({printable(reason)})."
        case ShareGroupEpochBumped(epoch, _, reason):
            return f"The group went to epoch {epoch}: {renamed(reason, group.name)}."
        case ShareTargetAssigned():
            return _assigned(group, event)
        case ShareMemberReconciled(member, epoch, _, has):
            return f"{_who(group, member)} is at epoch {epoch} and reads {_partitions(has)}."
        case SharePartitionsRecorded(change, topics):
            return _recorded(change, _partitions(topics))
        case _:
            assert_never(event)


def _subscribed(group: ShareGroup, event: ShareMemberSubscribed) -> str:
    topics = listed([printable(topic) for topic in event.topics]) or "nothing"
    known = group.members.get(event.member_id)
    if known is None:
        who, member = printable(event.client_id), printable(event.member_id)
        joined = f"{who} joined as member {member}" if who else f"Member {member} joined"
        return f"{joined} and subscribes to {topics}."
    if known.topics == event.topics:
        return ""
    return f"{_who(group, event.member_id)} subscribes to {topics} from now on."


def _assigned(group: ShareGroup, event: ShareTargetAssigned) -> str:
    epoch = event.assignment_epoch
    if event.assignor is None:
        return f"The group has no members in epoch {epoch}: there is nothing to assign."
    begun = f"Assignor {printable(event.assignor)} computed the target of epoch {epoch}"
    if len(event.targets) > _MOST_TOLD:
        return f"{begun}: it differs for {len(event.targets)} members."
    told = [f"{_who(group, of.member_id)} gets {_partitions(of.topics)}" for of in event.targets]
    return f"{begun}: {listed(told) or 'nothing changes'}."


def _recorded(change: str, which: str) -> str:
    match change:
        case Change.INITIALIZING:
            return f"The share coordinator is asked to initialize the state of {which}."
        case Change.INITIALIZED:
            return f"The state of {which} is initialized: members can be assigned these partitions."
        case Change.REFUSED:
            return (
                f"The share coordinator did not initialize the state of {which}; it is asked again with the "
                "next heartbeat."
            )
        case Change.DELETING:
            return f"The share coordinator is asked to delete the state of {which}."
    return f"The state of {which} is gone."


def _who(group: ShareGroup, member: str) -> str:
    return printable(group.name(member))


def _partitions(topics: tuple[TopicPartitions, ...]) -> str:
    return partitions(by_topic(topics))
