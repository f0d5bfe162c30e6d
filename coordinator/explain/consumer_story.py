"""Consumer groups (KIP-848) in plain sentences: who joined, what each epoch is for, who waits for
whom to revoke what, and since when.

Follows the events of one group as far as the sentences need it. Does not depend on the coordinator:
it reads lines of a log.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from ..event_log.reader import Line
from .consumer_state import ConsumerState
from .words import listed, partitions, printable

_MOST_TOLD: Final = 5

Partitions = dict[str, tuple[int, ...]]


class ConsumerStory(ConsumerState):
    """What is known of a consumer group: its epochs, its members' targets, what each has and has
    yet to revoke."""

    def begin(self, *, classic: bool = False) -> None:
        """Forget what was known: another membership begins."""
        super().begin(classic=classic)
        self._came: str | None = None  # the member that the last event brought
        self.targets: dict[str, Partitions] = {}
        self.has: dict[str, Partitions] = {}
        self.revoking: dict[str, Partitions] = {}

    def tell(self, line: Line) -> str:
        """Follow one event; it as a sentence."""
        came = line.get("member") if line.get("member") not in self.members else None
        self.follow(line)
        self._came = came
        return _TELL[line["type"]](self, line)

    def _created(self, line: Line) -> str:
        instead = (
            ", in the place of an empty classic group; its offsets stay"
            if line["replaced_classic"]
            else ""
        )
        return f"The group is a consumer group (KIP-848) from now on{instead}."

    def _reset(self, line: Line) -> str:
        return "The empty consumer group became an empty classic group; its offsets stay."

    def _upgraded(self, line: Line) -> str:
        return (
            f"The classic group became a consumer group at epoch {self.epoch}, because a member of the consumer protocol joined; "
            f"kept is what {_names(line['members'])} had."
        )

    def _downgraded(self, line: Line) -> str:
        return f"The group became a classic group in generation {line['generation']}, because all who are left use the classic protocol."

    def _subscribed(self, line: Line) -> str:
        member, who = line["member"], printable(line["member"])
        wanted = [printable(topic) for topic in line["topics"]]
        if line["topic_regex"]:
            wanted.append(f"what matches {printable(line['topic_regex'])}")
        protocol = "consumer" if line["classic"] is None else "classic"
        verb = (
            f"joined with the {protocol} protocol and"
            if member == self._came
            else "says of itself that it"
        )
        return f"Member {who} {verb} subscribes to {listed(wanted) or 'nothing'}."

    def _replaced(self, line: Line) -> str:
        old, new = line["replaced"], line["member"]
        for known in (self.targets, self.has, self.revoking):
            if old in known:
                known[new] = known.pop(old)
        instance = printable(line["subscription"]["group_instance_id"] or "")
        return f"Static member {instance} came back as {printable(new)} and keeps what {printable(old)} had."

    def _removed(self, line: Line) -> str:
        member = line["member"]
        for known in (self.targets, self.has, self.revoking):
            known.pop(member, None)
        return (
            f"Member {printable(member)} is no longer in the group ({printable(line['reason'])})."
        )

    def _bumped(self, line: Line) -> str:
        return f"The group went to epoch {self.epoch}: {printable(line['reason'])}."

    def _assigned(self, line: Line) -> str:
        changed = {target["member_id"]: _by_topic(target["topics"]) for target in line["targets"]}
        self.targets.update(changed)
        if line["assignor"] is None:
            return f"What the members had is their target in epoch {self.assignment_epoch}."
        begun = f"Assignor {printable(line['assignor'])} computed the target of epoch {self.assignment_epoch}"
        if len(changed) > _MOST_TOLD:
            return f"{begun}: it differs for {len(changed)} members."
        told = [
            f"{printable(member)} is to have {partitions(target)}"
            for member, target in changed.items()
        ]
        return f"{begun}: {listed(told) or 'nothing changes'}."

    def _failed(self, line: Line) -> str:
        who, why = printable(line["assignor"]), printable(line["failure"])
        return f"Assignor {who} failed ({why}); nothing changed, and the request was refused."

    def _reconciled(self, line: Line) -> str:
        member, who, epoch = line["member"], printable(line["member"]), line["member_epoch"]
        has, revoking = self.has[member], self.revoking[member] = (
            _by_topic(line["held"]),
            _by_topic(line["revoking"]),
        )
        if line["state"] == "stable" and epoch >= 0:
            return f"Member {who} is at epoch {epoch} and has {partitions(has)}, which is all it is to have."
        if epoch < 0:
            return f"Static member {who} left for a while; until its session ends it keeps {partitions(has)}."
        if line["state"] == "unrevoked partitions":
            return f"Member {who} has to revoke {partitions(revoking)} before it moves on from epoch {epoch}."
        return f"Member {who} is at epoch {epoch} with {partitions(has)} and waits for {self._awaited(member)}."

    def _awaited(self, member: str) -> str:
        """What a member of its target is still held by others, and by whom since which epoch."""
        missing = _minus(self.targets.get(member, {}), self.has[member])
        waits = []
        for other, epoch in self.members.items():
            if other == member:
                continue
            held = _common(missing, _plus(self.has.get(other, {}), self.revoking.get(other, {})))
            if held:
                waits.append(
                    f"{partitions(held)}, which {printable(other)} has yet to revoke (it is at epoch {epoch})"
                )
        return listed(waits) or partitions(missing)

    def _resolved(self, line: Line) -> str:
        topics = [printable(topic) for topic in line["topics"]]
        shown = listed(topics) if len(topics) <= _MOST_TOLD else f"{len(topics)} topics"
        return f"The expression {printable(line['regex'])} matches {shown or 'no topic'}."

    def _forgotten(self, line: Line) -> str:
        return f"Nobody subscribes to the expression {printable(line['regex'])} any more."


def _names(members: Iterable[str]) -> str:
    names = [printable(member) for member in members]
    return listed(names) if len(names) <= _MOST_TOLD else f"{len(names)} members"


def _by_topic(rows: Iterable[Mapping[str, Any]]) -> Partitions:
    return {row["topic"]: tuple(sorted(row["partitions"])) for row in rows}


def _minus(some: Partitions, others: Partitions) -> Partitions:
    return {
        topic: tuple(n for n in numbers if n not in others.get(topic, ()))
        for topic, numbers in some.items()
    }


def _plus(some: Partitions, others: Partitions) -> Partitions:
    return {
        topic: tuple({*some.get(topic, ()), *others.get(topic, ())}) for topic in {**some, **others}
    }


def _common(some: Partitions, others: Partitions) -> Partitions:
    shared = {
        topic: tuple(n for n in numbers if n in others.get(topic, ()))
        for topic, numbers in some.items()
    }
    return {topic: numbers for topic, numbers in shared.items() if numbers}


_TELL: Final[dict[str, Callable[[ConsumerStory, Line], str]]] = {
    "ConsumerGroupCreated": ConsumerStory._created,
    "MembershipReset": ConsumerStory._reset,
    "ConsumerGroupUpgraded": ConsumerStory._upgraded,
    "ConsumerGroupDowngraded": ConsumerStory._downgraded,
    "ConsumerMemberSubscribed": ConsumerStory._subscribed,
    "ConsumerMemberReplaced": ConsumerStory._replaced,
    "ConsumerMemberRemoved": ConsumerStory._removed,
    "GroupEpochBumped": ConsumerStory._bumped,
    "TargetAssigned": ConsumerStory._assigned,
    "AssignmentFailed": ConsumerStory._failed,
    "ConsumerMemberReconciled": ConsumerStory._reconciled,
    "TopicRegexResolved": ConsumerStory._resolved,
    "TopicRegexForgotten": ConsumerStory._forgotten,
}
KINDS: Final = frozenset(_TELL)
