"""Carries out the verbs for a cluster, and checks their fields. The verbs themselves, as data,
are in `coordinator/verbs/`.

    StopBroker(2, how="crash")        MoveCoordinator("billing", to=3)        CutLink(1, 2)        SlowFollower(3, delay_ms=500)

`perform` carries a verb out and returns its inverse, or None if there is none. To perform the
inverse brings the cluster back to its former state, as far as Kafka can go back. `to_plain` and
`from_plain` convert verbs to JSON values and back. A verb that is impossible raises
ClusterError, which names what exists, and changes nothing. This module must not know sockets.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, asdict, fields
from typing import Any, assert_never, get_args

from coordinator.server.cluster import CONSUMER_OFFSETS
from coordinator.server.cluster.internal_topics import partition_for
from coordinator.server.cluster.network import HostState
from coordinator.server.cluster.replication import Pace
from coordinator.server.cluster_runtime import ClusterError, Hosts
from coordinator.server.cluster_runtime.runtime import Brokers
from coordinator.server.cluster_runtime.upgrades import chosen, stays_what_it_is
from coordinator.verbs import row_of
from coordinator.verbs.brokers import (
    VERBS,
    BrokerVerb,
    CleanLogs,
    ControllerVerb,
    CreatePartitions,
    CreateTopic,
    CutClient,
    CutLink,
    DeleteTopic,
    FenceBroker,
    HealClient,
    HealLink,
    How,
    JumpClock,
    MoveCoordinator,
    MoveLeader,
    ReassignPartition,
    SlowBroker,
    SlowFollower,
    SlowLoad,
    StartBroker,
    StopBroker,
    UnfenceBroker,
    UpdateFeature,
    Verb,
)

from . import features, topics
from .in_process_requests import ControlError

__all__ = [
    "VERBS",
    "CleanLogs",
    "ClusterError",
    "CreatePartitions",
    "CreateTopic",
    "CutClient",
    "CutLink",
    "DeleteTopic",
    "FenceBroker",
    "HealClient",
    "HealLink",
    "How",
    "JumpClock",
    "MoveCoordinator",
    "MoveLeader",
    "ReassignPartition",
    "SlowBroker",
    "SlowFollower",
    "SlowLoad",
    "StartBroker",
    "StopBroker",
    "UnfenceBroker",
    "UpdateFeature",
    "Verb",
    "from_plain",
    "perform",
    "to_plain",
    "wrong_fields",
]


def perform(hosts: Hosts, verb: Verb, now: int) -> Verb | None:
    """Carry a verb out and return its inverse, or None. Raises ClusterError."""
    cluster = hosts.cluster
    inverse = (
        _ask_controller(cluster, verb, now)
        if isinstance(verb, ControllerVerb)
        else _perform(hosts, cluster, verb, now)
    )
    if cluster.log is not None:
        cluster.log.append(_logged(verb), at_ms=now)
    return inverse


def _perform(hosts: Hosts, cluster: Brokers, verb: BrokerVerb, now: int) -> Verb | None:
    match verb:
        case StopBroker():
            return _stop(hosts, verb, now)
        case StartBroker():
            return _start(hosts, verb, now)
        case MoveLeader(topic, partition, to):
            before = hosts.move_leader(topic, partition, to, now)
            return MoveLeader(topic, partition, before)
        case MoveCoordinator(group, to):
            before = hosts.move_leader(CONSUMER_OFFSETS, _partition_of(cluster, group), to, now)
            return MoveCoordinator(group, before)
        case ReassignPartition(topic, partition, replicas):
            return ReassignPartition(
                topic, partition, hosts.reassign(topic, partition, replicas, now)
            )
        case FenceBroker(broker):
            hosts.fence(broker, now)
            return UnfenceBroker(broker)
        case UnfenceBroker(broker):
            hosts.unfence(broker, now)
            return FenceBroker(broker)
        case CutLink(one, other):
            hosts.cut(one, other, now)
            return HealLink(one, other)
        case HealLink(one, other):
            hosts.heal(one, other, now)
            return CutLink(one, other)
        case CutClient(client_id, broker):
            hosts.cut_client(client_id, broker)
            return HealClient(client_id, broker)
        case HealClient(client_id, broker):
            hosts.heal_client(client_id, broker, now)
            return CutClient(client_id, broker)
        case JumpClock(broker, by_ms):
            hosts.jump_clock(broker, by_ms, now)
            return JumpClock(broker, -by_ms)
        case CleanLogs(topic, partition, at_once):
            hosts.clean_logs(topic, partition, now, at_once=at_once)
            return None
        case SlowBroker() | SlowFollower() | SlowLoad():
            return _slow_down(hosts, cluster, verb, now)
        case _:
            assert_never(verb)


def _stop(hosts: Hosts, verb: StopBroker, now: int) -> Verb:
    if verb.how not in get_args(How):
        raise ClusterError(
            f"how={verb.how!r}: a broker is stopped by one of {', '.join(get_args(How))}"
        )
    stops = {"controlled": hosts.shut_down, "crash": hosts.crash, "pause": hosts.pause}
    stops[verb.how](verb.broker, now)
    return StartBroker(verb.broker)


def _start(hosts: Hosts, verb: StartBroker, now: int) -> Verb:
    broker, release = verb.broker, chosen(verb.kafka_version)
    if hosts.state(broker) is not HostState.PAUSED:
        hosts.start(broker, now, release)
        return StopBroker(broker, "controlled")
    if release is not None:
        raise ClusterError(stays_what_it_is(broker, verb.kafka_version))
    hosts.resume(broker, now)
    return StopBroker(broker, "pause")


def _slow_down(
    hosts: Hosts, cluster: Brokers, verb: SlowBroker | SlowFollower | SlowLoad, now: int
) -> Verb:
    match verb:
        case SlowFollower(broker, delay_ms, rate):
            if delay_ms < 0 or (rate is not None and rate <= 0):
                raise ClusterError(
                    f"delay_ms={delay_ms}, bytes_per_second={rate}: neither can be negative, and a rate is above 0"
                )
            before_pace = cluster.replication.paces.get(broker, Pace())
            hosts.slow_down(broker, Pace(delay_ms, rate) if delay_ms or rate else None, now)
            return SlowFollower(broker, before_pace.delay_ms, before_pace.bytes_per_second)
        case SlowBroker(broker, by_ms):
            if by_ms < 0:
                raise ClusterError(f"by_ms={by_ms}: a length of time is not negative")
            return SlowBroker(broker, hosts.slow_answers(broker, by_ms))
        case SlowLoad(broker, load_ms):
            if load_ms < 0:
                raise ClusterError(f"load_ms={load_ms}: a length of time is not negative")
            return SlowLoad(broker, hosts.slow_load(broker, load_ms))
        case _:
            assert_never(verb)


def _ask_controller(cluster: Brokers, verb: ControllerVerb, now: int) -> Verb | None:
    """Send the controller the request that a client would send for this verb. Return the
    inverse, or None."""
    broker = cluster.brokers[cluster.controller.cluster.controller_id]
    if not broker.reaches_controller:
        what = (
            f"feature {verb.feature}" if isinstance(verb, UpdateFeature) else f"topic {verb.topic}"
        )
        raise ClusterError(
            f"{what} cannot be changed: there is no controller, because no broker runs"
        )
    try:
        match verb:
            case UpdateFeature(feature, level):
                earlier = features.update(broker, now, feature, level)
                return None if earlier is None else UpdateFeature(feature, earlier)
            case CreateTopic(topic, partitions, replication):
                topics.create(broker, now, topic, partitions, replication, {})
                return DeleteTopic(topic)
            case CreatePartitions(topic, partitions):
                topics.grow(broker, now, topic, partitions)
                return None
            case DeleteTopic(topic):
                before = cluster.controller.cluster.topics.get(topic)
                topics.delete(broker, now, topic)
                assert before is not None
                return CreateTopic(
                    topic, len(before.partitions), len(before.partitions[0].replicas)
                )
    except ControlError as error:
        raise ClusterError(str(error)) from None


def _partition_of(cluster: Brokers, group: str) -> int:
    topic = cluster.controller.cluster.topics.get(CONSUMER_OFFSETS)
    if topic is None:
        raise ClusterError(f"group {group} has no coordinator: {CONSUMER_OFFSETS} does not exist")
    return partition_for(cluster.controller.cluster.configs, CONSUMER_OFFSETS, group)


def _logged(verb: Verb) -> Verb:
    """Return the verb as the log records it: a Kafka release such as "4.3" becomes its full
    number."""
    if not isinstance(verb, StartBroker):
        return verb
    release = chosen(verb.kafka_version)
    return verb if release is None else StartBroker(verb.broker, release.number)


def to_plain(verb: Verb) -> dict[str, Any]:
    """Return a verb as JSON values: its name under `verb`, and its fields."""
    return {"verb": type(verb).__name__, **asdict(verb)}


def from_plain(plain: Mapping[str, Any]) -> Verb:
    """Read a verb that `to_plain` returned. Raises ClusterError, which names what is wrong and
    what exists."""
    values = dict(plain)
    name = values.pop("verb", None)
    kind = VERBS.get(name) if isinstance(name, str) else None
    if kind is None:
        raise ClusterError(f"{name!r} is no verb: they are {', '.join(VERBS)}")
    if isinstance(values.get("replicas"), list):
        values["replicas"] = tuple(values["replicas"])
    said = wrong_fields(kind, values)
    if said is not None:
        raise ClusterError(said)
    verb: Verb = kind(**values)
    for taken in row_of(verb).takes:
        value = getattr(verb, taken.name)
        if taken.several:
            _check_replicas(name, value)
            continue
        wanted = bool if taken.flag else int if taken.number else str
        optional = taken.optional and value is None
        if not optional and type(value) is not wanted:
            right = {int: "a whole number", str: "a text", bool: "true or false"}[wanted]
            raise ClusterError(f"{name}: {taken.name} is {value!r}; give {right}")
    return verb


def wrong_fields(kind: type[Any], values: Iterable[str]) -> str | None:
    """Return what is wrong with these field names of a verb: unknown ones, else missing ones.
    None if they are right."""
    known = {field.name: field.default is MISSING for field in fields(kind)}
    needed = [name for name, required in known.items() if required]
    unknown = [name for name in values if name not in known]
    if unknown:
        return f"{kind.__name__} has no field {', '.join(unknown)}: it has {', '.join(known)}"
    missing = [name for name in needed if name not in values]
    if not missing:
        return None
    return f"{kind.__name__}: {', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing: it needs {', '.join(needed)}"


def _check_replicas(name: str | None, value: object) -> None:
    if value is not None and not (
        isinstance(value, tuple) and all(type(broker) is int for broker in value)
    ):
        given = list(value) if isinstance(value, tuple) else value
        raise ClusterError(
            f"{name}: replicas is {given!r}; give a list of brokers, preferred leader first, such as [2, 3]"
        )
