"""Metadata and DescribeTopicPartitions: topics that the user may not describe or create
automatically.

Topics named in the request are refused, whether they exist or not; from the list of all topics
hidden ones are left out. For an existing topic id the response shows that it exists (ACL-1).
Answers are kept encoded for each user until the cluster or the ACLs change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coordinator.base.errors import ErrorCode
from coordinator.base.slices import ITEMS_A_STEP, each, only
from coordinator.events.acls import Operation
from coordinator.wire.messages.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponseTopic,
    TopicRequest,
)
from coordinator.wire.messages.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseTopic,
)
from coordinator.wire.schema import ZERO_UUID

from ..authorized_operations import NOT_ASKED
from ..handlers.metadata import of_topics
from ..requests.call import Encoded
from ..requests.refusals import copied
from .table import CLUSTER, TOPIC
from .verdicts import Verdict, refused

if TYPE_CHECKING:
    from coordinator.base.slices import Slices

    from .asking import Asker

_MOST_KEPT = 256
_REFUSED = ErrorCode.TOPIC_AUTHORIZATION_FAILED
_DESCRIBE, _CREATE = Operation.DESCRIBE, Operation.CREATE


def metadata(asker: Asker) -> Slices[Verdict | None]:
    """Return the verdict on a Metadata request."""
    request, call = asker.call.message, asker.call
    assert isinstance(request, MetadataRequest)
    asked = request.topics
    if asked is None or (call.version == 0 and not asked):
        return (yield from _all_topics(asker, request))
    if any(topic.topic_id != ZERO_UUID for topic in asked):
        return (yield from _by_id(asker, request))
    names = [topic.name for topic in asked if topic.name is not None]
    hidden = dict.fromkeys(
        (yield from only(names, lambda name: asker.is_refused(_DESCRIBE, TOPIC, name)))
    )

    def is_not_made(name: str) -> bool:
        return (
            name not in hidden
            and _would_be_made(asker, request, name)
            and not asker.may(_CREATE, CLUSTER)
            and asker.is_refused(_CREATE, TOPIC, name)
        )

    not_made = dict.fromkeys((yield from only(names, is_not_made)))
    shown = [topic for topic in asked if topic.name not in hidden and topic.name not in not_made]
    if len(shown) == len(asked):
        return _with_operations(asker, request)
    refusals = yield from each(
        (*not_made, *hidden), lambda name: MetadataResponseTopic(error_code=_REFUSED, name=name)
    )
    nothing = call.version == 0 and not shown  # an empty list would mean all

    def complete(answer: Any) -> Slices[Any]:
        made = _decoded(answer, asker)
        seen = [] if nothing else made.topics
        return (yield from _patched(asker, copied(made, topics=[*seen, *refusals]), request))

    return Verdict(copied(request, topics=shown), complete=complete)


def _would_be_made(asker: Asker, request: MetadataRequest, name: str) -> bool:
    return (
        request.allow_auto_topic_creation
        and name not in asker.broker.cluster.topics
        and asker.broker.configs.get_bool("auto.create.topics.enable")
    )


def _all_topics(asker: Asker, request: MetadataRequest) -> Slices[Verdict]:
    call, cluster, versions = asker.call, asker.broker.cluster, _versions(asker)
    kept = cluster.kept
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

    topics = list(cluster.topics.values())
    shown = yield from only(topics, lambda topic: asker.may(_DESCRIBE, TOPIC, topic.name))
    answer = of_topics(asker.broker, call, request, shown)
    body = (yield from _patched(asker, answer, request)).encode(call.version)
    if len(kept) < _MOST_KEPT and _versions(asker) == versions:
        kept[key] = body
    return refused(Encoded(body))


def _versions(asker: Asker) -> tuple[int, int]:
    """Return the versions of cluster and ACLs that an answer about all topics depends on."""
    return asker.broker.cluster.version, asker.authorizer.version


def _by_id(asker: Asker, request: MetadataRequest) -> Slices[Verdict | None]:
    topics_by_id = asker.broker.cluster.topics_by_id

    def is_hidden(topic_id: bytes) -> bool:
        known = topics_by_id.get(topic_id)
        return known is not None and asker.is_refused(_DESCRIBE, TOPIC, known.name)

    ids = [topic.topic_id for topic in request.topics or ()]
    hidden = set((yield from only(ids, is_hidden)))
    if not hidden:
        return _with_operations(asker, request)

    def complete(answer: Any) -> Slices[Any]:
        made = _decoded(answer, asker)
        shown = [topic for topic in made.topics if topic.topic_id not in hidden]
        lost = [
            MetadataResponseTopic(error_code=_REFUSED, name=None, topic_id=topic.topic_id)
            for topic in made.topics
            if topic.topic_id in hidden
        ]
        return (yield from _patched(asker, copied(made, topics=[*shown, *lost]), request))

    return Verdict(request, complete=complete)


def _with_operations(asker: Asker, request: MetadataRequest) -> Verdict | None:
    """Return the verdict on a request of which everything may be seen: None, or one that only fills
    in the allowed operations.
    """
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


def _patched(asker: Asker, answer: Any, request: MetadataRequest) -> Slices[Any]:
    """Return the answer with the operations that this user is allowed (REF-15)."""
    if request.include_topic_authorized_operations:
        for seen, topic in enumerate(answer.topics, 1):
            if not seen % ITEMS_A_STEP:
                yield
            if topic.error_code != _REFUSED and topic.name is not None:
                topic.topic_authorized_operations = asker.operations(TOPIC, topic.name)
    if answer.cluster_authorized_operations != NOT_ASKED:
        is_seen = asker.may(_DESCRIBE, CLUSTER)
        answer.cluster_authorized_operations = asker.operations(CLUSTER) if is_seen else 0
    return answer


def describe_topic_partitions(asker: Asker) -> Slices[Verdict | None]:
    """Return the verdict on a DescribeTopicPartitions request; the response always has the allowed
    operations (REF-15).
    """
    request = asker.call.message
    assert isinstance(request, DescribeTopicPartitionsRequest)
    hidden: dict[str, None]
    if request.topics:
        asked = [topic.name for topic in request.topics]
        hidden = dict.fromkeys(
            (yield from only(asked, lambda name: asker.is_refused(_DESCRIBE, TOPIC, name)))
        )
        shown = [topic for topic in request.topics if topic.name not in hidden]
        lost = yield from each(
            sorted(hidden),
            lambda name: DescribeTopicPartitionsResponseTopic(error_code=_REFUSED, name=name),
        )
    else:
        hidden = {}
        names = yield from only(
            list(asker.broker.cluster.topics), lambda name: asker.may(_DESCRIBE, TOPIC, name)
        )
        shown, lost = [TopicRequest(name=name) for name in names], []

    def complete(answer: Any) -> Slices[Any]:
        for seen, topic in enumerate(answer.topics, 1):
            if not seen % ITEMS_A_STEP:
                yield
            topic.topic_authorized_operations = asker.operations(TOPIC, topic.name or "")
        return copied(answer, topics=[*answer.topics, *lost])

    if not shown:
        return refused(DescribeTopicPartitionsResponse(topics=lost))
    return Verdict(copied(request, topics=shown), complete=complete)
