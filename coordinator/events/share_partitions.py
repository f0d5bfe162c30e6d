"""Events of a share partition at its leader: past-tense values, the only thing that changes one.

Records are given as ranges of offsets. Events hold the outcome of every rule (a record's new
state, the new start offset), so that folding them needs no rule. All of them are soft: they are
lost with the leader, except what it stored with the share coordinator (`events.share_states`).
States and acknowledgements are given by their names.
"""

from __future__ import annotations

from typing import NamedTuple

LOG_STARTS_BEHIND = "the log starts behind them"
UNLOADED = "its group has no session left"
"""The reason for closing a share partition that is still led here: the next session begins with the
stored state (SH-SES-6)."""
"""Why records are archived that left the log: its start has overtaken the start offset."""


class Span(NamedTuple):
    """A range of offsets, both ends included."""

    first_offset: int
    last_offset: int


class RecordRange(NamedTuple):
    """A range of records with the same state and delivery count."""

    first_offset: int
    last_offset: int
    state: str
    delivery_count: int


class AcknowledgedRange(NamedTuple):
    """A range of records that a member acknowledged alike, with their state after that."""

    first_offset: int
    last_offset: int
    acknowledgement: str
    state: str
    delivery_count: int


class SharePartitionOpened(NamedTuple):
    """The leader of a partition began to serve it to a share group, from the stored state."""

    topic_id: bytes
    start_offset: int
    state_epoch: int
    leader_epoch: int
    records: tuple[RecordRange, ...]


class RecordsAcquired(NamedTuple):
    """A member acquired records, which are locked for it until a deadline. `batches`: the batches
    that became in-flight by it; their other records are available.
    """

    member_id: str
    records: tuple[RecordRange, ...]
    batches: tuple[Span, ...]
    deadline_ms: int
    start_offset: int


class RecordsAcknowledged(NamedTuple):
    """A member acknowledged records that it had acquired. `deadline_ms`: when the locks that it
    renewed expire; None if it renewed none.
    """

    member_id: str
    records: tuple[AcknowledgedRange, ...]
    deadline_ms: int | None
    start_offset: int


class AcknowledgementWaited(NamedTuple):
    """A member's acknowledgement could not be stored at once. `reason`: why; `failed`: the name of
    the error with which the member is answered, None if it was stored now.
    """

    member_id: str
    reason: str
    records: tuple[Span, ...]
    waited_ms: int
    failed: str | None


class RecordsReleased(NamedTuple):
    """A member lost records that it had acquired, without acknowledging them: their locks expired,
    or its session ended.
    """

    member_id: str
    reason: str
    records: tuple[RecordRange, ...]
    start_offset: int


class RecordsArchived(NamedTuple):
    """Records will not be delivered (again): retention deleted them, or their transaction was
    aborted.
    """

    reason: str
    records: tuple[RecordRange, ...]
    start_offset: int


class DeadLettersWritten(NamedTuple):
    """Copies of records were written to the group's dead-letter topic, the first at `letter_offset`
    (KIP-1191).
    """

    first_offset: int
    last_offset: int
    letter_topic: str
    letter_partition: int
    letter_offset: int


class SharePartitionClosed(NamedTuple):
    """The leader no longer serves the share partition; its in-flight state is dropped."""

    reason: str


Event = (
    SharePartitionOpened
    | RecordsAcquired
    | RecordsAcknowledged
    | AcknowledgementWaited
    | RecordsReleased
    | RecordsArchived
    | DeadLettersWritten
    | SharePartitionClosed
)
