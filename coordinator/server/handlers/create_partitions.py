"""CreatePartitions (key 37), v0-3. New partitions have the replication factor of the topic's first.

A request for more than 10,000 new partitions is refused as a whole (PART-44-1). Divergence:
older releases answer -1 for a topic that grows by more, but add 10,000 of them; here none are
added.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from coordinator.base.errors import ErrorCode
from coordinator.base.slices import uncollected
from coordinator.wire.messages.topics import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
    CreatePartitionsTopicResult,
)

from ..quota_changes import quota_of_changes, throttle_of_changes
from ..requests.call import Sliced
from ..requests.refusals import refused_whole_in_slices
from ..topics import (
    MOST_AT_ONCE,
    PARTITIONS_A_STEP,
    TOPIC_AS_PARTITIONS,
    Refused,
    grow,
    make_ready,
    plan_growth,
)

if TYPE_CHECKING:
    from coordinator.base.slices import Slices

    from ..broker import Broker
    from ..requests.call import Call, Result


def handle(broker: Broker, call: Call) -> Sliced:
    """Handle a CreatePartitions; each topic grows or is refused independently. Topics named twice
    come first, refused.
    """
    request = call.message
    assert isinstance(request, CreatePartitionsRequest)
    names = Counter(topic.name for topic in request.topics)
    if (request.timeout_ms <= 0 or not broker.reaches_controller) and 1 in names.values():
        code = ErrorCode.REQUEST_TIMED_OUT
        return Sliced(refused_whole_in_slices(request, call.version, code, None))
    if broker.controller_release.has("PART-44-1") and _added(broker, request, names) > MOST_AT_ONCE:
        code = ErrorCode.POLICY_VIOLATION
        why = "Excessively large number of additional partitions per request."
        return Sliced(refused_whole_in_slices(request, call.version, code, why))
    return Sliced(_grow_all(broker, call, request, names))


def _added(broker: Broker, request: CreatePartitionsRequest, names: Counter[str]) -> int:
    """Return the number of partitions that the request's existing topics would get."""
    topics = broker.controller.cluster.topics
    return sum(
        max(0, topic.count - len(topics[topic.name].partitions))
        for topic in request.topics
        if names[topic.name] == 1 and topic.name in topics
    )


def _grow_all(
    broker: Broker, call: Call, request: CreatePartitionsRequest, names: Counter[str]
) -> Slices[Result]:
    """Grow one topic after the other, in slices; a topic counts by its new partitions."""
    results = [
        _result(name, ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
        for name, count in names.items()
        if count > 1
    ]
    left = PARTITIONS_A_STEP
    mutations = quota_of_changes(broker, call, strict_since=3)
    for topic in request.topics:
        if left <= 0:
            left = PARTITIONS_A_STEP
            call = call._replace(now=(yield))
        left -= TOPIC_AS_PARTITIONS
        if names[topic.name] == 1:
            planned = uncollected(_planned, broker, topic)
            if isinstance(planned, list) and len(planned) >= PARTITIONS_A_STEP:
                before = broker.controller.cluster.topics[topic.name]
                present = len(before.partitions)
                call = call._replace(now=(yield))
                if not request.validate_only:
                    call = yield from make_ready(broker, len(planned), call)
                same = (
                    broker.controller.cluster.topics.get(topic.name) is before
                    and len(before.partitions) == present
                )
                if not same or broker.log_is_blocked:
                    planned = uncollected(_planned, broker, topic)
            if isinstance(planned, CreatePartitionsTopicResult):
                results.append(planned)
                continue
            if mutations is not None and not mutations.allows(len(planned), call.now):
                results.append(_result(topic.name, ErrorCode.THROTTLING_QUOTA_EXCEEDED, None))
                continue
            if not request.validate_only:
                uncollected(
                    grow, broker, topic.name, planned, call
                )  # partitions are many objects, and stay
            left -= len(planned)
            results.append(_result(topic.name, ErrorCode.NONE, None))
    return CreatePartitionsResponse(
        results=results, throttle_time_ms=throttle_of_changes(mutations)
    )


def _planned(
    broker: Broker, topic: CreatePartitionsTopic
) -> list[list[int]] | CreatePartitionsTopicResult:
    """Return the replicas of the new partitions, or the topic's refusal."""
    manual = None if topic.assignments is None else [each.broker_ids for each in topic.assignments]
    try:
        return plan_growth(broker, topic.name, topic.count, manual)
    except Refused as refused:
        return _result(topic.name, refused.code, refused.message)


def _result(name: str, code: ErrorCode, message: str | None) -> CreatePartitionsTopicResult:
    return CreatePartitionsTopicResult(name=name, error_code=code, error_message=message)
