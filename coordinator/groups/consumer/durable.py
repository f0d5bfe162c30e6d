"""Under which keys the events of a consumer group are kept, so that later ones take the place of
earlier ones (PST-4).

The keys are those of Kafka's records: group epoch, member, target of a member, current assignment
of a member, regular expression. Does not depend on where the events are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from ..events import consumer as ev

Keys = list[Hashable]

_EPOCH, _ASSIGNMENT = "group epoch", "assignment epoch"


def is_beginning(event: object) -> bool:
    """Whether the event makes all that stood about the membership out of date."""
    return type(event) in _BEGINNINGS


def owned(event: ev.ConsumerEvent) -> Keys:
    """The keys whose value the event has."""
    keys = _OWNED.get(type(event))
    return [] if keys is None else keys(event)


def released(event: ev.ConsumerEvent) -> Keys:
    """The keys that have no value any more."""
    if isinstance(event, ev.ConsumerMemberRemoved):
        return _of_member(event.member_id)
    if isinstance(event, ev.ConsumerMemberReplaced):
        return _of_member(event.replaced)
    return [("regex", event.regex)] if isinstance(event, ev.TopicRegexForgotten) else []


def narrowed(event: ev.TargetAssigned, is_current: Callable[[Hashable], bool]) -> ev.TargetAssigned:
    """The targets that no later event has taken over."""
    return event._replace(
        targets=tuple(
            target for target in event.targets if is_current(("target", target.member_id))
        )
    )


def _of_member(member_id: str) -> Keys:
    return [("member", member_id), ("current", member_id), ("target", member_id)]


_BEGINNINGS = frozenset(
    {
        ev.ConsumerGroupCreated,
        ev.ConsumerGroupUpgraded,
        ev.ConsumerGroupDowngraded,
        ev.MembershipReset,
    }
)
_OWNED: dict[type, Callable[[Any], Keys]] = {
    ev.ConsumerMemberSubscribed: lambda event: [("member", event.member_id)],
    ev.ConsumerMemberReconciled: lambda event: [("current", event.member_id)],
    ev.ConsumerMemberReplaced: lambda event: _of_member(event.member_id),
    ev.GroupEpochBumped: lambda event: [_EPOCH],
    ev.TargetAssigned: lambda event: [
        _ASSIGNMENT,
        *(("target", target.member_id) for target in event.targets),
    ],
    ev.TopicRegexResolved: lambda event: [("regex", event.regex)],
}
