"""Adapter for kafka-python 3: our assignors in kafka-python, and kafka-python's as ours.

    KafkaConsumer(..., partition_assignment_strategy=[assignor_class("cooperative-sticky")])

Owns the translation between the two contracts; decides no assignment. User data is written in
Java's form, and read in both forms (kafka-python's own `sticky` has an int16 before it). Needs
kafka-python only when called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from assignors import (
    Assignment,
    Assignor,
    Racks,
    RebalanceProtocol,
    Subscription,
    TopicPartition,
    by_name,
)

from .shared import (
    ClusterLike,
    PlainCluster,
    by_topic,
    one_by_one,
    partition_counts,
    readable_user_data,
)

if TYPE_CHECKING:
    from kafka.coordinator.assignors.abstract import AbstractPartitionAssignor

_SUBSCRIPTION_VERSION = 3
"""Owned partitions, generation and rack are told; older readers skip what they do not know."""


def assignor_class(
    assignor: str | Callable[[], Assignor], *, rack: str | None = None
) -> type[AbstractPartitionAssignor]:
    """Return a class for `partition_assignment_strategy`, around the assignor that
    `assignors.by_name` finds or that a call makes.

    Every consumer makes its own instance, with its own memory. `rack`: the consumer's rack
    (KIP-881). Raises AssignorError.
    """
    from kafka.coordinator.assignors import abstract
    from kafka.protocol.consumer.metadata import (
        ConsumerProtocolAssignment,
        ConsumerProtocolSubscription,
    )

    def make() -> Assignor:
        return by_name(assignor) if isinstance(assignor, str) else assignor()

    class Adapted(abstract.AbstractPartitionAssignor):  # type: ignore[misc, name-defined, unused-ignore]
        name = make().name

        def __init__(self) -> None:
            self.assignor = make()
            self._owned: tuple[TopicPartition, ...] = ()
            self._generation = -1

        def supported_protocols(self) -> list[Any]:
            return [
                abstract.RebalanceProtocol(int(protocol))
                for protocol in self.assignor.rebalance_protocols
            ]

        def metadata(self, topics: Iterable[str]) -> Any:
            wanted = sorted(topics)
            told = ConsumerProtocolSubscription.TopicPartition
            owned = [
                told(topic=topic, partitions=numbers) for topic, numbers in by_topic(self._owned)
            ]
            return ConsumerProtocolSubscription(
                version=_SUBSCRIPTION_VERSION,
                topics=wanted,
                user_data=self.assignor.subscription_user_data(wanted),
                owned_partitions=owned,
                generation_id=self._generation,
                rack_id=rack,
            )

        def on_assignment(self, assignment: Any, generation: int) -> None:
            partitions = one_by_one(assignment.assigned_partitions)
            self.assignor.on_assignment(Assignment(partitions, assignment.user_data), generation)
            self._generation = generation
            if RebalanceProtocol.COOPERATIVE in self.assignor.rebalance_protocols:
                self._owned = partitions

        def assign(self, cluster: Any, members: Sequence[Any]) -> dict[str, Any]:
            told = {member.member_id: _subscription(self.assignor, member) for member in members}
            plan = self.assignor.assign(
                partition_counts(cluster, told.values()), told, _racks(cluster, told)
            )
            return {
                member: ConsumerProtocolAssignment(
                    version=0,
                    assigned_partitions=by_topic(given.partitions),
                    user_data=given.user_data,
                )
                for member, given in plan.items()
            }

    return Adapted


def _subscription(assignor: Assignor, member: Any) -> Subscription:
    told = member.metadata
    owned = [
        (part.topic, part.partitions) for part in getattr(told, "owned_partitions", None) or ()
    ]
    return Subscription(
        topics=tuple(told.topics),
        user_data=readable_user_data(
            assignor, None if told.user_data is None else bytes(told.user_data)
        ),
        owned_partitions=one_by_one(owned),
        generation=getattr(told, "generation_id", None),
        group_instance_id=getattr(member, "group_instance_id", None),
        rack=getattr(told, "rack_id", None),
    )


def _racks(cluster: ClusterLike, members: Mapping[str, Subscription]) -> Racks | None:
    """Return the replicas' racks if any member has a rack. kafka-python has replicas only in its
    table of partitions.
    """
    if not any(member.rack for member in members.values()):
        return None
    known: Any = cluster
    racks: dict[str, list[list[str | None]]] = {}
    for topic in {topic: None for member in members.values() for topic in member.topics}:
        partitions = getattr(known, "_partitions", {}).get(topic, {})
        nodes = [partitions[number].replica_nodes for number in sorted(partitions)]
        racks[topic] = [
            [getattr(known.broker_metadata(node), "rack", None) for node in replicas]
            for replicas in nodes
        ]
    return racks


class _Member(NamedTuple):
    member_id: str
    group_instance_id: str | None
    metadata: Any


class TheirAssignor(Assignor):
    """An assignor of kafka-python as one of ours, faults of the library included."""

    rebalance_protocols: tuple[RebalanceProtocol, ...] = ()
    name = ""

    def __init__(self, theirs: type[AbstractPartitionAssignor]) -> None:
        self._theirs: Any = theirs()
        self.name = self._theirs.name
        self.rebalance_protocols = tuple(
            RebalanceProtocol(int(protocol)) for protocol in self._theirs.supported_protocols()
        )

    def subscription_user_data(self, topics: Iterable[str]) -> bytes | None:
        """Return the user data that kafka-python's assignor puts into its metadata."""
        data = self._theirs.metadata(set(topics)).user_data
        return data if data is None or isinstance(data, bytes) else bytes(data.encode())

    def assign(
        self,
        partitions: Mapping[str, int],
        members: Mapping[str, Subscription],
        racks: Racks | None = None,
    ) -> dict[str, Assignment]:
        """Return the assignment by kafka-python's assignor, which does not get racks."""
        from kafka.protocol.consumer.metadata import ConsumerProtocolSubscription

        part = ConsumerProtocolSubscription.TopicPartition
        asked = [
            _Member(
                member,
                told.group_instance_id,
                ConsumerProtocolSubscription(
                    version=_SUBSCRIPTION_VERSION,
                    topics=list(told.topics),
                    user_data=told.user_data or b"",
                    owned_partitions=[
                        part(topic=t, partitions=numbers)
                        for t, numbers in by_topic(told.owned_partitions)
                    ],
                    generation_id=-1 if told.generation is None else told.generation,
                    rack_id=told.rack,
                ),
            )
            for member, told in members.items()
        ]
        plan = self._theirs.assign(PlainCluster(partitions), asked)
        return {
            member: Assignment(one_by_one(given.assigned_partitions), given.user_data)
            for member, given in plan.items()
        }

    def on_assignment(self, assignment: Assignment, generation: int) -> None:
        """Pass the assignment to kafka-python's assignor."""
        from kafka.protocol.consumer.metadata import ConsumerProtocolAssignment

        given = ConsumerProtocolAssignment(
            version=0,
            assigned_partitions=by_topic(assignment.partitions),
            user_data=assignment.user_data,
        )
        self._theirs.on_assignment(given, generation)
