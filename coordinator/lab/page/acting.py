"""Actions of a learner that no scenario file can express: on topics, and requests in a member's
name. They are carried out in the simulated world.

`in_world` checks such an action against its scenario. `plan` puts it on the world's agenda,
after churn and faults of the same instant. An action that the cluster refuses is logged as
`FaultSkipped`. This module must not know the page.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from coordinator.events.faults import FaultSkipped
from coordinator.kit import topics
from coordinator.kit.cluster import ReassignPartition
from coordinator.kit.in_process_requests import ControlError
from coordinator.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)

from ..simulator.clients.member import SimulatedMember

if TYPE_CHECKING:
    from coordinator.server.broker import Broker

    from ..simulator.files.model import Scenario
    from ..simulator.world import World

Plain = dict[str, Any]
MORE_PARTITIONS: Final = 3


class ActionError(ValueError):
    """An action is impossible; the message says which, and what to do instead."""


def in_world(scenario: Scenario, action: Plain, at_ms: int) -> Scenario:
    """Check an action that is carried out in the world; the scenario stays the same. Raises
    ActionError."""
    kind = action["kind"]
    if kind == "add_partitions":
        more = action.get("more", MORE_PARTITIONS)
        if type(more) is not int or not 1 <= more <= 100:
            raise ActionError(f"more {more!r}: from 1 to 100 partitions")
    return scenario


def reassignment(scenario: Scenario, action: Plain) -> ReassignPartition:
    """Return the verb of an action that moves a partition of the first topic. Raises
    ActionError."""
    most = next(iter(scenario.topics.values()))
    partition, replicas = action.get("partition", 0), action.get("replicas")
    if scenario.brokers < 2:
        raise ActionError("the scenario has one broker; a partition can move among two or more")
    if type(partition) is not int or not 0 <= partition < most:
        raise ActionError(f"partition {partition!r}: from 0 to {most - 1}")
    known = range(1, scenario.brokers + 1)
    right = isinstance(replicas, list) and all(
        type(each) is int and each in known for each in replicas
    )
    if replicas is not None and not (right and 0 < len(replicas) == len(set(replicas))):
        raise ActionError(
            f"replicas {replicas!r}: different brokers from 1 to {scenario.brokers}, the preferred leader first"
        )
    return ReassignPartition(next(iter(scenario.topics)), partition, tuple(replicas or ()))


def plan(world: World, scenario: Scenario, actions: Sequence[Plain]) -> None:
    """Put the actions on the world's agenda."""
    topic = next(iter(scenario.topics))
    for action in actions:
        do = _IN_WORLD.get(action["kind"])
        if do is not None:
            world.at(action["at_ms"], partial(_carry_out, world, do, topic, action))


def _carry_out(
    world: World, do: Callable[[World, str, Plain], None], topic: str, action: Plain
) -> None:
    try:
        do(world, topic, action)
    except ControlError as error:
        world.log.append(FaultSkipped(str(error)), at_ms=world.now)
    world.settle()


def _broker(world: World) -> Broker:
    return next(iter(world.brokers.brokers.values()))


def _add_partitions(world: World, topic: str, action: Plain) -> None:
    broker = _broker(world)
    topics.grow(
        broker,
        world.now,
        topic,
        len(broker.cluster.topics[topic].partitions) + action.get("more", MORE_PARTITIONS),
    )


def _commit(world: World, topic: str, action: Plain) -> None:
    """Send an OffsetCommit for a member's first partition, with the generation that the member
    knows, whatever phase the group is in.

    Members of this project, and Java's, wait until they have an assignment; other clients send
    it at once.
    """
    name = action["member"]
    client = world.members.get(name)
    if not isinstance(client, SimulatedMember) or name in world.frozen or not client.member.owned:
        raise ControlError(f"{name} has nothing to commit, or its process does not run")
    generation, first = client.member.generation, min(client.member.owned)
    row = OffsetCommitRequestPartition(
        partition_index=first.partition, committed_offset=world.now // 100
    )
    client.send(
        OffsetCommitRequest(
            group_id=client.member.config.group_id,
            generation_id_or_member_epoch=generation.generation_id,
            member_id=generation.member_id,
            group_instance_id=client.member.config.group_instance_id,
            topics=[OffsetCommitRequestTopic(name=first.topic, partitions=[row])],
        )
    )


_IN_WORLD: Final[dict[str, Callable[[World, str, Plain], None]]] = {
    "add_partitions": _add_partitions,
    "commit": _commit,
}
