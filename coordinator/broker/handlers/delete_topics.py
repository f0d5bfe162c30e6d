"""DeleteTopics (key 20), v1-6: v5 explains errors, v6 takes topic ids (KIP-516).

Internal topics can be deleted, as in Kafka without an authorizer. A timeout of 0 or less is exceeded
as soon as a topic has to be looked up: then nothing is done.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ...cluster import Topic
from ...errors import ErrorCode
from ...slices import ITEMS_A_STEP
from ...wire.messages.delete_topics import DeletableTopicResult, DeleteTopicsRequest, DeleteTopicsResponse, DeleteTopicState
from ...wire.schema import ZERO_UUID
from ..call import Sliced
from ..topics import UNWRITTEN, delete

if TYPE_CHECKING:
    from ...slices import Slices
    from ..call import Call, Result
    from ..core import Broker

TOPICS_A_STEP = 8
"""So many topics are deleted between two stops."""
_DISABLED = "Topic deletion is disabled."


def handle(broker: Broker, call: Call) -> Sliced:
    """Answered at once: each topic is deleted or refused on its own."""
    return Sliced(_delete_all(broker, call))


def _delete_all(broker: Broker, call: Call) -> Slices[Result]:
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
    if (request.timeout_ms <= 0 or not broker.reaches_controller) and (1 in names.values() or 1 in ids.values()):
        code = ErrorCode.REQUEST_TIMED_OUT
        return DeleteTopicsResponse(responses=[_refused(each.name, each.topic_id, code, None) for each in asked])
    yield
    found, refused = yield from _find(broker, names, ids)
    responses += refused
    for count, topic in enumerate(found, 1):
        if not count % TOPICS_A_STEP:
            call = call._replace(now=(yield))
        if broker.controller.cluster.topics.get(topic.name) is not topic:  # somebody else deleted it meanwhile
            code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            responses.append(_refused(topic.name, ZERO_UUID, code, code.message))
            continue
        if broker.log_is_blocked:
            responses.append(_refused(topic.name, topic.id, ErrorCode.KAFKA_STORAGE_ERROR, UNWRITTEN))
            continue
        delete(broker, topic, call)
        if broker.controller.cluster.topics.get(topic.name) is topic:  # with the older controller it waits for its reassignment
            responses.append(_refused(topic.name, topic.id, ErrorCode.REQUEST_TIMED_OUT, None))
            continue
        responses.append(DeletableTopicResult(name=topic.name, topic_id=topic.id, error_code=0, error_message=None))
    return DeleteTopicsResponse(responses=responses)


def _find(broker: Broker, names: Counter[str], ids: Counter[bytes]) -> Slices[tuple[list[Topic], list[DeletableTopicResult]]]:
    """The topics meant, and refusals of the rest."""
    cluster = broker.controller.cluster
    found: list[Topic] = []
    refused = []
    twice = "The provided topic name maps to an ID that was already supplied."
    for seen, (name, count) in enumerate(names.items(), 1):
        if not seen % ITEMS_A_STEP:
            yield
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
