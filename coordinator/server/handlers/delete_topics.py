"""DeleteTopics (key 20), v1-6: v5 has error messages, v6 topic ids (KIP-516).

Internal topics can be deleted, as in Kafka without an authorizer. A timeout of 0 or less is
exceeded as soon as a topic has to be looked up; then nothing is deleted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from coordinator.base.errors import ErrorCode
from coordinator.base.slices import ITEMS_A_STEP, each
from coordinator.wire.messages.topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from coordinator.wire.schema import ZERO_UUID

from ..cluster import Topic
from ..quota_changes import quota_of_changes, throttle_of_changes
from ..requests.call import Sliced
from ..requests.refusals import refused_whole_in_slices
from ..topics import UNWRITTEN, delete

if TYPE_CHECKING:
    from coordinator.base.slices import Slices

    from ..broker import Broker
    from ..requests.call import Call, Result
    from ..throttling import Mutations

TOPICS_A_STEP = 8
"""So many topics are deleted between two stops."""
_DISABLED = "Topic deletion is disabled."


def handle(broker: Broker, call: Call) -> Sliced:
    """Handle a DeleteTopics; each topic is deleted or refused independently."""
    return Sliced(_delete_all(broker, call))


def _delete_all(broker: Broker, call: Call) -> Slices[Result]:
    """Find the topics, then delete them, in slices; deletion yields more often, for a topic has
    many partitions.
    """
    request = call.message
    assert isinstance(request, DeleteTopicsRequest)
    if not broker.configs.get_bool("delete.topic.enable"):
        code = ErrorCode.INVALID_REQUEST if call.version < 3 else ErrorCode.TOPIC_DELETION_DISABLED
        return (yield from refused_whole_in_slices(request, call.version, code, _DISABLED))
    if call.version >= 6:
        asked = request.topics
    else:
        asked = yield from each(request.topic_names, lambda name: DeleteTopicState(name=name))
    names, ids, responses = yield from _meant(asked)
    if (request.timeout_ms <= 0 or not broker.reaches_controller) and (
        1 in names.values() or 1 in ids.values()
    ):
        code = ErrorCode.REQUEST_TIMED_OUT
        return (yield from refused_whole_in_slices(request, call.version, code, None))
    found, refused = yield from _find(broker, names, ids)
    responses += refused
    mutations = quota_of_changes(broker, call, strict_since=5)
    for count, topic in enumerate(found, 1):
        if not count % TOPICS_A_STEP:
            call = call._replace(now=(yield))
        responses.append(_deleted(broker, call, topic, mutations))
    return DeleteTopicsResponse(
        responses=responses, throttle_time_ms=throttle_of_changes(mutations)
    )


def _deleted(
    broker: Broker, call: Call, topic: Topic, mutations: Mutations | None
) -> DeletableTopicResult:
    controller = broker.controller
    if controller.cluster.topics.get(topic.name) is not topic:  # somebody else deleted it meanwhile
        code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return _refused(topic.name, ZERO_UUID, code, code.message)
    if broker.log_is_blocked:
        return _refused(topic.name, topic.id, ErrorCode.KAFKA_STORAGE_ERROR, UNWRITTEN)
    if mutations is not None and not mutations.allows(len(topic.partitions), call.now):
        return _refused(topic.name, topic.id, ErrorCode.THROTTLING_QUOTA_EXCEEDED, None)
    delete(broker, topic, call)
    if controller.cluster.topics.get(topic.name) is topic:
        # with the older controller it waits for its reassignment
        return _refused(topic.name, topic.id, ErrorCode.REQUEST_TIMED_OUT, None)
    return DeletableTopicResult(
        name=topic.name, topic_id=topic.id, error_code=0, error_message=None
    )


def _meant(
    asked: list[DeleteTopicState],
) -> Slices[tuple[dict[str, int], dict[bytes, int], list[DeletableTopicResult]]]:
    """Return how often the request contains each name and each id, and the refusals of entries with
    both or neither.
    """
    names: dict[str, int] = {}
    ids: dict[bytes, int] = {}
    both, neither = [], []
    for count, one in enumerate(asked, 1):
        if not count % ITEMS_A_STEP:
            yield
        name, topic_id = one.name, one.topic_id
        if name is None:
            if topic_id == ZERO_UUID:
                neither.append(
                    _refused(
                        None,
                        ZERO_UUID,
                        ErrorCode.INVALID_REQUEST,
                        "Neither topic name nor id were specified.",
                    )
                )
            else:
                ids[topic_id] = ids.get(topic_id, 0) + 1
        elif topic_id == ZERO_UUID:
            names[name] = names.get(name, 0) + 1
        else:
            both.append(
                _refused(
                    name,
                    topic_id,
                    ErrorCode.INVALID_REQUEST,
                    "You may not specify both topic name and topic id.",
                )
            )
    return names, ids, both + neither


def _find(
    broker: Broker, names: Mapping[str, int], ids: Mapping[bytes, int]
) -> Slices[tuple[list[Topic], list[DeletableTopicResult]]]:
    """Return the existing topics, and the refusals of the others."""
    cluster = broker.controller.cluster
    found: list[Topic] = []
    refused = []
    twice = "The provided topic name maps to an ID that was already supplied."
    for seen, (name, count) in enumerate(names.items(), 1):
        if not seen % ITEMS_A_STEP:
            yield
        topic = cluster.topics.get(name)
        if count > 1:
            refused.append(
                _refused(name, ZERO_UUID, ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
            )
        elif topic is None:
            code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            refused.append(_refused(name, ZERO_UUID, code, code.message))
        elif topic.id in ids:
            refused.append(_refused(name, topic.id, ErrorCode.INVALID_REQUEST, twice))
        else:
            found.append(topic)
    named_too = {topic.id for topic in cluster.topics.values() if topic.name in names}
    for seen, (topic_id, count) in enumerate(ids.items(), 1):
        if not seen % ITEMS_A_STEP:
            yield
        topic = cluster.topics_by_id.get(topic_id)
        if count > 1:
            refused.append(
                _refused(None, topic_id, ErrorCode.INVALID_REQUEST, "Duplicate topic id.")
            )
        elif topic_id in named_too:
            continue
        elif topic is None:
            code = ErrorCode.UNKNOWN_TOPIC_ID
            refused.append(_refused(None, topic_id, code, code.message))
        else:
            found.append(topic)
    return found, refused


def _refused(
    name: str | None, topic_id: bytes, code: ErrorCode, message: str | None
) -> DeletableTopicResult:
    return DeletableTopicResult(
        name=name, topic_id=topic_id, error_code=code, error_message=message
    )
