"""Fold of events into a group: the only writer of a `Group`. Passes each event to the part of the
group that it changes.

The group is changed in place: copying thousands of members for each event would cost too much.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

from coordinator.events import groups as ev
from coordinator.events.groups import consumer as cev
from coordinator.events.groups import share as sev

from .classic import evolve as classic
from .classic.model import ClassicGroup
from .consumer import evolve as consumer
from .consumer.model import ConsumerMembership
from .group import Group
from .offsets import evolve as offsets
from .share import evolve as share
from .share.model import ShareMembership


def evolve(group: Group, event: ev.Event, at: int) -> None:
    """Fold `event`, which happened at the instant `at`, into `group`."""
    kind, membership = type(event), group.membership
    if kind is ev.OffsetsCommitted:  # the most frequent
        _OFFSET_FOLDS[kind](group, event, at)
        return
    if type(membership) is ClassicGroup:
        change = classic.FOLDS.get(kind)
        if change is not None:  # none of these converts a group
            change(membership, event, at)
            return
    fold = _OFFSET_FOLDS.get(kind)
    if fold is not None:
        fold(group, event, at)
        return
    convert = _CONVERSIONS.get(kind)
    if convert is not None:
        convert(group, event, at)
    membership = group.membership
    if isinstance(membership, ClassicGroup):
        if convert is None:
            classic.evolve(membership, event, at)
    elif isinstance(membership, ShareMembership) and kind in _OF_SHARE_GROUPS:
        share.evolve(membership, event, at)  # type: ignore[arg-type]
    elif isinstance(membership, ConsumerMembership) and kind in _OF_CONSUMER_GROUPS:
        consumer.evolve(membership, event, at)  # type: ignore[arg-type]
    elif type(event) is ev.GroupLoaded:
        membership.loading = False


def _becomes_consumer(group: Group, event: ev.Event, at: int) -> None:
    group.membership = ConsumerMembership(group.group_id, loading=group.membership.loading)


def _becomes_share(group: Group, event: ev.Event, at: int) -> None:
    group.membership = ShareMembership(group.group_id, loading=group.membership.loading)


def _becomes_classic(group: Group, event: ev.Event, at: int) -> None:
    group.membership = ClassicGroup(group.group_id, at, loading=group.membership.loading)
    if isinstance(event, cev.ConsumerGroupDowngraded):
        classic.take_over(group.membership, event, at)


_OF_CONSUMER_GROUPS = frozenset(get_args(cev.ConsumerEvent))
_OF_SHARE_GROUPS = frozenset(get_args(sev.ShareEvent))
_CONVERSIONS: dict[type, Callable[[Group, ev.Event, int], None]] = {
    cev.ConsumerGroupCreated: _becomes_consumer,
    cev.ConsumerGroupUpgraded: _becomes_consumer,
    cev.ConsumerGroupDowngraded: _becomes_classic,
    cev.MembershipReset: _becomes_classic,
    sev.ShareGroupCreated: _becomes_share,
}
_OFFSET_FOLDS: dict[type, Callable[[Group, Any, int], None]] = offsets.FOLDS
