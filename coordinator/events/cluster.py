"""Events of a cluster, in the past tense: of brokers, the controller, topics and partitions.

`evolve` (`server.cluster.evolve`) folds those of `Event` into a `Cluster`. Rule: an event holds
everything that its fold needs, so each broker's copy of the metadata is the fold of the events
that have reached it. The names of the types are those of the event log's stream `cluster`
(docs/event_log.md). Does not depend on time, chance or who decided.
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
    """A broker registered with the controller, with a new broker epoch. It is fenced until it has
    caught up with the metadata. `kafka_version`: its release; "" in logs that do not say.
    """

    broker: int
    epoch: int
    rack: str | None
    endpoints: Mapping[str, tuple[str, int]]
    kafka_version: str = ""


class BrokerUnfenced(NamedTuple):
    """A broker may lead partitions and be in the ISR from now on."""

    broker: int


class BrokerFenced(NamedTuple):
    """A broker may neither lead nor be in the ISR: its session ended, or it was fenced on purpose."""

    broker: int
    reason: str


class BrokerShutdownStarted(NamedTuple):
    """A broker asked the controller for a controlled shutdown (KIP-841)."""

    broker: int


class BrokerUnregistered(NamedTuple):
    """A broker's registration was removed."""

    broker: int


class ControllerElected(NamedTuple):
    """The quorum has a new leader: it is the controller, in a new controller epoch."""

    broker: int
    epoch: int


class ControllerLost(NamedTuple):
    """There is no controller: a majority cannot reach the former one."""

    broker: int
    reason: str


class TopicCreated(NamedTuple):
    """A topic was created. `replicas[i]`: the replicas of partition i, preferred leader first;
    those on active brokers are in the ISR.
    """

    topic: str
    topic_id: bytes
    replicas: list[list[int]]
    configs: Mapping[str, str]


class TopicDeleted(NamedTuple):
    """A topic was deleted."""

    topic: str
    topic_id: bytes
    partitions: int


class PartitionsAdded(NamedTuple):
    """Partitions were added to a topic: one for each list of replicas."""

    topic: str
    first: int
    replicas: list[list[int]]


class TopicConfigured(NamedTuple):
    """A topic's own configuration values were replaced. The line is of type ConfigChanged, with
    what was asked.
    """

    topic: str
    configs: Mapping[str, str]


class FeatureChanged(NamedTuple):
    """A feature of the cluster was finalised at another level; 0 turns it off (KIP-584)."""

    feature: str
    level: int


class PartitionChanged(NamedTuple):
    """A partition's registration after a change: `what` is the occasion, `reason` says more for
    people.

    `leader` is -1 if there is none. `leader_epoch` has risen if a leader was elected, even the
    same one; `partition_epoch` has always risen.
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
    """The ZooKeeper-based controller took one of its thirteen steps (`controller.zookeeper`). The
    event changes nothing in the fold.
    """

    topic: str
    partition: int
    step: int
    text: str


class DeletionPostponed(NamedTuple):
    """The ZooKeeper-based controller was asked to delete a topic that is ineligible for deletion
    until its reassignment ends.
    """

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
    """A replica's progress: its log end offset, and how many records it lacks."""

    broker: int
    log_end: int
    behind: int


class ReassignmentProgressed(NamedTuple):
    """Replicas that are being added to a partition have copied records; logged at most once a
    second for a partition.
    """

    topic: str
    partition: int
    replicas: tuple[Replica, ...]


class ConfigChanged(NamedTuple):
    """The configuration of a topic, a broker or a group was changed. The line of a topic's change
    has the topic as its place.
    """

    resource: str
    """`topic`, `broker` or `group`."""
    name: str
    replace: bool
    """True for AlterConfigs, which sets every value that it does not name back to its default."""
    changes: tuple[tuple[str, int, str | None], ...]
    """Name, operation as IncrementalAlterConfigs has it, and value of each."""


class AclsCreated(NamedTuple):
    """ACLs were created, each as a sentence such as "User:billing may Read topic orders"."""

    acls: tuple[str, ...]


class AclsDeleted(NamedTuple):
    """ACLs were deleted, each as a sentence."""

    acls: tuple[str, ...]


class SegmentsDeleted(NamedTuple):
    """The leader of a partition deleted segments of its log: by age, by size, or because
    DeleteRecords moved the log start offset beyond them. The line has broker, topic and
    partition as places.
    """

    reason: str
    """The setting that caused it, retention.ms or retention.bytes, or `log start`."""
    segments: int
    first_offset: int
    """The log start offset before the deletion."""
    end_offset: int
    """The log start offset after the deletion."""
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
    """The leader of a partition has compacted its log: the last record of each key up to
    `end_offset` stayed. The line has broker, topic and partition as places.
    """

    reason: str
    """The setting that made it due: min.cleanable.dirty.ratio or max.compaction.lag.ms."""
    first_offset: int
    """The first offset that had not been compacted before."""
    end_offset: int
    removed: int
    """The number of removed records."""
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
    """Return how many partitions a broker creates, changes or removes for an event; work that it
    does once for all of them is not counted.
    """
    match event:
        case TopicCreated() | PartitionsAdded():
            return len(event.replicas)
        case TopicDeleted():
            return event.partitions
        case _:
            return 1
