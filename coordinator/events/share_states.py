"""The events of the stored state of a share partition: past-tense values. Each is one
record of `__share_group_state`: a snapshot (with the state as a whole), an update (with what
changed), or a tombstone.

Instants are wall-clock milliseconds, as they stand in the records.
"""

from __future__ import annotations

from typing import NamedTuple


class StateBatch(NamedTuple):
    """Offsets that are in one state and were delivered equally often."""

    first_offset: int
    last_offset: int
    delivery_state: int
    delivery_count: int


class ShareStateSnapshotted(NamedTuple):
    """The whole state was written: at its initialization, by an alteration of its start, or after
    so many updates. `updates`: those before it that count towards the next one (not in the
    record)."""

    topic_id: bytes
    snapshot_epoch: int
    state_epoch: int
    leader_epoch: int
    start_offset: int
    complete_count: int
    create_ms: int
    write_ms: int
    batches: tuple[StateBatch, ...]
    updates: int = 0


class ShareStateUpdated(NamedTuple):
    """The changes were written: the states of some records, where the share partition starts, or
    who leads it."""

    topic_id: bytes
    snapshot_epoch: int
    leader_epoch: int
    start_offset: int
    complete_count: int
    batches: tuple[StateBatch, ...]


class ShareStateDeleted(NamedTuple):
    """The state was deleted: nothing is known of the share partition any more."""

    topic_id: bytes


Event = ShareStateSnapshotted | ShareStateUpdated | ShareStateDeleted
