"""Under which keys the durable events of consumer and share groups are kept: those of both tables.

Owns nothing of its own; each kind of group has its keys beside its events' meaning. Does not depend
on where the events are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Final

from coordinator.events.groups.consumer import TargetAssigned
from coordinator.events.groups.share import ShareTargetAssigned

from .consumer import durable as consumer
from .share import durable as share

Keys = list[Hashable]
Targets = TargetAssigned | ShareTargetAssigned
"""Events that have the targets of several members."""

_BEGINNINGS: Final = consumer.BEGINNINGS | share.BEGINNINGS
_OWNED: Final = consumer.OWNED | share.OWNED
_RELEASED: Final = consumer.RELEASED | share.RELEASED
KEYED: Final = frozenset({*_OWNED, *_RELEASED})
"""The events that are kept by key."""


def is_beginning(event: object) -> bool:
    """True if the event makes all that stood about the membership out of date."""
    return type(event) in _BEGINNINGS


def owned(event: object) -> Keys:
    """The keys whose value the event has."""
    return _keys(_OWNED, event)


def released(event: object) -> Keys:
    """The keys that have no value any more."""
    return _keys(_RELEASED, event)


def narrowed(event: Targets, is_current: Callable[[Hashable], bool]) -> Targets:
    """The targets that no later event has taken over."""
    return event._replace(
        targets=tuple(
            target for target in event.targets if is_current(("target", target.member_id))
        )
    )


def _keys(table: dict[type, Callable[[Any], Keys]], event: object) -> Keys:
    keys = table.get(type(event))
    return [] if keys is None else keys(event)
