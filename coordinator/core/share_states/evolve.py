"""Fold of events into a stored state: its only writer. Contains no rule except how an update is
combined with the present batches.
"""

from __future__ import annotations

from coordinator.events import share_states as ev

from .batches import combined
from .model import ShareState


def evolve(state: ShareState, event: ev.ShareStateSnapshotted | ev.ShareStateUpdated) -> None:
    """Fold an event. After a ShareStateDeleted the caller drops the state."""
    if isinstance(event, ev.ShareStateSnapshotted):
        state.snapshot_epoch, state.state_epoch = event.snapshot_epoch, event.state_epoch
        state.leader_epoch, state.start_offset = event.leader_epoch, event.start_offset
        state.complete_count = event.complete_count
        state.create_ms, state.write_ms = event.create_ms, event.write_ms
        state.batches, state.updates = event.batches, event.updates
        state.fencing_epoch = max(state.fencing_epoch, event.leader_epoch)
        return
    state.leader_epoch = event.leader_epoch
    state.fencing_epoch = max(state.fencing_epoch, event.leader_epoch)
    state.start_offset = event.start_offset
    state.complete_count = event.complete_count
    state.batches = combined(state.batches, event.batches, state.start_offset)
    state.updates += 1
