"""Creation, growth and deletion of topics: the controller's checks in Kafka's order.

Shared by the handlers of CreateTopics, CreatePartitions, DeleteTopics and Metadata (automatic
creation). A topic is checked completely before anything is created; groups drop the offsets of
deleted topics (EXP-7); fetches that wait on one are answered. Texts are Kafka's. Does not know
API versions or the form of answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from coordinator.base.errors import ErrorCode
from coordinator.base.java_hash import in_hash_order, java_hash
from coordinator.base.releases import Release
from coordinator.base.slices import Slices
from coordinator.events.wire import TopicAutoCreated

from .broker import Broker
from .cluster import Cluster, Topic
from .cluster.internal_topics import OFFSETS_CONFIGS, PARTITIONS_SETTING
from .cluster.model import CONSUMER_OFFSETS, SHARE_GROUP_STATE, TRANSACTION_STATE
from .cluster.placement import InvalidReplicationFactor, place
from .cluster.topic_names import TopicNames, why_invalid
from .quota_changes import quota_of_changes
from .requests.call import Call
from .settings.broker_configs import BrokerConfigs
from .settings.definitions import ConfigException
from .settings.topic_configs import validate

CLUSTER_METADATA = "__cluster_metadata"
# A request may make no more than this many partitions, nor need more records than this in the
# metadata log.
MOST_AT_ONCE = 10_000
PARTITIONS_A_STEP = 1_024
"""So many partitions are planned or made between two stops."""
TOPIC_AS_PARTITIONS = 8
"""Work for a topic costs as much as for so many partitions."""


class Refused(Exception):
    """Error code and message with which a change of a topic is refused."""

    def __init__(self, code: ErrorCode, message: str | None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class Plan(NamedTuple):
    """A checked topic that can be created."""

    name: str
    assignment: list[list[int]]
    configs: dict[str, str]


class Wanted(NamedTuple):
    """A topic as requested. `assignments`: index and replicas of each partition; empty to have them
    placed. -1 means the default. `nulls`: configurations with a null value, each as often as it
    was named.
    """

    name: str
    partitions: int = -1
    replication_factor: int = -1
    assignments: tuple[tuple[int, list[int]], ...] = ()
    configs: Mapping[str, str] = {}
    nulls: tuple[str, ...] = ()


UNWRITTEN = "The emulator's event log cannot be written now, so nothing is changed."
"""The refusal of the change of a topic or a configuration."""


def plan(broker: Broker, wanted: Wanted, existing: TopicNames) -> Plan:
    """Check a new topic and return how to create it. `existing`: the topic names before the
    request. Raises Refused.
    """
    if wanted.name == CLUSTER_METADATA:
        raise Refused(
            ErrorCode.INVALID_REQUEST,
            f"Creation of internal topic {CLUSTER_METADATA} is prohibited.",
        )
    why = why_invalid(wanted.name)
    if why is not None:
        raise Refused(ErrorCode.INVALID_TOPIC_EXCEPTION, why)
    if wanted.name in existing:
        raise Refused(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{wanted.name}' already exists.")
    other = existing.colliding(wanted.name)
    if other is not None:
        raise Refused(
            ErrorCode.INVALID_TOPIC_EXCEPTION,
            f"Topic '{wanted.name}' collides with existing topic: {other}",
        )
    configs = _configs(wanted, broker.controller_release)
    planned = Plan(wanted.name, _assignment(broker, wanted), configs)
    check_log(broker)
    return planned


def check_log(broker: Broker) -> None:
    """Raise Refused if the event log cannot be written now (ERR-1)."""
    if broker.log_is_blocked:
        raise Refused(ErrorCode.KAFKA_STORAGE_ERROR, UNWRITTEN)


def make_ready(broker: Broker, count: int, call: Call) -> Slices[Call]:
    """Prepare the logs of `count` new partitions in slices, so that adding them takes little time.
    Return the call with the time moved on.
    """
    for made, _ in enumerate(broker.controller.cluster.ready_logs(count), 1):
        if not made % PARTITIONS_A_STEP:
            call = call._replace(now=(yield))
    return call


def make(broker: Broker, plan: Plan, call: Call) -> Topic:
    """Create a planned topic."""
    return broker.controller.create_topic(
        plan.name,
        topic_id=broker.fresh_uuid(),
        replicas=plan.assignment,
        configs=plan.configs,
        now=call.now,
        cause=call.cause,
    )


def make_automatically(broker: Broker, names: Iterable[str], call: Call) -> Slices[None]:
    """Create the topics of a Metadata request with the broker's defaults, in slices; those that
    cannot be created are skipped, as in Kafka. Another request may create the same topics
    between slices.

    Nothing is created if the controller cannot be reached or refuses the whole request for its
    size (`MOST_AT_ONCE`).
    """
    if not broker.reaches_controller:
        return
    wanted: list[Wanted] = []
    default, partitions = broker.configs.get_int("num.partitions"), 0
    for name in names:
        if why_invalid(name) is None:
            one = Wanted(name, *_automatic(broker.configs, name))
            wanted.append(one)
            partitions += default if one.partitions == -1 else one.partitions
            if partitions > MOST_AT_ONCE:
                return
    plans = []
    existing = TopicNames(broker.controller.cluster.topics)
    left = PARTITIONS_A_STEP
    for one in wanted:
        if left <= 0:
            left = PARTITIONS_A_STEP
            call = call._replace(now=(yield))
        left -= TOPIC_AS_PARTITIONS
        try:
            plans.append(plan(broker, one, existing))
        except Refused:
            continue
        left -= len(plans[-1].assignment)
    if sum(1 + len(planned.assignment) for planned in plans) > MOST_AT_ONCE:
        return
    mutations = quota_of_changes(broker, call, strict_since=0)
    for planned in plans:
        if left <= 0:
            left = PARTITIONS_A_STEP
            call = call._replace(now=(yield))
        left -= TOPIC_AS_PARTITIONS + len(planned.assignment)
        call = yield from make_ready(broker, len(planned.assignment), call)
        if broker.log_is_blocked or planned.name in broker.controller.cluster.topics:
            continue
        if mutations is not None and not mutations.allows(len(planned.assignment), call.now):
            continue  # its client is told of no quota, as Kafka has it
        if not make(broker, planned, call).internal:
            _tell_of_automatic(broker, planned, call)


def make_for_broker(
    broker: Broker, name: str, configs: Mapping[str, str], now: int, cause: int | None
) -> str | None:
    """Create a topic that the broker itself needs. Return None, or the reason why it cannot be
    created.
    """
    wanted = Wanted(name, configs=configs)
    if not broker.reaches_controller:
        return "the controller cannot be asked"
    try:
        planned = plan(broker, wanted, TopicNames(broker.controller.cluster.topics))
    except Refused as why:
        return why.message or why.code.message
    broker.controller.create_topic(
        planned.name,
        topic_id=broker.fresh_uuid(),
        replicas=planned.assignment,
        configs=planned.configs,
        now=now,
        cause=cause,
    )
    return None


def _tell_of_automatic(broker: Broker, plan: Plan, call: Call) -> None:
    """Report, once for each topic, the client whose Metadata request created it: it may have
    misspelt a name.
    """
    if plan.name in broker.auto_created:
        return
    broker.auto_created[plan.name] = call.client_id
    count = len(plan.assignment)
    broker.unserved.tell(
        f"topic {plan.name!r} was made with {count} partition{'' if count == 1 else 's'}, as the client {call.client_id!r} asked about it "
        "(auto.create.topics.enable); if the name is misspelt, make no topics so: auto_create_topics=False, --config "
        "auto.create.topics.enable=false"
    )
    if broker.log is not None and broker.log.writable:
        broker.log.append(
            TopicAutoCreated(call.client_id), at_ms=call.now, cause=call.cause, topic=plan.name
        )


def delete(broker: Broker, topic: Topic, call: Call) -> None:
    """Delete a topic, and the groups' committed offsets for it."""
    broker.controller.delete_topic(topic, call.now, call.cause)


