"""The assignor `roundrobin`: all partitions, one at a time, to all members in turn.

Owns what org.apache.kafka.clients.consumer.RoundRobinAssignor does (RR-1). The ring continues
from topic to topic, and members that do not subscribe to a topic are skipped. Does not depend on
racks and former assignments.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence

from assignors.errors import AssignorError
from assignors.group_input import (
    answer_order,
    existing_topics,
    member_rank,
    partition_objects,
    undisturbed,
)
from assignors.java_order import sorted_strings, table_order
from assignors.model import (
    Assignment,
    Assignor,
    Racks,
    RebalanceProtocol,
    Subscription,
    TopicPartition,
)


class RoundRobinAssignor(Assignor):
    """The assignor called `roundrobin`. It is stateless and sends no user data (UD-4)."""

    name = "roundrobin"
    rebalance_protocols: Sequence[RebalanceProtocol] = (RebalanceProtocol.EAGER,)

    def assign(
        self,
        partitions: Mapping[str, int],
        members: Mapping[str, Subscription],
        racks: Racks | None = None,
    ) -> dict[str, Assignment]:
        """Assign the partitions one at a time, ordered by topic and number. The result is in Java's
        order of members.
        """
        if not members:
            raise AssignorError(
                "RR-1: roundrobin needs at least one member; Java's ring cannot be empty"
            )
        with undisturbed(partitions):
            return _assign(partitions, members)


class RoundRobinAssigner(RoundRobinAssignor):
    """The same assignor under the name that kafkajs uses, so that members of both can be in one
    group.
    """

    name = "RoundRobinAssigner"


def _assign(
    partitions: Mapping[str, int], members: Mapping[str, Subscription]
) -> dict[str, Assignment]:
    order = table_order(list(members))
    topics = existing_topics(partitions, map(members.__getitem__, order))
    ring = member_rank(members, order)
    lists: dict[str, list[TopicPartition]] = {member: [] for member in order}
    if all(members[member].topics == members[ring[0]].topics for member in ring):
        everything = [
            tp for topic in sorted_strings(topics) for tp in partition_objects(topic, topics[topic])
        ]
        for i, member in enumerate(ring):
            lists[member] = everything[i :: len(ring)]
    else:
        _deal(topics, members, ring, lists)
    return {member: Assignment(tuple(lists[member])) for member in answer_order(order)}


def _deal(
    topics: Mapping[str, int],
    members: Mapping[str, Subscription],
    ring: list[str],
    lists: dict[str, list[TopicPartition]],
) -> None:
    """Assign topic after topic to its subscribers in ring order, beginning with the first at or
    after the pointer.
    """
    seats: dict[str, list[int]] = {topic: [] for topic in topics}
    for seat, member in enumerate(ring):
        for topic in dict.fromkeys(members[member].topics):
            if topic in seats:
                seats[topic].append(seat)
    pointer = 0
    for topic in sorted_strings(topics):
        count, taking = topics[topic], seats[topic]
        first = bisect_left(taking, pointer) % len(taking)
        turn = taking[first:] + taking[:first]
        dealt = partition_objects(topic, count)
        for i, seat in enumerate(turn[:count]):
            lists[ring[seat]] += dealt[i :: len(turn)]
        pointer = (turn[(count - 1) % len(turn)] + 1) % len(ring)
