"""Translation of a leader's change into the state written to the share coordinator, and of its
refusals into client errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from coordinator.base.errors import ErrorCode
from coordinator.core.share_partitions.acknowledge import Refused
from coordinator.core.share_partitions.states import RecordState
from coordinator.core.share_states.decide import Written
from coordinator.core.share_states.model import ShareStateKey
from coordinator.events import share_partitions as ev
from coordinator.events.share_states import StateBatch

if TYPE_CHECKING:
    from coordinator.core.share_partitions.model import SharePartition
    from coordinator.core.share_states.decide import Decision

_TOLD_AS: Final = {
    ErrorCode.NOT_COORDINATOR: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.COORDINATOR_NOT_AVAILABLE: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.GROUP_ID_NOT_FOUND: ErrorCode.GROUP_ID_NOT_FOUND,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ErrorCode.FENCED_LEADER_EPOCH: ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.FENCED_STATE_EPOCH: ErrorCode.NOT_LEADER_OR_FOLLOWER,
}
"""A leader's answer to clients for an error that the share coordinator answered; any other is
UNKNOWN_SERVER_ERROR."""


def told_as(error: ErrorCode) -> ErrorCode:
    """Return the error that clients get for an error of the share coordinator."""
    return _TOLD_AS.get(error, ErrorCode.UNKNOWN_SERVER_ERROR)


def refused_write(decision: Decision) -> Refused | None:
    """Return the clients' refusal if the share coordinator did not store a change, else None."""
    if not decision.error:
        return None
    return Refused(told_as(decision.error), f"Error in write state RPC. {decision.message}")


def state_key(partition: SharePartition) -> ShareStateKey:
    """Return the key under which the state of a share partition is stored."""
    return ShareStateKey(partition.key.group_id, partition.topic_id, partition.key.partition)


def written(
    partition: SharePartition, records: Sequence[ev.RecordRange | ev.AcknowledgedRange]
) -> Written:
    """Return the state to write for a change. Its start offset is the one before the change
    (SH-OFF-1).
    """
    start = partition.start_offset
    complete = partition.complete_count + sum(
        max(of.last_offset - max(of.first_offset, start) + 1, 0)
        for of in records
        if RecordState(of.state).final
    )
    return Written(
        partition.state_epoch,
        partition.leader_epoch,
        partition.start_offset,
        complete,
        tuple(
            StateBatch(
                of.first_offset,
                of.last_offset,
                RecordState(of.state).number,
                of.delivery_count,
            )
            for of in records
        ),
    )
