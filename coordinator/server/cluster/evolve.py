"""Application of events to a cluster: the only writer of a `Cluster`'s brokers, topics and
partitions.

Contains no rule: the controller decides what may happen. A broker's copy of the metadata and the
controller's own are folds of the same events, so they are equal once the same events have
arrived.
"""

from __future__ import annotations

from typing import assert_never

from coordinator.events.cluster import (
    BrokerFenced,
    BrokerRegistered,
    BrokerShutdownStarted,
    BrokerUnfenced,
    BrokerUnregistered,
    ControllerElected,
    ControllerLost,
    DeletionPostponed,
    Event,
    FeatureChanged,
    PartitionChanged,
    PartitionsAdded,
    ReassignmentStep,
    TopicConfigured,
    TopicCreated,
    TopicDeleted,
)

from .model import BrokerNode, Cluster


def evolve(cluster: Cluster, event: Event) -> None:
    """Apply one event to the cluster."""
    match event:
        case PartitionChanged():
            _change_partition(cluster, event)
        case TopicCreated():
            cluster.create_topic(
                event.topic,
                topic_id=event.topic_id,
                assignment=event.replicas,
                configs=event.configs,
            )
        case TopicDeleted():
            cluster.delete_topic(event.topic)
        case PartitionsAdded():
            cluster.add_partitions(event.topic, event.replicas)
        case TopicConfigured():
            cluster.set_topic_configs(event.topic, event.configs)
        case FeatureChanged():
            cluster.set_feature(event.feature, event.level)
        case BrokerRegistered():
            node = BrokerNode(
                event.broker, event.rack, dict(event.endpoints), fenced=True, epoch=event.epoch
            )
            cluster.brokers[event.broker] = node
            _broker_changed(cluster, event.broker)
        case BrokerUnfenced():
            node = cluster.brokers[event.broker]
            node.fenced = node.shutting_down = False
            _broker_changed(cluster, event.broker)
        case BrokerFenced():
            cluster.brokers[event.broker].fenced = True
            _broker_changed(cluster, event.broker)
        case BrokerShutdownStarted():
            cluster.brokers[event.broker].shutting_down = True
            cluster.changed()
        case BrokerUnregistered():
            del cluster.brokers[event.broker]
            _broker_changed(cluster, event.broker)
        case ControllerElected():
            cluster.controller_id = event.broker
            cluster.controller_epoch = event.epoch
            cluster.changed()
        case ControllerLost() | ReassignmentStep() | DeletionPostponed():
            pass  # brokers go on naming the last controller they knew
        case _:
            assert_never(event)


def _change_partition(cluster: Cluster, event: PartitionChanged) -> None:
    partition = cluster.partition(event.topic, event.partition)
    assert partition is not None, event
    partition.leader = event.leader
    partition.leader_epoch = event.leader_epoch
    partition.partition_epoch = event.partition_epoch
    if partition.replicas != event.replicas:
        partition.replicas = event.replicas
        partition.offline = cluster.offline(event.replicas)
    partition.isr = event.isr
    partition.elr = event.elr
    partition.last_known_elr = event.last_known_elr
    partition.adding = event.adding
    partition.removing = event.removing
    cluster.changed()


def _broker_changed(cluster: Cluster, broker: int) -> None:
    """Update the offline replicas of a broker's partitions after it was fenced, unfenced or
    removed.
    """
    node = cluster.brokers.get(broker)
    is_offline = node is None or node.fenced
    for topic in cluster.topics.values():
        for partition in topic.partitions:
            if broker in partition.replicas and (broker in partition.offline) is not is_offline:
                partition.offline = cluster.offline(partition.replicas)
    cluster.changed()
