"""Expiry of committed offsets: those whose retention is over or whose topic was deleted are removed
without a request (A.14).
"""

from __future__ import annotations

from collections.abc import Collection

from coordinator.events.groups.offsets import OffsetsRemoved

from ..config import GroupConfig
from ..group import Group
from ..offset_table import Offset


def removed_with_topics(
    group: Group, partitions: Collection[tuple[str, int]]
) -> OffsetsRemoved | None:
    """Return the event that removes a group's offsets of deleted partitions, or None (EXP-7).
    `partitions`: a set or a dictionary.

    Iterates over the smaller of the two collections: a deleted topic may have many partitions,
    and a group many offsets.
    """
    offsets, pending = group.offsets, group.pending_offsets
    if len(partitions) > len(offsets) + pending.size():
        gone = tuple(key for key in dict.fromkeys((*offsets, *pending.keys())) if key in partitions)
    else:
        gone = tuple(key for key in partitions if key in offsets or key in pending)
    return OffsetsRemoved("topic deleted", gone) if gone else None


def expired(group: Group, now: int, config: GroupConfig) -> OffsetsRemoved | None:
    """Return the event that removes expired offsets, or None (EXP-1, EXP-2, EXP-3). Offsets with a
    pending transactional commit stay (EXP-4).
    """
    membership = group.membership
    if not group.offsets or not membership.offsets_may_expire():
        return None
    since_ms = membership.offsets_unused_since_ms()
    gone = tuple(
        (topic, partition)
        for (topic, partition), o in group.offsets.items()
        if not membership.is_subscribed_to(topic)
        and (topic, partition) not in group.pending_offsets
        and _is_over(o, since_ms, now + config.clock_ms, config.offsets_retention_ms)
    )
    return OffsetsRemoved("expired", gone) if gone else None


def _is_over(offset: Offset, base_ms: int | None, now: int, retention_ms: int) -> bool:
    if offset.expire_ms is not None:
        return now >= offset.expire_ms
    return now - (offset.committed_ms if base_ms is None else base_ms) >= retention_ms
