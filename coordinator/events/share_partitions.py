"""The events of a share partition at its leader: past-tense values, the only thing that
changes one.

Records are told as ranges of offsets. Events hold the outcome of every rule (which state a record
is in, where the share partition starts afterwards), so that folding them needs no rule. All of them
are soft: they are lost with the leader, but for what it stored with the share coordinator
(`events.share_states`). States and acknowledgements are told by their names.
"""

from __future__ import annotations

from typing import NamedTuple

LOG_STARTS_BEHIND = "the log starts behind them"
UNLOADED = "its group has no session left"
"""Why a share partition was closed that is still led here: whoever comes next begins with what is
stored (SH-SES-6)."""
"""Why records are archived that left the log: its start has overtaken the start offset."""


class Span(NamedTuple):
    """Offsets from the first to the last."""

    first_offset: int
    last_offset: int


class RecordRange(NamedTuple):
    """Records that are in one state and were delivered equally often."""

    first_offset: int
    last_offset: int
    state: str
    delivery_count: int


class AcknowledgedRange(NamedTuple):
    """Records of which a member said one thing, and the state that they are in after that."""

    first_offset: int
    last_offset: int
    acknowledgement: str
    state: str
    delivery_count: int


class SharePartitionOpened(NamedTuple):
    """The leader of a partition began to serve it to a share group, from what was stored."""

    topic_id: bytes
    start_offset: int
    state_epoch: int
    leader_epoch: int
    records: tuple[RecordRange, ...]


class RecordsAcquired(NamedTuple):
    """A member was given records, which are locked for it until a deadline. `batches`: those that
    came into flight by it; what is not acquired of them is available."""

    member_id: str
    records: tuple[RecordRange, ...]
    batches: tuple[Span, ...]
    deadline_ms: int
    start_offset: int


class RecordsAcknowledged(NamedTuple):
    """A member said what became of records that it held. `deadline_ms`: until when it holds those
    whose lock it renewed; None if there are none."""

    member_id: str
    records: tuple[AcknowledgedRange, ...]
    deadline_ms: int | None
    start_offset: int


class AcknowledgementWaited(NamedTuple):
    """A member's word on records could not be stored at once. `reason`: why; `failed`: the name
    of the error that its member is told, None if it is stored now."""

    member_id: str
    reason: str
    records: tuple[Span, ...]
    waited_ms: int
    failed: str | None


class RecordsReleased(NamedTuple):
    """A member lost records that it held, without a word of its own: their locks ended, or its
    session did."""

    member_id: str
    reason: str
    records: tuple[RecordRange, ...]
    start_offset: int


class RecordsArchived(NamedTuple):
    """Records are delivered to nobody (any more): they left the log, or a transaction aborted."""

    reason: str
    records: tuple[RecordRange, ...]
    start_offset: int


class DeadLettersWritten(NamedTuple):
    """Dead letters of records are in the group's topic for them, the first at `letter_offset`
    (KIP-1191)."""

    first_offset: int
    last_offset: int
    letter_topic: str
    letter_partition: int
    letter_offset: int


class SharePartitionClosed(NamedTuple):
    """The leader serves the share partition no longer; what was in flight is forgotten."""

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
