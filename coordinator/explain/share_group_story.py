"""Events of share groups (KIP-932) in plain sentences: who joined and went, what each epoch is for,
and when partitions could be given.

Wording only: what is known of a group is `coordinator.history.shares.groups`. A sentence is made
before the group has seen the line, so it can say what is new.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..event_log.reader import Line
from ..history.consumer_groups import by_topic
from ..history.shares.groups import ShareGroup
from .words import listed, partitions, printable, renamed

_MOST_TOLD: Final = 5


def sentence(group: ShareGroup, line: Line) -> str:
    """An event as a sentence; "" if nothing about it is worth one."""
    return _SENTENCES[line["type"]](group, line)


def _created(group: ShareGroup, line: Line) -> str:
    return "The group is a share group (KIP-932) from now on."


def _subscribed(group: ShareGroup, line: Line) -> str:
    topics = listed([printable(topic) for topic in line["topics"]]) or "nothing"
    known = group.members.get(line["member"])
    if known is None:
        who, member = printable(line["client_id"]), printable(line["member"])
        joined = f"{who} joined as member {member}" if who else f"Member {member} joined"
        return f"{joined} and subscribes to {topics}."
    if known.topics == tuple(line["topics"]):
        return ""
    return f"{_who(group, line)} subscribes to {topics} from now on."


def _removed(group: ShareGroup, line: Line) -> str:
    if line["reason"] == "left":
        return f"{_who(group, line)} left the group."
    return f"{_who(group, line)} is no longer in the group ({printable(line['reason'])})."


def _bumped(group: ShareGroup, line: Line) -> str:
    return f"The group went to epoch {line['group_epoch']}: {renamed(line['reason'], group.name)}."


def _assigned(group: ShareGroup, line: Line) -> str:
    epoch = line["assignment_epoch"]
    if line["assignor"] is None:
        return f"Nobody is left in epoch {epoch}: there is nothing to assign."
    begun = f"Assignor {printable(line['assignor'])} computed the target of epoch {epoch}"
    if len(line["targets"]) > _MOST_TOLD:
        return f"{begun}: it differs for {len(line['targets'])} members."
    told = [
        f"{printable(group.name(of['member_id']))} is to have {_partitions(of['topics'])}"
        for of in line["targets"]
    ]
    return f"{begun}: {listed(told) or 'nothing changes'}."


def _reconciled(group: ShareGroup, line: Line) -> str:
    return (
        f"{_who(group, line)} is at epoch {line['member_epoch']} and has "
        f"{_partitions(line['partitions'])}."
    )


def _recorded(group: ShareGroup, line: Line) -> str:
    which = _partitions(line["topics"])
    match line["change"]:
        case "initializing":
            return f"The share coordinator is asked to make the state of {which}."
        case "initialized":
            return f"The state of {which} is made: members can be given them."
        case "refused":
            return (
                f"The share coordinator did not make the state of {which}; it is asked again with the "
                "next heartbeat."
            )
        case "deleting":
            return f"The share coordinator is asked to delete the state of {which}."
    return f"The state of {which} is gone."


def _who(group: ShareGroup, line: Line) -> str:
    return printable(group.name(line["member"]))


def _partitions(topics: list[dict[str, Any]]) -> str:
    return partitions(by_topic(topics))


_SENTENCES: Final[dict[str, Callable[[ShareGroup, Line], str]]] = {
    "ShareGroupCreated": _created,
    "ShareMemberSubscribed": _subscribed,
    "ShareMemberRemoved": _removed,
    "ShareGroupEpochBumped": _bumped,
    "ShareTargetAssigned": _assigned,
    "ShareMemberReconciled": _reconciled,
    "SharePartitionsRecorded": _recorded,
}