def plan_growth(
    broker: Broker, name: str, count: int, assignments: list[list[int]] | None
) -> list[list[int]]:
    """Check a request for `count` partitions in all; return the replicas of the new ones. Raises
    Refused.
    """
    topic = broker.controller.cluster.topics.get(name)
    if topic is None:
        raise Refused(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, None)
    present = len(topic.partitions)
    check_log(broker)
    if count == present:
        raise Refused(ErrorCode.INVALID_PARTITIONS, f"Topic already has {present} partition(s).")
    if count < present:
        why = f"The topic {name} currently has {present} partition(s); {count} would not be an increase."
        raise Refused(ErrorCode.INVALID_PARTITIONS, why)
    added = count - present
    factor = len(topic.partitions[0].replicas)
    if assignments is None:
        if added > MOST_AT_ONCE:
            raise Refused(ErrorCode.UNKNOWN_SERVER_ERROR, None)
        return _place(broker, added, factor)
    if len(assignments) != added:
        why = f"Attempted to add {added} additional partition(s), but only {len(assignments)} assignment(s) were specified."
        raise Refused(ErrorCode.INVALID_REPLICA_ASSIGNMENT, why)
    for index, replicas in enumerate(assignments, present):
        check_replicas(broker.controller.cluster, index, replicas, factor)
    return assignments


