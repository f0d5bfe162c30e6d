"""Values of client-side assignment: what a leader knows about the members of its group, and what it
assigns to them.

Owns the values `TopicPartition`, `Subscription`, `Assignment` and the contract `Assignor`, which is
Kafka's ConsumerPartitionAssignor with this field's words. Plain values; does not depend on how they
travel.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from typing import NamedTuple, Protocol, runtime_checkable

Racks = Mapping[str, Sequence[Sequence[str | None]]]
"""Topic -> for each partition, in order, the racks of its replicas. What is missing has no known
rack."""


class TopicPartition(NamedTuple):
    """One partition of a topic."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


class Subscription(NamedTuple):
    """One member's data when it joined.

    `user_data` is the assignor's own (None: none was sent); `owned_partitions`, `generation` (None
    or negative: not told) and `rack` are fields of newer ConsumerProtocol versions (KIP-429,
    KIP-792, KIP-881); `group_instance_id` is None for a dynamic member.
    """

    topics: Sequence[str]
    user_data: bytes | None = None
    owned_partitions: Sequence[TopicPartition] = ()
    generation: int | None = None
    group_instance_id: str | None = None
    rack: str | None = None


class Assignment(NamedTuple):
    """The share of one member. The built-in assignors send no `user_data`."""

    partitions: tuple[TopicPartition, ...] = ()
    user_data: bytes | None = None


class RebalanceProtocol(IntEnum):
    """Protocol of a member's rebalances; numbers as in Java. The highest one that all assignors of
    a member support is used."""

    EAGER = 0
    COOPERATIVE = 1


@runtime_checkable
class Assignor(Protocol):
    """A function from subscriptions to assignments, with what its member remembers between two of
    them.

    Each member makes its own instance. Whoever writes one may inherit from this class: everything
    but `name` and `assign` then has a default. Source: ConsumerPartitionAssignor.
    """

    @property
    def name(self) -> str:
        """The group's vote: JoinGroup's protocol name."""
        raise NotImplementedError

    @property
    def rebalance_protocols(self) -> Sequence[RebalanceProtocol]:
        """The rebalance protocols it can be used with."""
        return (RebalanceProtocol.EAGER,)

    @property
    def version(self) -> int:
        """The version of its user data."""
        return 0

    def subscription_user_data(self, topics: Iterable[str]) -> bytes | None:
        """Bytes for the leader's instance, sent with the subscription to `topics`."""
        return None

    def assign(
        self,
        partitions: Mapping[str, int],
        members: Mapping[str, Subscription],
        racks: Racks | None = None,
    ) -> Mapping[str, Assignment]:
        """Called at the leader only: how many partitions each existing topic has, and every member
        in JoinGroup's order.

        The order of the answer is the order in which it is sent. Raises AssignorError when it
        cannot assign.
        """
        raise NotImplementedError

    def on_assignment(self, assignment: Assignment, generation: int) -> None:
        """Called at every member after SyncGroup, with what it was given and the generation it was
        given in."""
