"""Metadata and DescribeTopicPartitions: topics that a user may not describe, or may not let come
into being.

Named ones are refused, whether they exist or not; of all topics they are left out. An id that there
is says so (ACL-1). What was found is kept encoded for each user until the cluster or the ACLs
change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...errors import ErrorCode
from ...security.acls import Operation
from ...wire.messages.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponseTopic,
    TopicRequest,
)
from ...wire.messages.metadata import MetadataRequest, MetadataResponse, MetadataResponseTopic
from ...wire.schema import ZERO_UUID
from ..authorized import NOT_ASKED
from ..call import Encoded
from ..error_responses import copied
from ..handlers.metadata import of_topics
from .table import CLUSTER, TOPIC
from .verdicts import Verdict, refused

if TYPE_CHECKING:
    from .asking import Asker

_MOST_KEPT = 256
_REFUSED = ErrorCode.TOPIC_AUTHORIZATION_FAILED
_DESCRIBE, _CREATE = Operation.DESCRIBE, Operation.CREATE


def metadata(asker: Asker) -> Verdict | None:
    """What becomes of a Metadata request."""
    request, call = asker.call.message, asker.call
    assert isinstance(request, MetadataRequest)
    asked = request.topics
    if asked is None or (call.version == 0 and not asked):
        return _all_topics(asker, request)
    if any(topic.topic_id != ZERO_UUID for topic in asked):
        return _by_id(asker, request)
    hidden = {
        topic.name: None
        for topic in asked
        if topic.name is not None and asker.is_refused(_DESCRIBE, TOPIC, topic.name)
    }
    not_made = {
        topic.name: None
        for topic in asked
        if topic.name is not None
        and topic.name not in hidden
        and _would_be_made(asker, request, topic.name)
        and not asker.may(_CREATE, CLUSTER)
        and asker.is_refused(_CREATE, TOPIC, topic.name)
    }
    shown = [topic for topic in asked if topic.name not in hidden and topic.name not in not_made]
    if len(shown) == len(asked):
        return _with_operations(asker, request)
    refusals = [
        MetadataResponseTopic(error_code=_REFUSED, name=name) for name in (*not_made, *hidden)
    ]
    nothing = call.version == 0 and not shown  # an empty list would mean all

    def complete(answer: Any) -> Any:
        made = _decoded(answer, asker)
        seen = [] if nothing else made.topics
        return _patched(asker, copied(made, topics=[*seen, *refusals]), request)

    return Verdict(copied(request, topics=shown), complete=complete)


def _would_be_made(asker: Asker, request: MetadataRequest, name: str) -> bool:
    return (
        request.allow_auto_topic_creation
        and name not in asker.broker.cluster.topics
        and asker.broker.configs.get_bool("auto.create.topics.enable")
    )


def _all_topics(asker: Asker, request: MetadataRequest) -> Verdict:
    call = asker.call
    kept = asker.broker.cluster.kept
    key = (
        "metadata of",
        asker.principal,
        asker.host,
        asker.authorizer.version,
        call.version,
        call.listener,
        request.include_cluster_authorized_operations,
        request.include_topic_authorized_operations,
    )
    known = kept.get(key)
    if known is not None:
        return refused(Encoded(known))

    topics = asker.broker.cluster.topics
    shown = [topic for name, topic in topics.items() if asker.may(_DESCRIBE, TOPIC, name)]
    answer = of_topics(asker.broker, call, request, shown)
    body = _patched(asker, answer, request).encode(call.version)
    if len(kept) < _MOST_KEPT:
        kept[key] = body
    return refused(Encoded(body))


def _by_id(asker: Asker, request: MetadataRequest) -> Verdict | None:
    topics_by_id = asker.broker.cluster.topics_by_id
    hidden = {
        topic.topic_id
        for topic in request.topics or ()
        if topic.topic_id in topics_by_id
        and asker.is_refused(_DESCRIBE, TOPIC, topics_by_id[topic.topic_id].name)
    }
    if not hidden:
        return _with_operations(asker, request)

    def complete(answer: Any) -> Any:
        made = _decoded(answer, asker)
        shown = [topic for topic in made.topics if topic.topic_id not in hidden]
        lost = [
            MetadataResponseTopic(error_code=_REFUSED, name=None, topic_id=topic.topic_id)
            for topic in made.topics
            if topic.topic_id in hidden
        ]
        return _patched(asker, copied(made, topics=[*shown, *lost]), request)

    return Verdict(request, complete=complete)


def _with_operations(asker: Asker, request: MetadataRequest) -> Verdict | None:
    """Everything may be seen; what may be done is shown as it is."""
    if not (
        request.include_cluster_authorized_operations or request.include_topic_authorized_operations
    ):
        return None
    return Verdict(
        request, complete=lambda answer: _patched(asker, _decoded(answer, asker), request)
    )


def _decoded(answer: Any, asker: Asker) -> Any:
    if isinstance(answer, Encoded):
        return MetadataResponse.decode(asker.call.version, answer.body)
    return answer


def _patched(asker: Asker, answer: Any, request: MetadataRequest) -> Any:
    """The same answer with what this user may do (REF-15)."""
    if request.include_topic_authorized_operations:
        for topic in answer.topics:
            if topic.error_code != _REFUSED and topic.name is not None:
                topic.topic_authorized_operations = asker.operations(TOPIC, topic.name)
    if answer.cluster_authorized_operations != NOT_ASKED:
        seen = asker.may(_DESCRIBE, CLUSTER)
        answer.cluster_authorized_operations = asker.operations(CLUSTER) if seen else 0
    return answer


def describe_topic_partitions(asker: Asker) -> Verdict | None:
    """What becomes of a DescribeTopicPartitions request: operations are always told (REF-15)."""
    request = asker.call.message
    assert isinstance(request, DescribeTopicPartitionsRequest)
    hidden: dict[str, None]
    if request.topics:
        hidden = {
            topic.name: None
            for topic in request.topics
            if asker.is_refused(_DESCRIBE, TOPIC, topic.name)
        }
        shown = [topic for topic in request.topics if topic.name not in hidden]
        lost = [
            DescribeTopicPartitionsResponseTopic(error_code=_REFUSED, name=name)
            for name in sorted(hidden)
        ]
    else:
        hidden = {}
        names = [name for name in asker.broker.cluster.topics if asker.may(_DESCRIBE, TOPIC, name)]
        shown, lost = [TopicRequest(name=name) for name in names], []

    def complete(answer: Any) -> Any:
        for topic in answer.topics:
            topic.topic_authorized_operations = asker.operations(TOPIC, topic.name or "")
        return copied(answer, topics=[*answer.topics, *lost])

    if not shown:
        return refused(DescribeTopicPartitionsResponse(topics=lost))
    return Verdict(copied(request, topics=shown), complete=complete)
