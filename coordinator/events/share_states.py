"""The events of the stored state of a share partition: past-tense values. Each is one
record of `__share_group_state`: a snapshot (with the state as a whole), an update (with what
changed), or a tombstone.

Instants are wall-clock milliseconds, as they stand in the records.
"""

from __future__ import annotations

from typing import NamedTuple


class StateBatch(NamedTuple):
    """A range of offsets with the same state and delivery count."""

    first_offset: int
    last_offset: int
    delivery_state: int
    delivery_count: int


class ShareStateSnapshotted(NamedTuple):
    """The whole state was written: when it was initialised, when its start offset was altered, or
    after a number of updates. `updates`: those before it that count towards the next snapshot
    (not in the record).
    """

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
    """Changes were written: the states of some records, the start offset, or the leader epoch."""

    topic_id: bytes
    snapshot_epoch: int
    leader_epoch: int
    start_offset: int
    complete_count: int
    batches: tuple[StateBatch, ...]


class ShareStateDeleted(NamedTuple):
    """The state was deleted: the share coordinator knows nothing of the share partition any more."""

    topic_id: bytes


Event = ShareStateSnapshotted | ShareStateUpdated | ShareStateDeleted
