"""Partition reassignments (KIP-455): start, replacement and cancellation.

Owns REASN-1, REASN-3 and REASN-4; completion (REASN-2) is checked at every change of a partition
(`partition_change`). Does not know wire formats, throttles, or how replicas catch up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from coordinator.base.errors import ErrorCode

from ..model import BrokerNode, Partition
from .controller import Controller
from .leaders import Refusal


class Reassignment(NamedTuple):
    """Replica lists of a partition during a reassignment."""

    replicas: list[int]
    adding: list[int]
    removing: list[int]


def plan(current: Sequence[int], target: Sequence[int]) -> Reassignment:
    """Return the replica lists for a reassignment from the current replicas to the target
    (REASN-1).
    """
    removing = sorted(set(current) - set(target))
    adding = sorted(set(target) - set(current))
    return Reassignment([*target, *removing], adding, removing)


def why_invalid_target(
    index: int, target: Sequence[int], brokers: Mapping[int, BrokerNode]
) -> str | None:
    """Return the reason why these brokers cannot be a partition's target
    (INVALID_REPLICA_ASSIGNMENT), or None if they can.
    """
    if not target:
        return "The manual partition assignment includes an empty replica list."
    previous = None
    for node in sorted(target):
        if node not in brokers:
            return f"The manual partition assignment includes broker {node}, but no such broker is registered."
        if node == previous:
            return f"The manual partition assignment includes the broker {node} more than once."
        previous = node
    return None


def reassign(
    controller: Controller,
    topic: str,
    index: int,
    target: list[int] | None,
    now: int,
    cause: int | None = None,
    *,
    allow_factor_change: bool = True,
) -> Refusal:
    """Apply an AlterPartitionReassignments to one partition; `target` None cancels. If it is
    refused, nothing changes (REASN-4).
    """
    if topic not in controller.cluster.topics:
        return Refusal(
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"Unable to find a topic named {topic}."
        )
    partition = controller.cluster.partition(topic, index)
    if partition is None:
        return Refusal(
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"Unable to find partition {topic}:{index}."
        )
    if target is None:
        return _cancel(controller, partition, now, cause)
    why = why_invalid_target(index, target, controller.cluster.brokers)
    if why is not None:
        return Refusal(ErrorCode.INVALID_REPLICA_ASSIGNMENT, why)
    staying = [node for node in partition.replicas if node not in partition.removing]
    if not allow_factor_change and len(target) != len(staying):
        why = f"The replication factor is changed from {len(staying)} to {len(target)}"
        return Refusal(ErrorCode.INVALID_REPLICATION_FACTOR, why)
    original = [node for node in partition.replicas if node not in partition.adding]
    planned = plan(partition.replicas, target)
    reason = f"to be moved from {_text(original)} to {_text(target)}"
    controller.change(
        partition,
        reason,
        now,
        cause,
        replicas=planned.replicas,
        adding=planned.adding or None,
        removing=planned.removing or None,
    )  # an empty list leaves the earlier one in place (REASN-4)
    return Refusal()


def _cancel(controller: Controller, partition: Partition, now: int, cause: int | None) -> Refusal:
    if not partition.reassigning:
        return Refusal(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS)
    replicas = [node for node in partition.replicas if node not in partition.adding]
    isr = [node for node in partition.isr if node not in partition.adding]
    if not isr:  # REASN-3
        topic = controller.cluster.topics[partition.topic]
        if topic.effective("unclean.leader.election.enable") is not True:
            return Refusal(
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                f"Unable to revert partition assignment for {partition.topic}:{partition.index} because it would require an unclean leader "
                "election.",
            )
        isr = replicas[:1]
    controller.change(
        partition,
        f"cancelled: back to {_text(replicas)}",
        now,
        cause,
        replicas=replicas,
        isr=isr,
        adding=[],
        removing=[],
    )
    return Refusal()


def in_progress(partitions: Sequence[Partition]) -> list[Partition]:
    """Return the partitions that are being reassigned (REASN-5)."""
    return [partition for partition in partitions if partition.reassigning]


def _text(brokers: Sequence[int]) -> str:
    return ",".join(map(str, brokers))
