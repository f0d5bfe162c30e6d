"""Decisions about the stored state of a share partition: an event, or Kafka's error. Order of
checks as in Kafka 4.4.0 (SH-ST-1 to SH-ST-5).

`state` None: the share partition is not initialized. Leader epochs fence: a read in a newer
epoch shuts out leaders of older ones.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from coordinator.base.errors import ErrorCode
from coordinator.events import share_states as ev
from coordinator.events.share_states import StateBatch

from .batches import combined
from .model import NO_COUNT, NO_OFFSET, ShareState

NEGATIVE_PARTITION = "The partition id cannot be a negative number."
NEGATIVE_LEADER_EPOCH = "The leader epoch cannot be a negative number."
NEGATIVE_STATE_EPOCH = "The state epoch cannot be a negative number."
FENCED_STATE_BEFORE = (
    "The share coordinator rejected the request because the share-group state epoch did not match."
)
NO_EPOCH = -1
UNINITIALIZED = "{} operation on uninitialized share partition not allowed."


class Decision(NamedTuple):
    """An event to write; without one, `error` is the refusal, or NONE if nothing needs to be
    written.
    """

    event: ev.Event | None = None
    error: ErrorCode = ErrorCode.NONE
    message: str = ""


class Asked(NamedTuple):
    """The share partition that a request names, and the circumstances. `known`: the topic has this
    partition; `now_ms`: wall clock; `as_given`: older releases accept negative epochs, start
    offsets and counts (SH-44-3).
    """

    topic_id: bytes
    partition: int
    known: bool
    now_ms: int
    updates_a_snapshot: int
    as_given: bool = False


class Written(NamedTuple):
    """A leader's write: its epochs, the start offset, and the changed batches."""

    state_epoch: int
    leader_epoch: int
    start_offset: int
    complete_count: int
    batches: tuple[StateBatch, ...]


def refused(error: ErrorCode, message: str = "") -> Decision:
    """Return a refusal, with Kafka's text."""
    return Decision(None, error, message or error.message)


def _is_behind(epoch: int, known: int) -> bool:
    """Return True if an epoch is outdated; a missing one (-1) is not."""
    return epoch != NO_EPOCH and epoch < known


def _fenced_state(as_given: bool) -> Decision:
    return refused(ErrorCode.FENCED_STATE_EPOCH, FENCED_STATE_BEFORE if as_given else "")


