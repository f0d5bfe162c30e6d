"""Elections on request (KIP-460), preferred and unclean, with Kafka's refusals; and the control
verb that moves a leader to a named broker. Does not know the wire format of ElectLeaders.
"""

from __future__ import annotations

from typing import NamedTuple

from coordinator.base.errors import ErrorCode

from ..model import Partition
from .controller import Controller
from .partition_change import NO_LEADER, Election


class Refusal(NamedTuple):
    """Error with which a partition's election or reassignment is refused; NONE if it is not
    refused.
    """

    error: ErrorCode = ErrorCode.NONE
    message: str | None = None


def elect(
    controller: Controller,
    topic: str,
    index: int,
    election: Election,
    now: int,
    cause: int | None = None,
) -> Refusal:
    """Elect a partition's leader. Errors: UNKNOWN_TOPIC_OR_PARTITION, ELECTION_NOT_NEEDED,
    PREFERRED_LEADER_NOT_AVAILABLE, ELIGIBLE_LEADERS_NOT_AVAILABLE.
    """
    if topic not in controller.cluster.topics:
        return Refusal(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"No such topic as {topic}")
    partition = controller.cluster.partition(topic, index)
    if partition is None:
        return Refusal(
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"No such partition as {topic}-{index}"
        )
    needless = (
        partition.leader == partition.replicas[0]
        if election is Election.PREFERRED
        else partition.leader != NO_LEADER
    )
    if needless:
        return Refusal(ErrorCode.ELECTION_NOT_NEEDED, ErrorCode.ELECTION_NOT_NEEDED.message)
    before = partition.leader
    preferred = partition.replicas[0]
    if election is Election.PREFERRED and not (
        preferred in partition.isr and controller.acceptable(preferred)
    ):
        code = ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE
        return Refusal(code, code.message)
    controller.change(
        partition, f"{election.value} election was asked for", now, cause, election=election
    )
    if partition.leader == before:
        code = ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE
        return Refusal(code, code.message)
    return Refusal()


def move_leader(
    controller: Controller, partition: Partition, broker: int, now: int, cause: int | None = None
) -> bool:
    """Make an in-sync replica the leader without changing the replicas' order. Return whether it
    leads now.
    """
    if broker not in partition.isr or not controller.acceptable(broker):
        return False
    if partition.leader != broker:
        controller.elect_member(
            partition, broker, f"leadership was moved to broker {broker}", now, cause
        )
    return partition.leader == broker
