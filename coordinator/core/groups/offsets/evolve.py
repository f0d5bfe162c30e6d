"""Fold of offset events into a group: the only writer of a group's offsets. Contains no rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from coordinator.events.groups.offsets import (
    OffsetsCommitted,
    OffsetsPending,
    OffsetsRemoved,
    PendingOffsetsEnded,
)

from ..offset_table import Offset

if TYPE_CHECKING:
    from ..group import Group


def _committed(group: Group, event: OffsetsCommitted, at: int) -> None:
    commit, pending = group.offsets.commit, group.pending_offsets
    anybody_waits = bool(pending)
    for topic, partition, offset, leader_epoch, metadata, expire_ms in event.offsets:
        commit(topic, partition, Offset(offset, leader_epoch, metadata, at, expire_ms))
        if anybody_waits:
            pending.overtake((topic, partition))


def _offsets_pending(group: Group, event: OffsetsPending, at: int) -> None:
    for o in event.offsets:
        offset = Offset(o.offset, o.leader_epoch, o.metadata, at, o.expire_ms)
        group.pending_offsets.add(event.producer_id, (o.topic, o.partition), offset)


def _pending_ended(group: Group, event: PendingOffsetsEnded, at: int) -> None:
    for (topic, partition), offset in group.pending_offsets.end(
        event.producer_id, event.partitions
    ).items():
        group.offsets.commit(topic, partition, offset)


def _offsets_removed(group: Group, event: OffsetsRemoved, at: int) -> None:
    for key in event.partitions:
        group.offsets.forget(key)
        group.pending_offsets.cancel(key)


FOLDS: dict[type, Callable[[Group, Any, int], None]] = {
    OffsetsCommitted: _committed,
    OffsetsPending: _offsets_pending,
    PendingOffsetsEnded: _pending_ended,
    OffsetsRemoved: _offsets_removed,
}
