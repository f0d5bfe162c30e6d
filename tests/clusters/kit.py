"""Makes lines as brokers and clients log them."""

from __future__ import annotations

from coordinator.clusters.diagnosis import Diagnosis, diagnose_text
from coordinator.clusters.stories.story import GroupStory

UUID = "11111111-2222-3333-4444-{:012d}"


def member(client: str, number: int = 1) -> str:
    """A member id as coordinators make them."""
    return f"{client}-{UUID.format(number)}"


def scala(clock: str, text: str) -> str:
    """A line of a broker's Scala coordinator."""
    return (
        f"[2026-03-01 {clock}] INFO [GroupCoordinator 1]: {text} "
        "(kafka.coordinator.group.GroupCoordinator)"
    )


def java(clock: str, text: str) -> str:
    """A line of a broker's Java coordinator."""
    return (
        f"[2026-03-01 {clock}] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=3] "
        f"{text} (org.apache.kafka.coordinator.group.GroupMetadataManager)"
    )


def client(clock: str, name: str, text: str, group: str = "g") -> str:
    """A line of a Java client."""
    return (
        f"2026-03-01 {clock} INFO  [main] org.apache.kafka.clients.consumer.internals."
        f"ConsumerCoordinator - [Consumer clientId={name}, groupId={group}] {text}"
    )


def rebalance(begin: str, end: str, old: int, reason: str, members: int = 2) -> list[str]:
    """A rebalance of group g in the Scala dialect."""
    return [
        scala(
            begin,
            "Preparing to rebalance group g in state PreparingRebalance with old generation "
            f"{old} (__consumer_offsets-3) (reason: {reason})",
        ),
        scala(
            end,
            f"Stabilized group g generation {old + 1} (__consumer_offsets-3) with {members} members",
        ),
    ]


def adds(client_id: str, number: int = 1, instance: str = "None") -> str:
    """The reason of a rebalance that a new member begins."""
    return (
        f"Adding new member {member(client_id, number)} with group instance id {instance}; "
        "client reason: not provided"
    )


def read(*lines: str) -> Diagnosis:
    """A diagnosis of the lines."""
    return diagnose_text("\n".join(lines) + "\n")


def story(*lines: str, group: str = "g") -> GroupStory:
    """What the lines tell of one group."""
    return read(*lines).groups[group]