def grow(broker: Broker, name: str, assignment: list[list[int]], call: Call) -> None:
    """Add planned partitions to a topic."""
    broker.controller.add_partitions(name, assignment, call.now, call.cause)


def _configs(wanted: Wanted, release: Release) -> dict[str, str]:
    if wanted.nulls:
        raise Refused(
            ErrorCode.INVALID_CONFIG,
            f"Null value not supported for topic configs: {','.join(wanted.nulls)}",
        )
    configs = dict(wanted.configs)
    in_order = in_hash_order(configs, java_hash)  # which decides which fault is told
    try:
        validate({name: configs[name] for name in in_order}, release)
    except ConfigException as refused:
        raise Refused(ErrorCode.INVALID_CONFIG, str(refused)) from None
    return configs


def _assignment(broker: Broker, wanted: Wanted) -> list[list[int]]:
    if wanted.assignments:
        return _manual_assignment(broker.controller.cluster, wanted)
    if wanted.replication_factor < -1 or wanted.replication_factor == 0:
        raise Refused(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            "Replication factor must be larger than 0, or -1 to use the default value.",
        )
    if wanted.partitions < -1 or wanted.partitions == 0:
        raise Refused(
            ErrorCode.INVALID_PARTITIONS,
            "Number of partitions was set to an invalid non-positive value.",
        )
    default = broker.configs.get_int
    partitions = default("num.partitions") if wanted.partitions == -1 else wanted.partitions
    factor = (
        default("default.replication.factor")
        if wanted.replication_factor == -1
        else wanted.replication_factor
    )
    return _place(broker, partitions, factor)


def _place(broker: Broker, partitions: int, factor: int) -> list[list[int]]:
    try:
        return place(
            partitions,
            factor,
            broker.controller.cluster.brokers.values(),
            broker.random,
            cordons=broker.controller_release.has("PLACE-43-1"),
        )
    except InvalidReplicationFactor as refused:
        raise Refused(ErrorCode.INVALID_REPLICATION_FACTOR, str(refused)) from None


def _manual_assignment(cluster: Cluster, wanted: Wanted) -> list[list[int]]:
    if wanted.replication_factor != -1:
        why = (
            "A manual partition assignment was specified, but replication factor was not set to -1."
        )
        raise Refused(ErrorCode.INVALID_REQUEST, why)
    if wanted.partitions != -1:
        raise Refused(
            ErrorCode.INVALID_REQUEST,
            "A manual partition assignment was specified, but numPartitions was not set to -1.",
        )
    by_index: dict[int, list[int]] = {}
    factor = None
    for index, replicas in wanted.assignments:
        if index in by_index:
            raise _bad_assignment(
                f"Found multiple manual partition assignments for partition {index}"
            )
        check_replicas(cluster, index, replicas, factor)
        factor = len(replicas)
        by_index[index] = replicas
    if sorted(by_index) != list(range(len(by_index))):
        raise _bad_assignment("partitions should be a consecutive 0-based integer sequence")
    return [by_index[index] for index in range(len(by_index))]


