"""Adapter for aiokafka 0.14: our assignors in aiokafka, and aiokafka's as ours.

    AIOKafkaConsumer(..., partition_assignment_strategy=[assignor_class("sticky")])

Owns the translation between the two contracts. aiokafka calls its assignors as classes, so a
member's memory is on the class: make one for each consumer. aiokafka is eager only, and gives
its assignors neither instance ids nor generations: user data is written with generation -1, as
by aiokafka's own sticky assignor. Needs aiokafka only when called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from assignors import (
    Assignment,
    Assignor,
    AssignorError,
    Racks,
    RebalanceProtocol,
    Subscription,
    by_name,
)
from assignors.user_data import DEFAULT_GENERATION

from .shared import PlainCluster, by_topic, one_by_one, partition_counts, readable_user_data

if TYPE_CHECKING:
    from aiokafka.coordinator.assignors.abstract import AbstractPartitionAssignor


def assignor_class(assignor: str | Callable[[], Assignor]) -> type[AbstractPartitionAssignor]:
    """Return a new class for `partition_assignment_strategy` of one consumer, around the assignor
    that `assignors.by_name` finds or that a call makes.

    Raises AssignorError, also for an assignor for cooperative rebalancing: aiokafka revokes
    everything at every rebalance.
    """
    from aiokafka.coordinator.assignors.abstract import AbstractPartitionAssignor
    from aiokafka.coordinator.protocol import (
        ConsumerProtocolMemberAssignment,
        ConsumerProtocolMemberMetadata,
    )

    ours = by_name(assignor) if isinstance(assignor, str) else assignor()
    if RebalanceProtocol.COOPERATIVE in ours.rebalance_protocols:
        raise AssignorError(
            f"{ours.name} is for cooperative rebalancing, and aiokafka is eager only; right would be 'sticky'"
        )

    class Adapted(AbstractPartitionAssignor):  # type: ignore[misc, unused-ignore]
        name = ours.name

        @classmethod
        def metadata(cls, topics: Iterable[str]) -> Any:
            wanted = sorted(topics)
            return ConsumerProtocolMemberMetadata(0, wanted, ours.subscription_user_data(wanted))

        @classmethod
        def on_assignment(cls, assignment: Any) -> None:
            ours.on_assignment(
                Assignment(one_by_one(assignment.assignment), assignment.user_data),
                DEFAULT_GENERATION,
            )

        @classmethod
        def assign(cls, cluster: Any, members: Mapping[str, Any]) -> dict[str, Any]:
            told = {
                member: Subscription(
                    tuple(wish.subscription), readable_user_data(ours, wish.user_data)
                )
                for member, wish in members.items()
            }
            plan = ours.assign(partition_counts(cluster, told.values()), told)
            return {
                member: ConsumerProtocolMemberAssignment(
                    0, by_topic(given.partitions), given.user_data or b""
                )
                for member, given in plan.items()
            }

    return Adapted


class TheirAssignor(Assignor):
    """An assignor of aiokafka as one of ours. aiokafka's `sticky` keeps memory on the class, so
    each instance uses its own subclass.
    """

    name = ""

    def __init__(self, theirs: type[AbstractPartitionAssignor]) -> None:
        own: Any = type(theirs.__name__, (theirs,), {})
        self._theirs = own
        self.name = str(own.name)

    def subscription_user_data(self, topics: Iterable[str]) -> bytes | None:
        """Return the user data that aiokafka's assignor puts into its metadata."""
        data: bytes | None = self._theirs.metadata(list(topics)).user_data
        return data

    def assign(
        self,
        partitions: Mapping[str, int],
        members: Mapping[str, Subscription],
        racks: Racks | None = None,
    ) -> dict[str, Assignment]:
        """Return the assignment by aiokafka's assignor, which gets topics and user data only."""
        from aiokafka.coordinator.protocol import ConsumerProtocolMemberMetadata

        asked = {
            member: ConsumerProtocolMemberMetadata(0, list(told.topics), told.user_data or b"")
            for member, told in members.items()
        }
        plan = self._theirs.assign(PlainCluster(partitions), asked)
        return {
            member: Assignment(one_by_one(given.assignment), given.user_data or None)
            for member, given in plan.items()
        }

    def on_assignment(self, assignment: Assignment, generation: int) -> None:
        """Pass the assignment to aiokafka's assignor, and the generation if it takes it."""
        from aiokafka.coordinator.protocol import ConsumerProtocolMemberAssignment

        self._theirs.on_assignment(
            ConsumerProtocolMemberAssignment(
                0, by_topic(assignment.partitions), assignment.user_data or b""
            )
        )
        if hasattr(self._theirs, "on_generation_assignment"):
            self._theirs.on_generation_assignment(generation)
