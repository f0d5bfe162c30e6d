"""Reassignments as the older controller carried them out over ZooKeeper (before KIP-455), in
thirteen steps, for teaching.

Owns the steps' texts, and the differences from today's controller: a topic with a running
reassignment cannot be deleted until it ends, and the end is several changes: first a leader from
the targets, then the removed replicas leave the ISR, then the assignment becomes the target. AR:
all replicas, OAR: the original ones, RAR: the target. Steps 1 to 12 are numbered in the comment
on KafkaController.onPartitionReassignment (Kafka 1.1 to 2.3); the 13th is the method's last
action.
"""

from __future__ import annotations

from typing import NamedTuple

from coordinator.events.cluster import PartitionChange, PartitionChanged

from ..model import Partition

KRAFT, ZOOKEEPER = "kraft", "zookeeper"


class Told(NamedTuple):
    """One step, and the partition change it makes, if any."""

    step: int
    text: str
    event: PartitionChanged | None = None


def steps_of_start(event: PartitionChanged) -> list[Told]:
    """Return the steps that start a reassignment."""
    original = [node for node in event.replicas if node not in event.adding]
    target = [node for node in event.replicas if node not in event.removing]
    new = _text(event.adding)
    return [
        Told(
            1, f"update AR in ZooKeeper with OAR + RAR: {_text([*original, *event.adding])}", event
        ),
        Told(
            2,
            f"send LeaderAndIsr with AR = OAR + RAR to every replica in it, under the raised leader epoch {event.leader_epoch}",
        ),
        Told(3, f"start the new replicas in RAR - OAR: {new} to NewReplica"),
        Told(4, f"wait until all replicas in RAR are in sync with the leader: {_text(target)}"),
    ]


def steps_of_end(before: Partition, event: PartitionChanged) -> list[Told]:
    """Return the steps that end a reassignment once all targets are in sync. `event`: the whole
    change, which the steps make in parts.
    """
    gone = [node for node in before.replicas if node not in event.replicas]
    epoch = before.leader_epoch + 1
    elected = event._replace(
        what=PartitionChange.LEADER_ELECTED,
        replicas=list(before.replicas),
        isr=list(before.isr),
        adding=list(before.adding),
        removing=list(before.removing),
        leader_epoch=epoch,
        partition_epoch=before.partition_epoch + 1,
    )
    shrunk = elected._replace(
        what=PartitionChange.ISR_SHRUNK,
        isr=list(event.isr),
        partition_epoch=before.partition_epoch + 2,
        reason=f"{_text(gone)} is to go",
    )
    done = event._replace(
        leader_epoch=epoch, partition_epoch=before.partition_epoch + 2 + bool(gone)
    )
    leads = (
        f"{event.leader} leads"
        if event.leader != before.leader
        else f"{event.leader} goes on leading"
    )
    return [
        Told(5, f"move all replicas in RAR to OnlineReplica: {_text(event.replicas)}"),
        Told(6, f"set AR to RAR in memory: {_text(event.replicas)}"),
        Told(
            7,
            f"elect a leader from RAR if the leader is not in it, raise the leader epoch to {epoch}, send LeaderAndIsr with AR = RAR: "
            f"{leads}",
            elected,
        ),
        Told(
            8,
            f"move the replicas in OAR - RAR to OfflineReplica: the ISR shrinks, LeaderAndIsr tells the leader, StopReplica "
            f"(delete=false) them: {_text(gone)}",
            shrunk if gone else None,
        ),
        Told(
            9,
            f"move the replicas in OAR - RAR to NonExistentReplica: StopReplica (delete=true) has them deleted: {_text(gone)}",
        ),
        Told(10, f"update AR in ZooKeeper with RAR: {_text(event.replicas)}", done),
        Told(11, "remove the partition from /admin/reassign_partitions in ZooKeeper"),
        Told(12, "send UpdateMetadata to every broker, for leader, replicas and ISR have changed"),
        Told(13, "resume the deletion of the topic, if it was asked for meanwhile"),
    ]


def _text(nodes: list[int]) -> str:
    return ",".join(map(str, nodes)) or "none"
