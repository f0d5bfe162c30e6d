"""Sentences about consumer groups (KIP-848): who joined, the reason of each epoch, and which member
waits for which other to revoke partitions.

Wording only: the facts come from `coordinator/history/world/groups/consumer_groups.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, assert_never

from coordinator.events.groups.consumer import (
    AssignmentFailed,
    ConsumerEvent,
    ConsumerGroupCreated,
    ConsumerGroupDowngraded,
    ConsumerGroupUpgraded,
    ConsumerMemberReconciled,
    ConsumerMemberRemoved,
    ConsumerMemberReplaced,
    ConsumerMemberSubscribed,
    FormerInstanceIdKept,
    GroupEpochBumped,
    MembershipReset,
    PreviousEpochAccepted,
    TargetAssigned,
    TopicRegexForgotten,
    TopicRegexResolved,
)
from coordinator.events.line import Line

from ..world.blobs import Partitions, both, minus, numbers_of
from ..world.groups.consumer_groups import ConsumerGroup, by_topic
from ..world.views import GroupView
from .formatting import duration, listed, partitions, printable, renamed

_MOST_TOLD: Final = 5


def sentence(group: GroupView, line: Line, *, new: bool) -> str:
    """Return an event of a consumer group as a sentence: see
    `coordinator.history.world.timeline.Words`."""
    return f"{_tell(group, line.event, new)}{_settled(group, line)}"


def with_names(group: GroupView, text: str) -> str:
    """Return a reason in Kafka's words with member ids replaced by short names."""
    return renamed(text, lambda word: group.names.get(word, word))


def _settled(group: GroupView, line: Line) -> str:
    """Return the sentence that all members have reached the group's epoch, with the time that it
    took; "" if they have not."""
    last = group.epochs.views[-1] if group.epochs is not None and group.epochs.views else None
    if last is None or last.stable_ms is None or last.settled_by != line.seq:
        return ""
    took = duration(last.stable_ms - last.started_ms)
    return f" With that all have reached epoch {last.epoch}, {took} after it began."


def _who(group: GroupView, member: str) -> str:
    return group.name(member) or ""


def _tell(group: GroupView, event: ConsumerEvent, new: bool) -> str:
    match event:
        case ConsumerGroupCreated(replaced_classic):
            instead = ", in the place of an empty classic group; its offsets stay"
            where = instead if replaced_classic else ""
            return f"The group is a consumer group (KIP-848) from now on{where}."
        case MembershipReset():
            return "The empty consumer group became an empty classic group; its offsets stay."
        case ConsumerGroupUpgraded(epoch, _, members):
            return (
                f"The classic group became a consumer group at epoch {epoch}, because a member of the consumer protocol joined; "
                f"{_names(group, members)} {'keeps its' if len(members) == 1 else 'keep their'} partitions."
            )
        case ConsumerGroupDowngraded(generation):
            return f"The group became a classic group in generation {generation}, because all remaining members use the classic protocol."
        case GroupEpochBumped(epoch, _, reason):
            return f"The group went to epoch {epoch}: {with_names(group, reason)}."
        case TargetAssigned():
            return _assigned(group, event)
        case AssignmentFailed(_, assignor, failure):
            return f"Assignor {printable(assignor)} failed ({printable(failure)}); nothing changed, and the request was refused."
        case TopicRegexResolved(regex, found):
            topics = [printable(topic) for topic in found]
            shown = listed(topics) if len(topics) <= _MOST_TOLD else f"{len(topics)} topics"
            return f"The expression {printable(regex)} matches {shown or 'no topic'}."
        case TopicRegexForgotten(regex):
            return f"No member subscribes to the expression {printable(regex)} any more."
        case _:
            return _of_member(group, event, new)


