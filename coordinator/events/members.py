"""Events of stream `member`: what the application of a member or a producer did and saw, as its
client reports it. Only this project's own clients write it.

`client` is the client id. Members of the consumer protocol and of share groups give
`member_epoch` once they have one; the lines of classic members have the generation.
"""

from __future__ import annotations

from typing import NamedTuple

from .values import LeftOut


class PartitionsAssigned(NamedTuple):
    """A member's rebalance listener was called with newly assigned partitions; an eager member's
    with all of them.
    """

    client: str
    member_epoch: LeftOut[int]
    partitions: tuple[tuple[str, int], ...]


class PartitionsRevoked(NamedTuple):
    """A member's rebalance listener was called with the partitions that it gives up."""

    client: str
    member_epoch: LeftOut[int]
    partitions: tuple[tuple[str, int], ...]


class PartitionsLost(NamedTuple):
    """A member's rebalance listener was called with partitions that it lost before it could give
    them up.
    """

    client: str
    member_epoch: LeftOut[int]
    partitions: tuple[tuple[str, int], ...]


class MemberStarted(NamedTuple):
    """A simulated member's process began."""

    client: str
    member_epoch: LeftOut[int] = None


class MemberClosing(NamedTuple):
    """A simulated member's process is being closed."""

    client: str
    member_epoch: LeftOut[int] = None


class MemberClosed(NamedTuple):
    """A simulated member's process has ended."""

    client: str
    member_epoch: LeftOut[int] = None


class MemberCrashed(NamedTuple):
    """A simulated member's process was killed; `why`: the record that crashed it, if one did."""

    client: str
    member_epoch: LeftOut[int] = None
    why: LeftOut[str] = None


class MemberFailed(NamedTuple):
    """A member's application ended with an error."""

    client: str
    member_epoch: LeftOut[int]
    why: str


class ApplicationStalled(NamedTuple):
    """A member's application stopped polling."""

    client: str
    member_epoch: LeftOut[int] = None


class ApplicationResumed(NamedTuple):
    """A member's application polls again."""

    client: str
    member_epoch: LeftOut[int] = None


class RecordsPolled(NamedTuple):
    """A poll gave the application records of a partition."""

    client: str
    member_epoch: LeftOut[int]
    ranges: tuple[tuple[int, int], ...]
    """First and last offset of each range."""
    isolation: str


class RecordsProcessed(NamedTuple):
    """The application has finished with records of a partition."""

    client: str
    member_epoch: LeftOut[int]
    ranges: tuple[tuple[int, int], ...]


class PositionReset(NamedTuple):
    """auto.offset.reset chose the offset to start at."""

    client: str
    member_epoch: LeftOut[int]
    offset: int
    why: str


class Rewound(NamedTuple):
    """The application went back to an offset after an aborted transaction."""

    client: str
    member_epoch: LeftOut[int]
    offset: int


class OffsetOf(NamedTuple):
    """A partition's offset in a commit."""

    topic: str
    partition: int
    offset: int


class CommitEnded(NamedTuple):
    """A commit of the application was answered, or failed."""

    client: str
    member_epoch: LeftOut[int]
    offsets: tuple[OffsetOf, ...]
    failed: str | None
    """The error, or None."""


class DeliveredRange(NamedTuple):
    """A range of records with the same delivery count."""

    first_offset: int
    last_offset: int
    delivery_count: int


class SharedRecordsPolled(NamedTuple):
    """A poll gave the application of a share consumer records of a partition."""

    client: str
    member_epoch: LeftOut[int]
    records: tuple[DeliveredRange, ...]


class AcknowledgedOffsets(NamedTuple):
    """A range of records with the same acknowledgement: `gap`, `accept`, `release`, `reject` or
    `renew`.
    """

    first_offset: int
    last_offset: int
    acknowledgement: str


class AcknowledgementsEnded(NamedTuple):
    """Acknowledgements of a share consumer were answered, or can no longer be."""

    client: str
    member_epoch: LeftOut[int]
    records: tuple[AcknowledgedOffsets, ...]
    failed: str | None
    """Kafka's name of an error, or None."""


class RequestRepeated(NamedTuple):
    """A share consumer's request that arrived a second time was answered (in a simulation)."""

    client: str
    member_epoch: LeftOut[int]
    api: str
    sent_ms: int
    failed: str | None
    """Kafka's name of the error, or None."""


class ProducerStarted(NamedTuple):
    """A simulated producer's process began."""

    client: str


class ProducerClosing(NamedTuple):
    """A simulated producer's process is being closed."""

    client: str


class ProducerClosed(NamedTuple):
    """A simulated producer's process has ended; `sent`: how many records it had sent."""

    client: str
    sent: int


class ProducerCrashed(NamedTuple):
    """A simulated producer's process was killed; `sent`: how many records it had sent."""

    client: str
    sent: int


class ProducerFailed(NamedTuple):
    """A producer's application ended with an error."""

    client: str
    why: str


class RecordsSent(NamedTuple):
    """A producer sends a batch for the first time."""

    client: str
    member_epoch: LeftOut[int]
    producer_id: int
    producer_epoch: int
    sequence: int
    """Of the first record; -1 without idempotence."""
    count: int  # type: ignore[assignment]  # of a tuple it is a method, which nobody calls here
    sources: tuple[tuple[str, int, int], ...] = ()
    """Of a pipeline: topic, partition and offset that each record was made from."""


class RecordsDelivered(NamedTuple):
    """A batch was acknowledged, or the producer gave it up."""

    client: str
    member_epoch: LeftOut[int]
    offset: int
    """The offset of its first record; -1 if it is not known."""
    count: int  # type: ignore[assignment]  # of a tuple it is a method, which nobody calls here
    acks: str
    failed: str | None


class TransactionEnded(NamedTuple):
    """A producer's transaction ended."""

    client: str
    member_epoch: LeftOut[int]
    committed: bool
    failed: str | None


ProcessEvent = MemberCrashed | MemberFailed | ApplicationStalled | ApplicationResumed
"""Events of members' own processes, which belong to their groups."""
MemberEvent = (
    PartitionsAssigned
    | PartitionsRevoked
    | PartitionsLost
    | MemberStarted
    | MemberClosing
    | MemberClosed
    | MemberCrashed
    | MemberFailed
    | ApplicationStalled
    | ApplicationResumed
    | RecordsPolled
    | RecordsProcessed
    | PositionReset
    | Rewound
    | CommitEnded
    | SharedRecordsPolled
    | AcknowledgementsEnded
    | RequestRepeated
    | RecordsSent
    | RecordsDelivered
    | TransactionEnded
)
"""Events that have the member epoch, None of those who have none."""
ProducerEvent = (
    ProducerStarted | ProducerClosing | ProducerClosed | ProducerCrashed | ProducerFailed
)
Event = MemberEvent | ProducerEvent
