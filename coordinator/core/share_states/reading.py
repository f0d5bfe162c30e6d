"""Decoding of records of `__share_group_state` into events of share partitions.

A load folds them in the order of the log (SH-LD-2). Other records are skipped. Does not know
batches or logs; `records` encodes.
"""

from __future__ import annotations

import struct
from struct import Struct

from coordinator.events import share_states as ev
from coordinator.events.share_states import StateBatch
from coordinator.wire.primitives import WireError, read_any_tags, read_uvarint

from .model import NO_COUNT, ShareStateKey
from .records import COMPLETE_TAG, SNAPSHOT, UPDATE

_KEY = Struct(">hh")
_PLACE = Struct(">16si")
_BATCH = Struct(">qqbh")
_SNAPSHOT_KEY, _UPDATE_KEY = 0, 1


def event_of(key: bytes, value: bytes | None) -> tuple[ShareStateKey, ev.Event] | None:
    """Return the share partition and the event of a stored record, or None for a record of another
    kind.
    """
    try:
        return _event_of(key, value)
    except (struct.error, UnicodeDecodeError, WireError):
        return None


def _event_of(key: bytes, value: bytes | None) -> tuple[ShareStateKey, ev.Event] | None:
    kind, length = _KEY.unpack_from(key)
    if kind not in (_SNAPSHOT_KEY, _UPDATE_KEY) or length < 0:
        return None
    at = _KEY.size + length
    topic_id, partition = _PLACE.unpack_from(key, at)
    of = ShareStateKey(key[_KEY.size : at].decode(), topic_id, partition)
    if value is None:
        return (of, ev.ShareStateDeleted(topic_id)) if kind == _SNAPSHOT_KEY else None
    if kind == _UPDATE_KEY:
        version, epoch, leader, start = UPDATE.unpack_from(value)
        batches, complete = _rest(value, UPDATE.size)
        updated = ev.ShareStateUpdated(topic_id, epoch, leader, start, complete, batches)
        return None if version else (of, updated)
    version, *head = SNAPSHOT.unpack_from(value)
    epoch, state, leader, start, created, written = head
    batches, complete = _rest(value, SNAPSHOT.size)
    snapshot = ev.ShareStateSnapshotted(
        topic_id, epoch, state, leader, start, complete, created, written, batches
    )
    return None if version else (of, snapshot)


def _rest(value: bytes, at: int) -> tuple[tuple[StateBatch, ...], int]:
    """Decode state batches and the number of completed deliveries."""
    count, at = read_uvarint(value, at)
    batches = []
    for _ in range(count - 1):
        batches.append(StateBatch(*_BATCH.unpack_from(value, at)))
        _, at = read_any_tags(value, at + _BATCH.size)
    tags, _ = read_any_tags(value, at)
    complete = tags.get(COMPLETE_TAG)
    return tuple(batches), NO_COUNT if complete is None else int.from_bytes(
        complete, "big", signed=True
    )