def decide_initialize(
    state: ShareState | None, asked: Asked, state_epoch: int, start_offset: int
) -> Decision:
    """Decide InitializeShareGroupState: the stored state is replaced, except the snapshot epoch,
    the count of updates, and the fencing epoch (SH-ST-1). Start offset -1: the leader chooses
    it.
    """
    if asked.partition < 0:
        return refused(ErrorCode.INVALID_REQUEST, NEGATIVE_PARTITION)
    if state_epoch < 0 and not asked.as_given:
        return refused(ErrorCode.INVALID_REQUEST, NEGATIVE_STATE_EPOCH)
    if state is not None and _is_behind(state_epoch, state.state_epoch):
        return _fenced_state(asked.as_given)
    if not asked.known:
        return refused(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    return Decision(
        ev.ShareStateSnapshotted(
            asked.topic_id,
            0 if state is None else state.snapshot_epoch + 1,
            state_epoch,
            0,
            start_offset,
            NO_COUNT if start_offset == NO_OFFSET else 0,
            asked.now_ms,
            asked.now_ms,
            (),
            counted_on(state, asked.updates_a_snapshot),
        )
    )


def counted_on(state: ShareState | None, updates_a_snapshot: int) -> int:
    """Return the number of updates that count towards the next snapshot: 0 if they were enough for
    one.
    """
    return 0 if state is None or state.updates >= updates_a_snapshot else state.updates


def decide_read(state: ShareState | None, asked: Asked, leader_epoch: int) -> Decision:
    """Decide ReadShareGroupState: a leader loads the state and fences former ones (SH-ST-2), which
    is written like any change (SH-ST-3).
    """
    if asked.partition < 0:
        return refused(ErrorCode.INVALID_REQUEST, NEGATIVE_PARTITION)
    if leader_epoch < 0 and not asked.as_given:
        return refused(ErrorCode.INVALID_REQUEST, NEGATIVE_LEADER_EPOCH)
    if state is None:
        return refused(ErrorCode.INVALID_REQUEST, UNINITIALIZED.format("Read"))
    if _is_behind(leader_epoch, state.fencing_epoch):
        return refused(ErrorCode.FENCED_LEADER_EPOCH)
    if not asked.known:
        return refused(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    if leader_epoch in (state.fencing_epoch, NO_EPOCH):
        return Decision()
    start, complete = state.start_offset, state.complete_count
    if state.updates < asked.updates_a_snapshot:
        return Decision(
            ev.ShareStateUpdated(
                asked.topic_id, state.snapshot_epoch, leader_epoch, start, complete, ()
            )
        )
    snapshot = _snapshot(asked, state, start, complete, state.batches)
    return Decision(snapshot._replace(leader_epoch=leader_epoch))


def decide_write(state: ShareState | None, asked: Asked, written: Written) -> Decision:
    """Decide WriteShareGroupState: a leader's change is stored as an update or, after so many, in a
    snapshot (SH-ST-3).
    """
    if asked.partition < 0:
        return refused(ErrorCode.INVALID_REQUEST, NEGATIVE_PARTITION)
    if written.leader_epoch < 0 and not asked.as_given:
        return refused(ErrorCode.INVALID_REQUEST, NEGATIVE_LEADER_EPOCH)
    if written.state_epoch < 0 and not asked.as_given:
        return refused(ErrorCode.INVALID_REQUEST, NEGATIVE_STATE_EPOCH)
    if state is None:
        return refused(ErrorCode.INVALID_REQUEST, UNINITIALIZED.format("Write"))
    if _is_behind(written.leader_epoch, state.fencing_epoch):
        return refused(ErrorCode.FENCED_LEADER_EPOCH)
    if _is_behind(written.state_epoch, state.state_epoch):
        return _fenced_state(asked.as_given)
    if not asked.known:
        return refused(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    start, complete = state.start_offset, state.complete_count
    if asked.as_given:
        complete = written.complete_count
        start = start if written.start_offset == NO_OFFSET else written.start_offset
    elif written.start_offset > start:
        start, complete = written.start_offset, written.complete_count
    elif written.start_offset == start:
        complete = max(complete, written.complete_count)
    if state.updates < asked.updates_a_snapshot:
        batches = combined((), written.batches, start)
        return Decision(
            ev.ShareStateUpdated(
                asked.topic_id, state.snapshot_epoch, state.leader_epoch, start, complete, batches
            )
        )
    batches = combined(state.batches, written.batches, start)
    return Decision(_snapshot(asked, state, start, complete, batches))


def _snapshot(
    asked: Asked,
    state: ShareState,
    start_offset: int,
    complete_count: int,
    batches: Iterable[StateBatch],
) -> ev.ShareStateSnapshotted:
    return ev.ShareStateSnapshotted(
        asked.topic_id,
        state.snapshot_epoch + 1,
        state.state_epoch,
        state.leader_epoch,
        start_offset,
        complete_count,
        asked.now_ms,
        asked.now_ms,
        tuple(batches),
    )


def decide_delete(state: ShareState | None, asked: Asked) -> Decision:
    """Decide DeleteShareGroupState; a state that was never stored is deleted too (SH-ST-4)."""
    if asked.partition < 0:
        return refused(ErrorCode.INVALID_REQUEST, NEGATIVE_PARTITION)
    if state is not None:
        return Decision(ev.ShareStateDeleted(asked.topic_id))
    return Decision() if asked.known else refused(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)


def decide_summary(partition: int, *, known: bool) -> Decision:
    """Decide ReadShareGroupStateSummary; an uninitialized state has zeros and no offset (SH-ST-5)."""
    if partition < 0:
        return refused(ErrorCode.INVALID_REQUEST, NEGATIVE_PARTITION)
    return Decision() if known else refused(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
