"""Events of a cluster as lines of the log's stream `cluster` (docs/event_log.md), and back.

Owns which fields a line has. Rule: what another line tells already is not told twice: a topic's new
configuration stands in ConfigChanged, with what was asked. Does not depend on who publishes the
events.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from ..cluster import events as ev
from .codec import CodecError
from .writer import EventLog


def write_first_brokers(
    log: EventLog, racks: Mapping[int, str | None], releases: Mapping[int, str]
) -> None:
    """Write down which brokers there are: what follows in the log is said of them."""
    for node, rack in racks.items():
        write_cluster_event(log, ev.BrokerRegistered(node, 1, rack, {}, releases[node]), 0, None)
        write_cluster_event(log, ev.BrokerUnfenced(node), 0, None)


def write_cluster_event(
    log: EventLog, event: ev.Event, at_ms: int, cause: int | None
) -> int | None:
    """Write an event of the cluster; answers its number, None if it has no line."""
    match event:
        case ev.TopicConfigured():
            return None
        case ev.TopicCreated():
            fields = {
                "topic": event.topic,
                "topic_id": event.topic_id.hex(),
                "partitions": len(event.replicas),
                "replicas": event.replicas,
                "configs": event.configs,
            }
        case ev.TopicDeleted():
            fields = {
                "topic": event.topic,
                "topic_id": event.topic_id.hex(),
                "partitions": event.partitions,
            }
        case ev.PartitionsAdded():
            count = event.first + len(event.replicas)
            fields = {
                "topic": event.topic,
                "partitions": count,
                "added": list(range(event.first, count)),
                "replicas": event.replicas,
            }
        case ev.PartitionChanged():
            fields = {
                ("leader_id" if name == "leader" else name): value
                for name, value in event._asdict().items()
                if name != "what"
            }
            return log.append("cluster", event.what.value, at_ms=at_ms, cause=cause, **fields)
        case ev.BrokerRegistered():
            endpoints = {name: f"{host}:{port}" for name, (host, port) in event.endpoints.items()}
            fields = {
                "broker": event.broker,
                "epoch": event.epoch,
                "rack": event.rack,
                "endpoints": endpoints,
                "kafka_version": event.kafka_version,
            }
        case _:
            fields = event._asdict()
    return log.append("cluster", type(event).__name__, at_ms=at_ms, cause=cause, **fields)


_KINDS: dict[str, type[Any]] = {kind.__name__: kind for kind in get_args(ev.Event)}
_CHANGES = {change.value: change for change in ev.PartitionChange}


def cluster_event_from_line(line: Mapping[str, Any]) -> ev.Event | None:
    """The event that a line of stream `cluster` tells; None for one that does not change brokers,
    topics or partitions, such as ConfigChanged. Raises CodecError."""
    try:
        return _from_line(line)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise CodecError(f"{line.get('type')}: {type(error).__name__}: {error}") from error


def _from_line(line: Mapping[str, Any]) -> ev.Event | None:
    change = _CHANGES.get(line["type"])
    if change is not None:
        named = {
            name: line["leader_id" if name == "leader" else name]
            for name in ev.PartitionChanged._fields
            if name != "what"
        }
        return ev.PartitionChanged(what=change, **named)
    match line["type"]:
        case "TopicCreated":
            return ev.TopicCreated(
                line["topic"], bytes.fromhex(line["topic_id"]), line["replicas"], line["configs"]
            )
        case "TopicDeleted":
            return ev.TopicDeleted(
                line["topic"], bytes.fromhex(line["topic_id"]), line["partitions"]
            )
        case "PartitionsAdded":
            return ev.PartitionsAdded(
                line["topic"], line["partitions"] - len(line["added"]), line["replicas"]
            )
        case "BrokerRegistered":
            places = {name: at.rpartition(":") for name, at in line["endpoints"].items()}
            endpoints = {name: (host, int(port)) for name, (host, _, port) in places.items()}
            return ev.BrokerRegistered(
                line["broker"],
                line["epoch"],
                line["rack"],
                endpoints,
                line.get("kafka_version", ""),
            )
    kind = _KINDS.get(line["type"])
    event: ev.Event | None = None if kind is None else kind(*(line[name] for name in kind._fields))
    return event
