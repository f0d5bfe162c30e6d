"""Events whose line has other fields than their class: each has a class for its line here, and
functions that convert in both directions.

A line says what a reader wants to know, such as how many partitions a topic has now; the event
has what its fold needs, such as the number of the first new one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from .cluster import (
    BrokerRegistered,
    PartitionChange,
    PartitionChanged,
    PartitionsAdded,
    TopicCreated,
)
from .values import BadValue


class Shape(NamedTuple):
    """The line of a class of events. `kind`: the class with the line's fields. `to_event` is given
    such a value and the name of the line's type; it raises BadValue."""

    kind: Any
    of_event: Callable[[Any], Any]
    to_event: Callable[[Any, str], Any]


class _TopicCreated(NamedTuple):
    topic: str
    topic_id: bytes
    partitions: int
    replicas: list[list[int]]
    configs: Mapping[str, str]


class _PartitionsAdded(NamedTuple):
    topic: str
    partitions: int
    added: list[int]
    replicas: list[list[int]]


class _PartitionChanged(NamedTuple):
    topic: str
    partition: int
    reason: str
    leader_id: int
    leader_epoch: int
    partition_epoch: int
    replicas: list[int]
    isr: list[int]
    elr: list[int]
    last_known_elr: list[int]
    adding: list[int]
    removing: list[int]


class _BrokerRegistered(NamedTuple):
    broker: int
    epoch: int
    rack: str | None
    endpoints: Mapping[str, str]
    kafka_version: str = ""


CHANGES: Final[Mapping[str, PartitionChange]] = {each.value: each for each in PartitionChange}
"""Changes of a partition by the name of their line's type."""


def _registered(line: _BrokerRegistered, _: str) -> BrokerRegistered:
    endpoints = {}
    for name, at in line.endpoints.items():
        host, _, port = str(at).rpartition(":")
        if not port.isdecimal():
            raise BadValue(f"endpoints: {at!r} is no host and port")
        endpoints[name] = (host, int(port))
    return BrokerRegistered(line.broker, line.epoch, line.rack, endpoints, line.kafka_version)


SHAPES: Final[Mapping[type, Shape]] = {
    TopicCreated: Shape(
        _TopicCreated,
        lambda event: _TopicCreated(
            event.topic, event.topic_id, len(event.replicas), event.replicas, event.configs
        ),
        lambda line, _: TopicCreated(line.topic, line.topic_id, line.replicas, line.configs),
    ),
    PartitionsAdded: Shape(
        _PartitionsAdded,
        lambda event: _PartitionsAdded(
            event.topic,
            event.first + len(event.replicas),
            list(range(event.first, event.first + len(event.replicas))),
            event.replicas,
        ),
        lambda line, _: PartitionsAdded(
            line.topic, line.partitions - len(line.added), line.replicas
        ),
    ),
    PartitionChanged: Shape(
        _PartitionChanged,
        lambda event: _PartitionChanged._make((*event[:2], *event[3:])),
        lambda line, name: PartitionChanged._make((*line[:2], CHANGES[name], *line[2:])),
    ),
    BrokerRegistered: Shape(
        _BrokerRegistered,
        lambda event: _BrokerRegistered(
            event.broker,
            event.epoch,
            event.rack,
            {name: f"{host}:{port}" for name, (host, port) in event.endpoints.items()},
            event.kafka_version,
        ),
        _registered,
    ),
}
