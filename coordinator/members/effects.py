"""The actions of a member: plain values for its driver, in the order they are to be done.

Callbacks are not among them: the application's `RebalanceListener` is called inside `Member.poll`
and `Member.close`, at the points where Java calls it, because a member goes on only when a callback
has returned.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol, TypeAlias

from assignors import TopicPartition
from coordinator.wire.schema import Request

from .faults import MemberFault


class Node(NamedTuple):
    """A broker, as FindCoordinator names it."""

    node_id: int
    host: str
    port: int


class Position(NamedTuple):
    """Position of a member in a partition, with what a commit says beside it."""

    offset: int
    leader_epoch: int = -1
    metadata: str = ""


class Send(NamedTuple):
    """Send a request and give the answer to `Member.receive`, or `Member.failed`, under its number.

    `node`: the coordinator, on this member's own connection; None: any broker. Versions are the
    driver's to choose (`requests.choose`). How long an answer may take is the member's own affair.
    """

    number: int
    node: Node | None
    message: Request


class Disconnect(NamedTuple):
    """Close the connection to the coordinator; answers still to come on it are of no use."""

    node: Node
    why: str


class FetchMetadata(NamedTuple):
    """Ask any broker for these topics (None: all) and give the answer to `Member.metadata` or
    `Member.metadata_failed`."""

    topics: frozenset[str] | None
    allow_auto_topic_creation: bool


class AskBroker(NamedTuple):
    """Send a request on this client's connection for data to that broker; the answer goes to
    `receive`, or `failed`, under its number."""

    number: int
    node: Node
    message: Request


class DropBroker(NamedTuple):
    """Close the connection for data to that broker; answers still to come on it are of no use."""

    node: Node
    why: str


class Committed(NamedTuple):
    """A commit has ended; `fault` says how it failed."""

    number: int
    offsets: Mapping[TopicPartition, Position]
    fault: MemberFault | None


class Closed(NamedTuple):
    """The member has ended; nothing more will come from it. `fault`: what went wrong on the way
    out."""

    fault: MemberFault | None


Effect: TypeAlias = Send | Disconnect | FetchMetadata | AskBroker | DropBroker | Committed | Closed


class RebalanceListener(Protocol):
    """The application's callbacks, as Java's ConsumerRebalanceListener. Partitions come sorted by
    topic and number."""

    def on_partitions_revoked(self, partitions: tuple[TopicPartition, ...]) -> None:
        """Partitions are about to be given up; committing for them is still possible."""

    def on_partitions_assigned(self, partitions: tuple[TopicPartition, ...]) -> None:
        """Partitions came; also called without any."""

    def on_partitions_lost(self, partitions: tuple[TopicPartition, ...]) -> None:
        """Partitions are gone already, and may be others' by now."""


class SilentListener:
    """An application that does not care."""

    def on_partitions_revoked(self, partitions: tuple[TopicPartition, ...]) -> None:
        """Nothing."""

    def on_partitions_assigned(self, partitions: tuple[TopicPartition, ...]) -> None:
        """Nothing."""

    def on_partitions_lost(self, partitions: tuple[TopicPartition, ...]) -> None:
        """Nothing."""
