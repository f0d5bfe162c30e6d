"""Encoding of events as records of `__share_group_state`, byte for byte as Kafka writes them.

A key is a type (0 snapshot, 1 update), group, topic id and partition; a value is a version and
the fields, with the count of completed deliveries as a tagged field if it is set. A tombstone
has a snapshot's key. Does not know batches or logs; `reading` decodes.
"""

from __future__ import annotations

from struct import Struct

from coordinator.events import share_states as ev
from coordinator.events.share_states import StateBatch
from coordinator.wire.primitives import uvarint

from .model import NO_COUNT, ShareStateKey

_SHORT, _INT = Struct(">h"), Struct(">i")
SNAPSHOT = Struct(">hiiiqqq")
UPDATE = Struct(">hiiq")
_BATCH = Struct(">qqbhx")  # the last byte: no tagged fields
_COMPLETE = Struct(">BBBi")
COMPLETE_TAG = 0


def record(key: ShareStateKey, event: ev.Event) -> tuple[bytes, bytes | None]:
    """Return key and value of an event's record."""
    of = _key(key, 1 if isinstance(event, ev.ShareStateUpdated) else 0)
    if isinstance(event, ev.ShareStateDeleted):
        return of, None
    if isinstance(event, ev.ShareStateUpdated):
        head = UPDATE.pack(0, event.snapshot_epoch, event.leader_epoch, event.start_offset)
    else:
        head = SNAPSHOT.pack(
            0,
            event.snapshot_epoch,
            event.state_epoch,
            event.leader_epoch,
            event.start_offset,
            event.create_ms,
            event.write_ms,
        )
    return of, head + _batches(event.batches) + _tags(event.complete_count)


def _key(key: ShareStateKey, kind: int) -> bytes:
    group = key.group_id.encode()
    return (
        _SHORT.pack(kind)
        + _SHORT.pack(len(group))
        + group
        + key.topic_id
        + _INT.pack(key.partition)
    )


def _batches(batches: tuple[StateBatch, ...]) -> bytes:
    return uvarint(len(batches) + 1) + b"".join(_BATCH.pack(*one) for one in batches)


def _tags(complete_count: int) -> bytes:
    return (
        b"\x00"
        if complete_count == NO_COUNT
        else _COMPLETE.pack(1, COMPLETE_TAG, 4, complete_count)
    )
