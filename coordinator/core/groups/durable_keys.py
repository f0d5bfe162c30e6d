"""Keys of the durable events of consumer and share groups: both tables together. Does not know
where events are kept.
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
    """Return True if the event makes all earlier events of the membership obsolete."""
    return type(event) in _BEGINNINGS


def owned(event: object) -> Keys:
    """Return the keys whose values the event contains."""
    return _keys(_OWNED, event)


def released(event: object) -> Keys:
    """Return the keys whose values the event removes."""
    return _keys(_RELEASED, event)


def narrowed(event: Targets, is_current: Callable[[Hashable], bool]) -> Targets:
    """Return the event with only those targets that no later event has replaced."""
    return event._replace(
        targets=tuple(
            target for target in event.targets if is_current(("target", target.member_id))
        )
    )


def _keys(table: dict[type, Callable[[Any], Keys]], event: object) -> Keys:
    keys = table.get(type(event))
    return [] if keys is None else keys(event)
