"""The rebalances of a consumer group (KIP-848): each group epoch, its cause, its target
assignment, and the instant when all members had reached it. Follows the events of one group."""

from __future__ import annotations

from collections.abc import Callable, MutableSequence
from dataclasses import dataclass, field
from typing import NamedTuple

from coordinator.events.groups.consumer import (
    ConsumerGroupCreated,
    ConsumerGroupDowngraded,
    ConsumerGroupUpgraded,
    ConsumerMemberRemoved,
    ConsumerMemberReplaced,
    GroupEpochBumped,
    MembershipReset,
    TargetAssigned,
)
from coordinator.events.line import Line

from ..blobs import Partitions
from .consumer_groups import by_topic

_ANOTHER_MEMBERSHIP = (
    ConsumerGroupCreated,
    ConsumerGroupUpgraded,
    ConsumerGroupDowngraded,
    MembershipReset,
)


class Target(NamedTuple):
    """A member's target in an epoch, and the partitions of it that the member gains and loses."""

    member: str
    partitions: Partitions
    added: Partitions
    revoked: Partitions


@dataclass(slots=True)
class EpochView:
    """One group epoch. `outcome`: assigning, reconciling, stable, empty, or interrupted if the
    next epoch began before one of the last two."""

    seq: int
    epoch: int
    started_ms: int
    reason: str
    causes: list[Line]
    outcome: str = "assigning"
    assignor: str | None = None
    assigned_ms: int | None = None
    stable_ms: int | None = None
    settled_by: int = -1  # the number of the line by which all had reached it
    ended_ms: int | None = None
    targets: list[Target] = field(default_factory=list)


class Epochs:
    """The epochs of one group, in order: they are added to `views`, if given."""

    def __init__(self, views: MutableSequence[EpochView] | None = None) -> None:
        self.views: MutableSequence[EpochView] = [] if views is None else views
        self._targets: dict[str, Partitions] = {}

    def follow(self, line: Line, state: str, chain: Callable[[int | None], list[Line]]) -> None:
        """Handle one event of the group; `state` is its state after the event. `chain`: function
        from a line's number to the line and its causes, up to the first."""
        event, current = line.event, self.views[-1] if self.views else None
        match event:
            case GroupEpochBumped(epoch, _, reason):
                self._end(line.at_ms)
                current = EpochView(line.seq, epoch, line.at_ms, reason, chain(line.cause))
                self.views.append(current)
            case ConsumerMemberReplaced(member, replaced):
                self._targets[member] = self._targets.pop(replaced, {})
            case ConsumerMemberRemoved(member):
                self._targets.pop(member, None)
            case TargetAssigned(epoch, assignor):
                targets = self._assigned(event)
                if current is not None and epoch == current.epoch:
                    current.assignor, current.targets = assignor, targets
                    current.assigned_ms = line.at_ms
            case _ if isinstance(event, _ANOTHER_MEMBERSHIP):
                self._end(line.at_ms)
                self._targets = {}
        if (
            current is not None
            and current.ended_ms is None
            and current.stable_ms is None
            and current.outcome != "empty"
        ):
            self._settle(current, line, state)

    def _end(self, at_ms: int) -> None:
        """End the last epoch."""
        if self.views and self.views[-1].ended_ms is None:
            last = self.views[-1]
            last.ended_ms = at_ms
            if last.outcome in ("assigning", "reconciling"):
                last.outcome = "interrupted"

    def _assigned(self, event: TargetAssigned) -> list[Target]:
        before, after = self._targets, dict(self._targets)
        after.update((each.member_id, by_topic(each.topics)) for each in event.targets)
        self._targets = after
        return [
            Target(
                member,
                partitions,
                _without(partitions, before.get(member, {})),
                _without(before.get(member, {}), partitions),
            )
            for member, partitions in after.items()
        ]

    @staticmethod
    def _settle(current: EpochView, line: Line, state: str) -> None:
        if state == "Empty":
            current.outcome = "empty"
        elif current.assigned_ms is not None:
            current.outcome = "stable" if state == "Stable" else "reconciling"
            if state == "Stable":
                current.stable_ms, current.settled_by = line.at_ms, line.seq


def _without(some: Partitions, others: Partitions) -> Partitions:
    left = {
        topic: tuple([number for number in numbers if number not in others.get(topic, ())])
        for topic, numbers in some.items()
    }
    return {topic: numbers for topic, numbers in left.items() if numbers}
