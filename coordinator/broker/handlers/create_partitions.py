"""CreatePartitions (key 37), v0-3. The replication factor of new partitions is that of the first one.

Divergence: when more than 10,000 partitions are asked for at once, Kafka 4.3.1 answers -1 but adds 10,000 of them; we answer
-1 and add none.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ...errors import ErrorCode
from ...wire.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
    CreatePartitionsTopicResult,
)
from ..topics import Refused, grow, plan_growth

if TYPE_CHECKING:
    from ..core import Broker, Call


def handle(broker: Broker, call: Call) -> CreatePartitionsResponse:
    """Answered at once: each topic grows or is refused on its own. Topics named twice are refused first."""
    request = call.message
    assert isinstance(request, CreatePartitionsRequest)
    names = Counter(topic.name for topic in request.topics)
    if request.timeout_ms <= 0 and 1 in names.values():
        return CreatePartitionsResponse(results=[_result(topic.name, ErrorCode.REQUEST_TIMED_OUT, None) for topic in request.topics])
    results = [_result(name, ErrorCode.INVALID_REQUEST, "Duplicate topic name.") for name, count in names.items() if count > 1]
    results += [_grown(broker, call, topic, request.validate_only) for topic in request.topics if names[topic.name] == 1]
    return CreatePartitionsResponse(results=results)


def _grown(broker: Broker, call: Call, topic: CreatePartitionsTopic, validate_only: bool) -> CreatePartitionsTopicResult:
    manual = None if topic.assignments is None else [each.broker_ids for each in topic.assignments]
    try:
        assignment = plan_growth(broker, topic.name, topic.count, manual)
    except Refused as refused:
        return _result(topic.name, refused.code, refused.message)
    if not validate_only:
        grow(broker, topic.name, assignment, call)
    return _result(topic.name, ErrorCode.NONE, None)


def _result(name: str, code: ErrorCode, message: str | None) -> CreatePartitionsTopicResult:
    return CreatePartitionsTopicResult(name=name, error_code=code, error_message=message)
