"""Keys of a consumer group's durable events, so that later events replace earlier ones (PST-4).

The keys are those of Kafka's records: group epoch, member, target of a member, current
assignment of a member, regular expression; also a former member's instance id, until another
member takes it. Does not know where events are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Final

from coordinator.events.groups import consumer as ev

Keys = list[Hashable]

_EPOCH, _ASSIGNMENT = "group epoch", "assignment epoch"


def of_member(member_id: str) -> Keys:
    """Return all keys of a member."""
    return [("member", member_id), ("current", member_id), ("target", member_id)]


def _of_instance(said: ev.ConsumerMemberSubscribed) -> Keys:
    """Return the key for a former member's claim to its instance id."""
    return [] if said.group_instance_id is None else [("instance", said.group_instance_id)]


BEGINNINGS: Final = frozenset(
    {
        ev.ConsumerGroupCreated,
        ev.ConsumerGroupUpgraded,
        ev.ConsumerGroupDowngraded,
        ev.MembershipReset,
    }
)
"""Events that make all that stood about the membership out of date."""
OWNED: Final[dict[type, Callable[[Any], Keys]]] = {
    ev.ConsumerMemberSubscribed: lambda event: [("member", event.member_id)],
    ev.ConsumerMemberReconciled: lambda event: [("current", event.member_id)],
    ev.ConsumerMemberReplaced: lambda event: of_member(event.member_id),
    ev.FormerInstanceIdKept: lambda event: [("instance", event.group_instance_id)],
    ev.GroupEpochBumped: lambda event: [_EPOCH],
    ev.TargetAssigned: lambda event: [
        _ASSIGNMENT,
        *(("target", target.member_id) for target in event.targets),
    ],
    ev.TopicRegexResolved: lambda event: [("regex", event.regex)],
}
"""The keys whose value an event has."""
RELEASED: Final[dict[type, Callable[[Any], Keys]]] = {
    ev.ConsumerMemberSubscribed: _of_instance,
    ev.ConsumerMemberRemoved: lambda event: of_member(event.member_id),
    ev.ConsumerMemberReplaced: lambda event: [
        *of_member(event.replaced),
        *_of_instance(event.subscription),
    ],
    ev.TopicRegexForgotten: lambda event: [("regex", event.regex)],
}
"""The keys that have no value any more after an event."""
