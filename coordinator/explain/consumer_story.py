"""Events of consumer groups (KIP-848) in plain sentences: who joined, what each epoch is for, who
waits for whom to revoke what, and since when.

Wording only: what is known of a group is `coordinator.history.consumer_groups`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from ..event_log.reader import Line
from ..history.blobs import Partitions, both, minus, numbers_of
from ..history.consumer_groups import ConsumerGroup, by_topic
from ..history.views import GroupView
from .words import duration, listed, partitions, printable, renamed

_MOST_TOLD: Final = 5


def sentence(group: GroupView, line: Line, *, new: bool) -> str:
    """An event of a consumer group, as `coordinator.history.timeline.Words` has it."""
    if line["type"] == "ConsumerMemberSubscribed":
        told = _subscribed(group, line, new=new)
    else:
        told = _TELL[line["type"]](group, line)
    return f"{told}{_settled(group, line)}"


def with_names(group: GroupView, text: str) -> str:
    """A reason in Kafka's words, its member ids being names."""
    return renamed(text, lambda word: group.names.get(word, word))


def _settled(group: GroupView, line: Line) -> str:
    """That all members have reached the group's epoch, and how long it took."""
    last = group.epochs.views[-1] if group.epochs is not None and group.epochs.views else None
    if last is None or last.stable_ms is None or last.settled_by != line["seq"]:
        return ""
    took = duration(last.stable_ms - last.started_ms)
    return f" With that all have reached epoch {last.epoch}, {took} after it began."


def _who(group: GroupView, member: str) -> str:
    return group.name(member) or ""


def _created(group: GroupView, line: Line) -> str:
    instead = (
        ", in the place of an empty classic group; its offsets stay"
        if line["replaced_classic"]
        else ""
    )
    return f"The group is a consumer group (KIP-848) from now on{instead}."


def _reset(group: GroupView, line: Line) -> str:
    return "The empty consumer group became an empty classic group; its offsets stay."


def _upgraded(group: GroupView, line: Line) -> str:
    return (
        f"The classic group became a consumer group at epoch {line['group_epoch']}, because a member of the consumer protocol joined; "
        f"kept is what {_names(group, line['members'])} had."
    )


def _downgraded(group: GroupView, line: Line) -> str:
    return f"The group became a classic group in generation {line['generation']}, because all who are left use the classic protocol."


def _subscribed(group: GroupView, line: Line, *, new: bool) -> str:
    who = _who(group, line["member"])
    wanted = [printable(topic) for topic in line["topics"]]
    if line["topic_regex"]:
        wanted.append(f"what matches {printable(line['topic_regex'])}")
    protocol = "consumer" if line["classic"] is None else "classic"
    verb = f"joined with the {protocol} protocol and" if new else "says of itself that it"
    return f"Member {who} {verb} subscribes to {listed(wanted) or 'nothing'}."


def _replaced(group: GroupView, line: Line) -> str:
    old, new = line["replaced"], line["member"]
    instance = printable(line["subscription"]["group_instance_id"] or "")
    return f"Static member {instance} came back as {_who(group, new)} and keeps what {_who(group, old)} had."


def _removed(group: GroupView, line: Line) -> str:
    member = line["member"]
    return f"Member {_who(group, member)} is no longer in the group ({printable(line['reason'])})."


def _bumped(group: GroupView, line: Line) -> str:
    return f"The group went to epoch {line['group_epoch']}: {with_names(group, line['reason'])}."


def _assigned(group: GroupView, line: Line) -> str:
    changed = {target["member_id"]: by_topic(target["topics"]) for target in line["targets"]}
    if line["assignor"] is None and not line["targets"]:
        return f"Nobody is left in epoch {line['assignment_epoch']}: there is nothing to assign."
    if line["assignor"] is None:
        return f"What the members had is their target in epoch {line['assignment_epoch']}."
    begun = f"Assignor {printable(line['assignor'])} computed the target of epoch {line['assignment_epoch']}"
    if len(changed) > _MOST_TOLD:
        return f"{begun}: it differs for {len(changed)} members."
    told = [
        f"{_who(group, member)} is to have {partitions(target)}"
        for member, target in changed.items()
    ]
    return f"{begun}: {listed(told) or 'nothing changes'}."


def _instance_kept(group: GroupView, line: Line) -> str:
    former = printable(line["group_instance_id"])
    return f"Member {_who(group, line['member'])} goes by its former instance id {former}, too."


def _failed(group: GroupView, line: Line) -> str:
    who, why = printable(line["assignor"]), printable(line["failure"])
    return f"Assignor {who} failed ({why}); nothing changed, and the request was refused."


def _accepted(group: GroupView, line: Line) -> str:
    who, epoch = _who(group, line["member"]), line["member_epoch"]
    return f"Member {who} has not heard of its newer epoch: it says it is at epoch {epoch}, its last one, and is told again."


def _reconciled(group: GroupView, line: Line) -> str:
    member, who, epoch = line["member"], _who(group, line["member"]), line["member_epoch"]
    has, revoking = by_topic(line["held"]), by_topic(line["revoking"])
    if line["state"] == "stable" and epoch >= 0:
        return f"Member {who} is at epoch {epoch} and has {partitions(has)}, which is all it is to have."
    if epoch < 0:
        return f"Static member {who} left for a while; until its session ends it keeps {partitions(has)}."
    if line["state"] == "unrevoked partitions":
        return f"Member {who} has to revoke {partitions(revoking)} before it moves on from epoch {epoch}."
    return f"Member {who} is at epoch {epoch} with {partitions(has)} and waits for {_awaited(group, member)}."


def _awaited(view: GroupView, member: str) -> str:
    """The part of a member's target still held by others, and by whom since which epoch."""
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
    """A member's partitions, and those to give up."""
    seen = group.members.get(member)
    return {} if seen is None else numbers_of((*seen.held, *seen.revoking))


def _resolved(group: GroupView, line: Line) -> str:
    topics = [printable(topic) for topic in line["topics"]]
    shown = listed(topics) if len(topics) <= _MOST_TOLD else f"{len(topics)} topics"
    return f"The expression {printable(line['regex'])} matches {shown or 'no topic'}."


def _forgotten(group: GroupView, line: Line) -> str:
    return f"Nobody subscribes to the expression {printable(line['regex'])} any more."


def _names(group: GroupView, members: Iterable[str]) -> str:
    names = [_who(group, member) for member in members]
    return listed(names) if len(names) <= _MOST_TOLD else f"{len(names)} members"


_TELL: Final[dict[str, Callable[[GroupView, Line], str]]] = {
    "ConsumerMemberReconciled": _reconciled,
    "ConsumerGroupCreated": _created,
    "MembershipReset": _reset,
    "ConsumerGroupUpgraded": _upgraded,
    "ConsumerGroupDowngraded": _downgraded,
    "ConsumerMemberReplaced": _replaced,
    "FormerInstanceIdKept": _instance_kept,
    "ConsumerMemberRemoved": _removed,
    "GroupEpochBumped": _bumped,
    "TargetAssigned": _assigned,
    "AssignmentFailed": _failed,
    "PreviousEpochAccepted": _accepted,
    "TopicRegexResolved": _resolved,
    "TopicRegexForgotten": _forgotten,
}
