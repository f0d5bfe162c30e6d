"""DeleteTopics (key 20), v1-6: v5 explains errors, v6 takes topic ids (KIP-516).

Internal topics can be deleted, as in Kafka without an authorizer. A timeout of 0 or less is exceeded
as soon as a topic has to be looked up: then nothing is done.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ...cluster import Topic
from ...errors import ErrorCode
from ...wire.messages.delete_topics import DeletableTopicResult, DeleteTopicsRequest, DeleteTopicsResponse, DeleteTopicState
from ...wire.schema import ZERO_UUID
from ..topics import delete

if TYPE_CHECKING:
    from ..core import Broker, Call

_DISABLED = "Topic deletion is disabled."


def handle(broker: Broker, call: Call) -> DeleteTopicsResponse:
    """Answered at once: each topic is deleted or refused on its own."""
    request = call.message
    assert isinstance(request, DeleteTopicsRequest)
    asked = request.topics if call.version >= 6 else [DeleteTopicState(name=name) for name in request.topic_names]
    if not broker.configs.get_bool("delete.topic.enable"):
        code = ErrorCode.INVALID_REQUEST if call.version < 3 else ErrorCode.TOPIC_DELETION_DISABLED
        return DeleteTopicsResponse(responses=[_refused(each.name, each.topic_id, code, _DISABLED) for each in asked])
    responses = [
        _refused(each.name, each.topic_id, ErrorCode.INVALID_REQUEST, "You may not specify both topic name and topic id.")
        for each in asked if each.name is not None and each.topic_id != ZERO_UUID
    ]  # fmt: skip
    responses += [
        _refused(None, ZERO_UUID, ErrorCode.INVALID_REQUEST, "Neither topic name nor id were specified.")
        for each in asked if each.name is None and each.topic_id == ZERO_UUID
    ]  # fmt: skip
    names = Counter(each.name for each in asked if each.name is not None and each.topic_id == ZERO_UUID)
    ids = Counter(each.topic_id for each in asked if each.name is None and each.topic_id != ZERO_UUID)
    if request.timeout_ms <= 0 and (1 in names.values() or 1 in ids.values()):
        code = ErrorCode.REQUEST_TIMED_OUT
        return DeleteTopicsResponse(responses=[_refused(each.name, each.topic_id, code, None) for each in asked])
    found, refused = _find(broker, names, ids)
    responses += refused
    for topic in found:
        delete(broker, topic, call)
        responses.append(DeletableTopicResult(name=topic.name, topic_id=topic.id, error_code=0, error_message=None))
    return DeleteTopicsResponse(responses=responses)


def _find(broker: Broker, names: Counter[str], ids: Counter[bytes]) -> tuple[list[Topic], list[DeletableTopicResult]]:
    """The topics meant, and refusals of the rest."""
    cluster = broker.cluster
    found: list[Topic] = []
    refused = []
    twice = "The provided topic name maps to an ID that was already supplied."
    for name, count in names.items():
        topic = cluster.topics.get(name)
        if count > 1:
            refused.append(_refused(name, ZERO_UUID, ErrorCode.INVALID_REQUEST, "Duplicate topic name."))
        elif topic is None:
            code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            refused.append(_refused(name, ZERO_UUID, code, code.message))
        elif topic.id in ids:
            refused.append(_refused(name, topic.id, ErrorCode.INVALID_REQUEST, twice))
        else:
            found.append(topic)
    named_too = {cluster.topics[name].id for name in names if name in cluster.topics}
    for topic_id, count in ids.items():
        topic = cluster.topics_by_id.get(topic_id)
        if count > 1:
            refused.append(_refused(None, topic_id, ErrorCode.INVALID_REQUEST, "Duplicate topic id."))
        elif topic_id in named_too:
            continue
        elif topic is None:
            code = ErrorCode.UNKNOWN_TOPIC_ID
            refused.append(_refused(None, topic_id, code, code.message))
        else:
            found.append(topic)
    return found, refused


def _refused(name: str | None, topic_id: bytes, code: ErrorCode, message: str | None) -> DeletableTopicResult:
    return DeletableTopicResult(name=name, topic_id=topic_id, error_code=code, error_message=message)
