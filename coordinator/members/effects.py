"""Effects of a member: actions for its driver as plain values, in order.

Callbacks are not among them: the application's `RebalanceListener` is called inside
`Member.poll` and `Member.close`, at the points where Java calls it, because a member continues
only when a callback has returned.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol, TypeAlias

from assignors import TopicPartition
from coordinator.wire.schema import Request

from .faults import MemberFault


class Node(NamedTuple):
    """A broker, as FindCoordinator returns it."""

    node_id: int
    host: str
    port: int


class Position(NamedTuple):
    """Position of a member in a partition, with the metadata of its commit."""

    offset: int
    leader_epoch: int = -1
    metadata: str = ""


class Send(NamedTuple):
    """Send a request and pass the answer to `Member.receive`, or call `Member.failed`, with its
    number.

    `node`: the coordinator, on this member's own connection; None: any broker. The driver
    chooses the version (`requests.choose`). The member itself times the request out.
    """

    number: int
    node: Node | None
    message: Request


class Disconnect(NamedTuple):
    """Close the connection to the coordinator; answers still to come on it are not needed."""

    node: Node
    why: str


class FetchMetadata(NamedTuple):
    """Request metadata of these topics (None: all) from any broker, and pass the answer to
    `Member.metadata` or call `Member.metadata_failed`.
    """

    topics: frozenset[str] | None
    allow_auto_topic_creation: bool


class AskBroker(NamedTuple):
    """Send a request on this client's data connection to that broker; pass the answer to `receive`,
    or call `failed`, with its number.
    """

    number: int
    node: Node
    message: Request


class DropBroker(NamedTuple):
    """Close the data connection to that broker; answers still to come on it are not needed."""

    node: Node
    why: str


class Committed(NamedTuple):
    """A commit has ended. `fault`: None if it succeeded."""

    number: int
    offsets: Mapping[TopicPartition, Position]
    fault: MemberFault | None


class Closed(NamedTuple):
    """The member has ended; no further effect will follow. `fault`: a fault during the close, or
    None.
    """

    fault: MemberFault | None


Effect: TypeAlias = Send | Disconnect | FetchMetadata | AskBroker | DropBroker | Committed | Closed


class RebalanceListener(Protocol):
    """The application's callbacks, as in Java's ConsumerRebalanceListener. Partitions are sorted by
    topic and number.
    """

    def on_partitions_revoked(self, partitions: tuple[TopicPartition, ...]) -> None:
        """Called before partitions are revoked; their offsets can still be committed."""

    def on_partitions_assigned(self, partitions: tuple[TopicPartition, ...]) -> None:
        """Called after partitions were assigned, even if there are none."""

    def on_partitions_lost(self, partitions: tuple[TopicPartition, ...]) -> None:
        """Called when partitions are lost: other members may own them already."""


class SilentListener:
    """Listener that does nothing."""

    def on_partitions_revoked(self, partitions: tuple[TopicPartition, ...]) -> None:
        """Do nothing."""

    def on_partitions_assigned(self, partitions: tuple[TopicPartition, ...]) -> None:
        """Do nothing."""

    def on_partitions_lost(self, partitions: tuple[TopicPartition, ...]) -> None:
        """Do nothing."""