def check_replicas(
    cluster: Cluster, index: int, replicas: list[int], factor: int | None = None
) -> None:
    """Check the replica list of a new partition. `factor`: the replication factor of the topic's
    other partitions. Raises Refused.
    """
    if not replicas:
        raise _bad_assignment("The manual partition assignment includes an empty replica list.")
    previous = None
    for node in sorted(replicas):
        if node not in cluster.brokers:
            raise _bad_assignment(
                f"The manual partition assignment includes broker {node}, but no such broker is registered."
            )
        if node == previous:
            raise _bad_assignment(
                f"The manual partition assignment includes the broker {node} more than once."
            )
        previous = node
    if factor is not None and len(replicas) != factor:
        raise _bad_assignment(
            f"The manual partition assignment includes a partition with {len(replicas)} replica(s), but this is not consistent with "
            f"previous partitions, which have {factor} replica(s)."
        )
    if all(cluster.brokers[node].fenced for node in replicas):
        why = f"All brokers specified in the manual partition assignment for partition {index} are fenced or in controlled shutdown."
        raise _bad_assignment(why)


def _bad_assignment(why: str) -> Refused:
    return Refused(ErrorCode.INVALID_REPLICA_ASSIGNMENT, why)


def _automatic(configs: BrokerConfigs, name: str) -> tuple[int, int]:
    """Return the number of partitions and replicas of a topic that is created automatically."""
    value: Callable[[str], int] = configs.get_int
    if name == CONSUMER_OFFSETS:
        return value("offsets.topic.num.partitions"), value("offsets.topic.replication.factor")
    if name == TRANSACTION_STATE:
        return value("transaction.state.log.num.partitions"), value(
            "transaction.state.log.replication.factor"
        )
    if name == SHARE_GROUP_STATE:
        return value("share.coordinator.state.topic.num.partitions"), value(
            "share.coordinator.state.topic.replication.factor"
        )
    return -1, -1


def ensure_internal_topic(broker: Broker, name: str, call: Call) -> None:
    """Create __consumer_offsets, __transaction_state or __share_group_state if it is missing, as
    Kafka does when a client looks for a coordinator.

    Nothing is created if the controller cannot be reached, or already has the topic although
    this broker's metadata does not show it yet.
    """
    if name in broker.controller.cluster.topics or not broker.reaches_controller:
        return
    value = broker.configs.get_int
    if name == CONSUMER_OFFSETS:
        configs, prefix = dict(OFFSETS_CONFIGS), "offsets.topic"
    elif name == SHARE_GROUP_STATE:
        configs, prefix = (
            {
                "cleanup.policy": "delete",
                "compression.type": "producer",
                "segment.bytes": str(value("share.coordinator.state.topic.segment.bytes")),
                "min.insync.replicas": str(value("share.coordinator.state.topic.min.isr")),
                "retention.ms": "-1",
            },
            "share.coordinator.state.topic",
        )
    else:
        configs, prefix = (
            {
                "cleanup.policy": "compact",
                "compression.type": "uncompressed",
                "segment.bytes": str(value("transaction.state.log.segment.bytes")),
                "min.insync.replicas": "1",
                "unclean.leader.election.enable": "false",
            },
            "transaction.state.log",
        )
    count, brokers = value(PARTITIONS_SETTING[name]), len(broker.controller.cluster.brokers)
    if brokers == 1:
        assignment = [[broker.node_id] for _ in range(count)]
    else:
        assignment = _place(broker, count, min(value(f"{prefix}.replication.factor"), brokers))
        if name == TRANSACTION_STATE:
            configs["min.insync.replicas"] = str(
                min(value("transaction.state.log.min.isr"), brokers - 1)
            )
    make(broker, Plan(name, assignment, configs), call)