def _of_member(
    group: GroupView,
    event: ConsumerMemberSubscribed
    | ConsumerMemberReplaced
    | FormerInstanceIdKept
    | ConsumerMemberRemoved
    | PreviousEpochAccepted
    | ConsumerMemberReconciled,
    new: bool,
) -> str:
    who = _who(group, event.member_id)
    match event:
        case ConsumerMemberSubscribed():
            return _subscribed(group, event, new)
        case ConsumerMemberReplaced(_, replaced, subscription):
            instance, old = subscription.group_instance_id or "", _who(group, replaced)
            return f"Static member {printable(instance)} came back as {who} and keeps the partitions of {old}."
        case FormerInstanceIdKept(_, former):
            return f"Member {who} is also the static member with its former instance id {printable(former)}."
        case ConsumerMemberRemoved(_, reason):
            return f"Member {who} is no longer in the group ({printable(reason)})."
        case PreviousEpochAccepted(_, epoch):
            return (
                f"Member {who} did not receive its newer epoch: its heartbeat has epoch {epoch}, "
                "its former one, and gets the same response again."
            )
        case ConsumerMemberReconciled():
            return _reconciled(group, event)
        case _:
            assert_never(event)


def _subscribed(group: GroupView, event: ConsumerMemberSubscribed, new: bool) -> str:
    who = _who(group, event.member_id)
    wanted = [printable(topic) for topic in event.topics]
    if event.topic_regex:
        wanted.append(f"what matches {printable(event.topic_regex)}")
    protocol = "consumer" if event.classic is None else "classic"
    verb = f"joined with the {protocol} protocol and" if new else "now"
    return f"Member {who} {verb} subscribes to {listed(wanted) or 'nothing'}."


def _assigned(group: GroupView, event: TargetAssigned) -> str:
    epoch, assignor = event.assignment_epoch, event.assignor
    if assignor is None and not event.targets:
        return f"The group has no members in epoch {epoch}: there is nothing to assign."
    if assignor is None:
        return f"The members' former partitions are their target in epoch {epoch}."
    begun = f"Assignor {printable(assignor)} computed the target of epoch {epoch}"
    changed = {target.member_id: by_topic(target.topics) for target in event.targets}
    if len(changed) > _MOST_TOLD:
        return f"{begun}: it differs for {len(changed)} members."
    told = [
        f"{_who(group, member)} gets {partitions(target)}" for member, target in changed.items()
    ]
    return f"{begun}: {listed(told) or 'nothing changes'}."


def _reconciled(group: GroupView, event: ConsumerMemberReconciled) -> str:
    who, epoch = _who(group, event.member_id), event.member_epoch
    has, revoking = by_topic(event.held), by_topic(event.revoking)
    if event.state == "stable" and epoch >= 0:
        return f"Member {who} is at epoch {epoch} and owns {partitions(has)}, its whole target."
    if epoch < 0:
        return f"Static member {who} left temporarily; until its session ends it keeps {partitions(has)}."
    if event.state == "unrevoked partitions":
        return f"Member {who} has to revoke {partitions(revoking)} before it moves on from epoch {epoch}."
    return f"Member {who} is at epoch {epoch} with {partitions(has)} and waits for {_awaited(group, event.member_id)}."


def _awaited(view: GroupView, member: str) -> str:
    """Return the partitions of a member's target that other members still have, with the members
    and their epochs."""
    group = view.consumer or ConsumerGroup(0)
    missing = minus(group.target(member), _having(group, member))
    waits = []
    for other, seen in group.members.items():
        held = {} if other == member else both(missing, _having(group, other))
        if held:
            waits.append(
                f"{partitions(held)}, which {_who(view, other)} has yet to revoke (it is at epoch {seen.epoch})"
            )
    return listed(waits) or partitions(missing)


def _having(group: ConsumerGroup, member: str) -> Partitions:
    """Return a member's partitions, including those that it has yet to revoke."""
    seen = group.members.get(member)
    return {} if seen is None else numbers_of((*seen.held, *seen.revoking))


def _names(group: GroupView, members: Iterable[str]) -> str:
    names = [_who(group, member) for member in members]
    return listed(names) if len(names) <= _MOST_TOLD else f"{len(names)} members"
