"""CreateTopics (key 19), v2-7: the v5 response has partitions and configurations, v7 the topic id.

Kafka creates topics asynchronously and answers 7 after timeout_ms; here no time passes, so only
a timeout of 0 or less is exceeded, and then nothing is created. Names within one request may
collide with each other; only topics that existed before are compared (seen in 4.4.0).
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from coordinator.base.errors import ErrorCode
from coordinator.base.slices import uncollected
from coordinator.wire.messages.topics import (
    CreatableTopic,
    CreatableTopicConfigs,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)

from ..cluster.topic_names import TopicNames
from ..quota_changes import quota_of_changes, throttle_of_changes
from ..requests.call import Sliced
from ..requests.refusals import refused_whole_in_slices
from ..settings.topic_configs import effective_texts
from ..topics import (
    CLUSTER_METADATA,
    MOST_AT_ONCE,
    PARTITIONS_A_STEP,
    TOPIC_AS_PARTITIONS,
    Plan,
    Refused,
    Wanted,
    check_log,
    make,
    make_ready,
    plan,
)

if TYPE_CHECKING:
    from coordinator.base.slices import Slices

    from ..broker import Broker
    from ..requests.call import Call, Result
    from ..throttling import Mutations


def handle(broker: Broker, call: Call) -> Sliced:
    """Handle a CreateTopics; each topic is created or refused independently."""
    request = call.message
    assert isinstance(request, CreateTopicsRequest)
    names = Counter(topic.name for topic in request.topics)
    single = [topic for topic in request.topics if names[topic.name] == 1]
    if (request.timeout_ms <= 0 or not broker.reaches_controller) and any(
        topic.name != CLUSTER_METADATA for topic in single
    ):
        code = ErrorCode.REQUEST_TIMED_OUT
        return Sliced(refused_whole_in_slices(request, call.version, code, None))
    if sum(_size(broker, topic) for topic in single) > MOST_AT_ONCE:
        code, why = (
            ErrorCode.POLICY_VIOLATION,
            "Excessively large number of partitions per request.",
        )
        return Sliced(refused_whole_in_slices(request, call.version, code, why))
    doubled = [
        _refusal(name, ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
        for name, count in names.items()
        if count > 1
    ]
    return Sliced(_make_all(broker, call, request, single, doubled))


def _make_all(
    broker: Broker,
    call: Call,
    request: CreateTopicsRequest,
    single: list[CreatableTopic],
    doubled: list[CreatableTopicResult],
) -> Slices[Result]:
    """Check all topics, then create them, in slices; a topic counts by its partitions."""
    existing = TopicNames(
        broker.controller.cluster.topics
    )  # this broker may not have heard of the latest yet
    planned = []
    left = PARTITIONS_A_STEP
    for topic in single:
        planned.append(_plan(broker, topic, existing))
        left -= TOPIC_AS_PARTITIONS + max(0, _size(broker, topic))
        if left <= 0:
            left = PARTITIONS_A_STEP
            call = call._replace(now=(yield))
    if (
        sum(
            1 + len(each.assignment) + len(each.configs)
            for each in planned
            if isinstance(each, Plan)
        )
        > MOST_AT_ONCE
    ):
        code, why = (
            ErrorCode.POLICY_VIOLATION,
            "Unable to perform excessively large batch operation.",
        )
        return (yield from refused_whole_in_slices(request, call.version, code, why))
    results = []
    mutations = quota_of_changes(broker, call, strict_since=6)
    for each in planned:
        if isinstance(each, Plan) and not request.validate_only:
            call = yield from make_ready(broker, len(each.assignment), call)
        # partitions are many objects, and stay
        results.append(
            uncollected(_made, broker, call, each, request.validate_only, mutations)
            if isinstance(each, Plan)
            else each
        )
        left -= TOPIC_AS_PARTITIONS + (len(each.assignment) if isinstance(each, Plan) else 0)
        if left <= 0:
            left = PARTITIONS_A_STEP
            call = call._replace(now=(yield))
    return CreateTopicsResponse(
        topics=results + doubled, throttle_time_ms=throttle_of_changes(mutations)
    )


def _plan(
    broker: Broker, topic: CreatableTopic, existing: TopicNames
) -> Plan | CreatableTopicResult:
    assignments = tuple((each.partition_index, each.broker_ids) for each in topic.assignments)
    configs = {config.name: config.value for config in topic.configs if config.value is not None}
    nulls = tuple(config.name for config in topic.configs if config.value is None)
    try:
        return plan(
            broker,
            Wanted(
                topic.name,
                topic.num_partitions,
                topic.replication_factor,
                assignments,
                configs,
                nulls,
            ),
            existing,
        )
    except Refused as refused:
        return _refusal(topic.name, refused.code, refused.message)


def _made(
    broker: Broker, call: Call, planned: Plan, validate_only: bool, mutations: Mutations | None
) -> CreatableTopicResult:
    if (
        planned.name in broker.controller.cluster.topics
    ):  # made by another request between two slices
        return _refusal(
            planned.name, ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{planned.name}' already exists."
        )
    if mutations is not None and not mutations.allows(len(planned.assignment), call.now):
        return _refusal(planned.name, ErrorCode.THROTTLING_QUOTA_EXCEEDED, None)
    try:
        check_log(broker)
    except Refused as refused:
        return _refusal(planned.name, refused.code, refused.message)
    topic_id = broker.fresh_uuid() if validate_only else make(broker, planned, call).id
    configs = [
        CreatableTopicConfigs(name=name, value=value, config_source=int(source))
        for name, value, source in effective_texts(planned.configs, broker.configs)
    ]
    return CreatableTopicResult(
        name=planned.name,
        topic_id=topic_id,
        error_code=0,
        error_message=None,
        num_partitions=len(planned.assignment),
        replication_factor=len(planned.assignment[0]),
        configs=configs,
    )


def _size(broker: Broker, topic: CreatableTopic) -> int:
    if topic.assignments:
        return len(topic.assignments)
    return (
        broker.configs.get_int("num.partitions")
        if topic.num_partitions == -1
        else max(0, topic.num_partitions)
    )


def _refusal(name: str, code: ErrorCode, message: str | None) -> CreatableTopicResult:
    return CreatableTopicResult(name=name, error_code=code, error_message=message)
