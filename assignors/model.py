"""Values of client-side assignment: what a leader knows about the members of its group, and what it
assigns to them.

Owns the values `TopicPartition`, `Subscription`, `Assignment` and the contract `Assignor`, which
is Kafka's ConsumerPartitionAssignor with Python names. Plain values; does not depend on how they
are sent.
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
    """One member's subscription, from its JoinGroup.

    `user_data` is the assignor's own (None: none was sent); `owned_partitions`, `generation`
    (None or negative: unknown) and `rack` are fields of newer ConsumerProtocol versions
    (KIP-429, KIP-792, KIP-881); `group_instance_id` is None for a dynamic member.
    """

    topics: Sequence[str]
    user_data: bytes | None = None
    owned_partitions: Sequence[TopicPartition] = ()
    generation: int | None = None
    group_instance_id: str | None = None
    rack: str | None = None


class Assignment(NamedTuple):
    """The partitions assigned to one member. The built-in assignors send no `user_data`."""

    partitions: tuple[TopicPartition, ...] = ()
    user_data: bytes | None = None


class RebalanceProtocol(IntEnum):
    """The protocol of a member's rebalances; numbers as in Java. The highest one that all assignors
    of a member support is used.
    """

    EAGER = 0
    COOPERATIVE = 1


@runtime_checkable
class Assignor(Protocol):
    """A client-side assignor: computes assignments from subscriptions, and may remember its
    member's last assignment.

    Each member makes its own instance. An assignor of one's own may inherit from this class:
    everything but `name` and `assign` then has a default. Source: ConsumerPartitionAssignor.
    """

    @property
    def name(self) -> str:
        """Return the protocol name in JoinGroup, by which the group votes for it."""
        raise NotImplementedError

    @property
    def rebalance_protocols(self) -> Sequence[RebalanceProtocol]:
        """Return the rebalance protocols that it supports."""
        return (RebalanceProtocol.EAGER,)

    @property
    def version(self) -> int:
        """Return the version of its user data."""
        return 0

    def subscription_user_data(self, topics: Iterable[str]) -> bytes | None:
        """Return the user data to send with the subscription to `topics`, for the leader's
        instance.
        """
        return None

    def assign(
        self,
        partitions: Mapping[str, int],
        members: Mapping[str, Subscription],
        racks: Racks | None = None,
    ) -> Mapping[str, Assignment]:
        """Compute the assignment, at the leader only. `partitions`: the number of partitions of
        each existing topic; `members`: the subscription of every member in JoinGroup's order.

        The order of the result is the order in which it is sent. Raises AssignorError when it
        cannot assign.
        """
        raise NotImplementedError

    def on_assignment(self, assignment: Assignment, generation: int) -> None:
        """Take note of the member's assignment and its generation; called at every member after
        SyncGroup.
        """
