"""The possible events of a cluster, in the past tense: brokers, the controller, topics and
partitions.

`evolve` (`server.cluster.evolve`) folds those of `Event` into a `Cluster`. Rules: an
event says everything that its fold needs, so each broker's copy of the metadata is the fold of
those that reached it. The names of the types are those of the event log's stream `cluster`
(docs/event_log.md). Does not depend on time, chance and who decided.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple


class PartitionChange(StrEnum):
    """Reason of a change of a partition's registration; also the name of the event in the log."""

    LEADER_ELECTED = "LeaderElected"
    LEADER_LOST = "LeaderLost"
    ISR_SHRUNK = "IsrShrunk"
    ISR_EXPANDED = "IsrExpanded"
    ELR_CHANGED = "ElrChanged"
    REASSIGNMENT_STARTED = "ReassignmentStarted"
    REASSIGNMENT_COMPLETED = "ReassignmentCompleted"
    REASSIGNMENT_CANCELLED = "ReassignmentCancelled"
    REPLICAS_REORDERED = "ReplicasReordered"


class BrokerRegistered(NamedTuple):
    """A broker announced itself, with a new broker epoch. It is fenced until it has caught up with
    the metadata. `kafka_version`: the release that it is; "" in logs that do not say."""

    broker: int
    epoch: int
    rack: str | None
    endpoints: Mapping[str, tuple[str, int]]
    kafka_version: str = ""


class BrokerUnfenced(NamedTuple):
    """A broker may lead partitions and be in sync from now on."""

    broker: int


class BrokerFenced(NamedTuple):
    """A broker may neither lead nor be in sync: its session ended, or it was fenced on purpose."""

    broker: int
    reason: str


class BrokerShutdownStarted(NamedTuple):
    """A broker asked the controller for a controlled shutdown (KIP-841)."""

    broker: int


class BrokerUnregistered(NamedTuple):
    """A broker's registration is gone."""

    broker: int


class ControllerElected(NamedTuple):
    """The brokers' quorum has a new leader: it is the controller, in a new controller epoch."""

    broker: int
    epoch: int


class ControllerLost(NamedTuple):
    """There is no controller: the one there was cannot be reached by a majority."""

    broker: int
    reason: str


class TopicCreated(NamedTuple):
    """A topic was made. `replicas[i]`: of partition i, preferred leader first; those that are
    active are in sync."""

    topic: str
    topic_id: bytes
    replicas: list[list[int]]
    configs: Mapping[str, str]


class TopicDeleted(NamedTuple):
    """A topic is gone."""

    topic: str
    topic_id: bytes
    partitions: int


class PartitionsAdded(NamedTuple):
    """A topic grew: by one partition for each list of replicas."""

    topic: str
    first: int
    replicas: list[list[int]]


class TopicConfigured(NamedTuple):
    """A topic's own configuration values were replaced. The log tells it as ConfigChanged, with
    what was asked."""

    topic: str
    configs: Mapping[str, str]


class FeatureChanged(NamedTuple):
    """A feature of the cluster was finalised at another level; 0: it is off (KIP-584)."""

    feature: str
    level: int


class PartitionChanged(NamedTuple):
    """A partition's registration after a change: `what` was the occasion, `reason` says more for
    people.

    `leader` -1: none. `leader_epoch` has risen if the leader was elected anew, be it the same;
    `partition_epoch` always.
    """

    topic: str
    partition: int
    what: PartitionChange
    reason: str
    leader: int
    leader_epoch: int
    partition_epoch: int
    replicas: list[int]
    isr: list[int]
    elr: list[int]
    last_known_elr: list[int]
    adding: list[int]
    removing: list[int]


class ReassignmentStep(NamedTuple):
    """The older controller took one of its thirteen steps (`controller.zookeeper`). It changes
    nothing by itself."""

    topic: str
    partition: int
    step: int
    text: str


class DeletionPostponed(NamedTuple):
    """The older controller was asked to delete a topic that is not eligible for that until its
    reassignment ends."""

    topic: str


Event = (
    BrokerRegistered
    | BrokerUnfenced
    | BrokerFenced
    | BrokerShutdownStarted
    | BrokerUnregistered
    | ControllerElected
    | ControllerLost
    | TopicCreated
    | TopicDeleted
    | PartitionsAdded
    | TopicConfigured
    | FeatureChanged
    | PartitionChanged
    | ReassignmentStep
    | DeletionPostponed
)


class Replica(NamedTuple):
    """A replica's progress: the offset at which its log ends, and how many records it lacks."""

    broker: int
    log_end: int
    behind: int


class ReassignmentProgressed(NamedTuple):
    """Replicas that are added to a partition have copied records; logged at most once a second for
    a partition."""

    topic: str
    partition: int
    replicas: tuple[Replica, ...]


class ConfigChanged(NamedTuple):
    """The configuration of a topic, a broker or a group was changed. The line of a topic's change
    names the topic as its place."""

    resource: str
    """`topic`, `broker` or `group`."""
    name: str
    replace: bool
    """Whether what is not named goes back to its default (AlterConfigs)."""
    changes: tuple[tuple[str, int, str | None], ...]
    """Name, operation as IncrementalAlterConfigs has it, and value of each."""


class AclsCreated(NamedTuple):
    """ACLs came into force, told as sentences, such as "User:billing may Read topic orders"."""

    acls: tuple[str, ...]


class AclsDeleted(NamedTuple):
    """ACLs are no longer in force, told as sentences."""

    acls: tuple[str, ...]


class SegmentsDeleted(NamedTuple):
    """The leader of a partition deleted segments of its log: by age, by size, or since the log start
    was moved before. The line carries broker, topic and partition as places."""

    reason: str
    """The setting by which they went, retention.ms or retention.bytes, or `log start`."""
    segments: int
    first_offset: int
    """Where the log started before."""
    end_offset: int
    """Where it starts now."""
    bytes: int
    largest_timestamp_ms: int
    """Of the last segment that went; -1: it had none."""
    wall_ms: int
    """The wall clock of the broker's host."""
    retention_ms: int
    """In force; -1: any age."""
    retention_bytes: int
    """In force; -1: any size."""


class LogCompacted(NamedTuple):
    """The leader of a partition has compacted its log: of each key the last record up to
    `end_offset` stayed. The line carries broker, topic and partition as places."""

    reason: str
    """The setting by which its time had come: min.cleanable.dirty.ratio or
    max.compaction.lag.ms."""
    first_offset: int
    """Where the part began that had not been compacted before."""
    end_offset: int
    removed: int
    """How many records went."""
    bytes_before: int
    """Of the segments up to there."""
    bytes_after: int


Told = (
    ReassignmentProgressed
    | ConfigChanged
    | AclsCreated
    | AclsDeleted
    | SegmentsDeleted
    | LogCompacted
)
"""Events that are logged and change no broker's copy of the metadata."""


def weight(event: Event) -> int:
    """Return how many partitions a broker makes, changes or forgets for an event; work that it does
    once for all of them is not counted."""
    match event:
        case TopicCreated() | PartitionsAdded():
            return len(event.replicas)
        case TopicDeleted():
            return event.partitions
        case _:
            return 1
