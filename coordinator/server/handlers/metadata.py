"""Metadata (key 3), v0-13: brokers, topics, and the leaders and replicas of partitions.

v0: an empty list means all topics; from v1 null does, and empty means none. v4: the client may
forbid automatic creation. v8-10: cluster operations, v8: topic operations (KIP-430). v10-11
return topic ids but requests may not use them; from v12, if any id is given, names are ignored.
A topic that the request creates is answered 3 this time, as in Kafka, where it exists a moment
later. An answer that created nothing is kept encoded until the cluster changes. Topics stand in
the order of Kafka's set of names (HM-7), unknown ones, from 4.4 on, in that of another set
(META-44-1).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING

from coordinator.base.errors import ErrorCode
from coordinator.base.scala_sets import copied_to_java, in_set_order
from coordinator.base.slices import ITEMS_A_STEP, after_first, each, only, whole
from coordinator.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from coordinator.wire.schema import ZERO_UUID

from ..authorized_operations import CLUSTER_OPERATIONS, NOT_ASKED, TOPIC_OPERATIONS
from ..cluster import Partition, Topic
from ..cluster.topic_names import why_invalid
from ..requests.call import Encoded, Sliced
from ..topics import make_automatically

if TYPE_CHECKING:
    from coordinator.base.slices import Slices

    from ..broker import Broker
    from ..requests.call import Call, Result

_MOST_KEPT = 256
_MOST_ASKED = 256
"""An answer to a request that names more topics is not kept, since the request would have to be
kept with it."""
_MOST_BYTES = 16 << 20
"""Of all answers that are kept."""
_FEW = 512
"""Topics, and partitions, whose answer is encoded at once."""

_Asked = Sequence[tuple[bytes, str | None]] | None


def handle(broker: Broker, call: Call) -> Result | Sliced:
    """Handle a Metadata request; it is never parked."""
    request = call.message
    assert isinstance(request, MetadataRequest)
    topics = request.topics
    if topics is not None and len(topics) > _MOST_ASKED:
        return Sliced(_answer_many(broker, call, request, topics))
    asked = None if topics is None else tuple((topic.topic_id, topic.name) for topic in topics)
    if call.version == 0 and not asked:
        asked = None
    operations = (
        request.include_cluster_authorized_operations,
        request.include_topic_authorized_operations,
    )
    key = ("metadata", call.version, call.listener, operations, asked)
    kept = broker.cluster.kept.get(key)
    if kept is not None:
        return Encoded(kept)
    work = _answer(broker, call, request, asked, key)
    try:
        next(work)
    except StopIteration as end:
        answer: Result = end.value
        return answer
    return Sliced(after_first(work))


def _answer_many(
    broker: Broker, call: Call, request: MetadataRequest, topics: Sequence[MetadataRequestTopic]
) -> Slices[Result]:
    """Like `_answer`, for so many topics that the response is not kept."""
    asked = yield from each(topics, lambda topic: (topic.topic_id, topic.name))
    return (yield from _answer(broker, call, request, asked, None))


def _answer(
    broker: Broker, call: Call, request: MetadataRequest, asked: _Asked, key: Hashable
) -> Slices[Result]:
    """Build the response. `key`: the cache key under which it is kept if the cluster did not change
    meanwhile; None: it is not kept. A generator and no function of one topic: whether names count
    depends on the whole list, and topics are created between looking up and answering.
    """
    version = broker.cluster.version
    bad = yield from _bad_form(call.version, asked)
    if bad is not None:
        return (yield from _all(request, call.version, bad))
    response = _response(broker, call, request)
    unknown = yield from _find(
        broker, call, asked, response, request.include_topic_authorized_operations
    )
    if unknown:
        if request.allow_auto_topic_creation and broker.configs.get_bool(
            "auto.create.topics.enable"
        ):
            yield from make_automatically(broker, unknown, call)
        return response
    if key is None:
        return response
    if sum(len(topic.partitions) for topic in response.topics[:_FEW]) > _FEW or (
        len(response.topics) > _FEW
    ):
        body = yield from response.encode_in_slices(call.version, broker.turns.most_response_bytes)
    else:
        body = response.encode(call.version)
    kept_bodies = broker.cluster.kept
    if (
        broker.cluster.version == version
        and len(kept_bodies) < _MOST_KEPT
        and sum(map(len, kept_bodies.values())) + len(body) <= _MOST_BYTES
    ):
        kept_bodies[key] = body
    return Encoded(body)


def _bad_form(version: int, asked: _Asked) -> Slices[ErrorCode | None]:
    """Return the error of a request that is refused as a whole, or None. Names beside ids are
    ignored.
    """
    has_ids = lacks_names = False
    for count, (topic_id, name) in enumerate(asked or (), 1):
        if not count % ITEMS_A_STEP:
            yield
        if version < 12 and (topic_id != ZERO_UUID or name is None):
            return ErrorCode.INVALID_REQUEST
        has_ids = has_ids or topic_id != ZERO_UUID
        lacks_names = lacks_names or name is None
    return ErrorCode.UNKNOWN_SERVER_ERROR if lacks_names and not has_ids else None


def _all(request: MetadataRequest, version: int, code: ErrorCode) -> Slices[MetadataResponse]:
    topics = yield from each(
        request.topics or (),
        lambda topic: MetadataResponseTopic(
            error_code=code, name=topic.name or "", topic_id=topic.topic_id
        ),
    )
    return MetadataResponse(topics=topics, error_code=code if version >= 13 else 0)


def _response(broker: Broker, call: Call, request: MetadataRequest) -> MetadataResponse:
    cluster = broker.cluster
    brokers = []
    for node in cluster.brokers.values():
        if call.listener in node.endpoints and not node.fenced:
            host, port = node.endpoints[call.listener]
            brokers.append(
                MetadataResponseBroker(node_id=node.node_id, host=host, port=port, rack=node.rack)
            )
    return MetadataResponse(
        brokers=brokers,
        cluster_id=cluster.cluster_id,
        controller_id=cluster.controller_id,
        cluster_authorized_operations=CLUSTER_OPERATIONS
        if request.include_cluster_authorized_operations
        else NOT_ASKED,
    )


def of_topics(
    broker: Broker, call: Call, request: MetadataRequest, topics: Iterable[Topic]
) -> MetadataResponse:
    """Return a response about these topics."""
    response = _response(broker, call, request)
    whole(_add_rows(broker, call, topics, NOT_ASKED, response.topics), call.now)
    return response


def _add_rows(
    broker: Broker,
    call: Call,
    topics: Iterable[Topic],
    bits: int,
    rows: list[MetadataResponseTopic],
) -> Slices[None]:
    """Add a row for each topic, with its partitions."""
    seen = 0
    for topic in topics:
        row = MetadataResponseTopic(
            name=topic.name,
            topic_id=topic.id,
            is_internal=topic.internal,
            topic_authorized_operations=bits,
        )
        rows.append(row)
        seen += 1
        for partition in topic.partitions:
            row.partitions.append(_partition(broker, call, partition))
            seen += 1
            if seen >= ITEMS_A_STEP:
                seen = 0
                yield


def _find(
    broker: Broker, call: Call, asked: _Asked, response: MetadataResponse, operations: bool
) -> Slices[list[str]]:
    """Add the requested topics that exist to the response; return the names of the others."""
    bits = TOPIC_OPERATIONS if operations else NOT_ASKED
    cluster = broker.cluster
    found: Iterable[Topic]
    unknown: list[str] = []
    if asked is None:
        found = list(cluster.topics.values())
    elif with_id := (yield from only(asked, lambda of: of[0] != ZERO_UUID)):
        ids = dict.fromkeys(topic_id for topic_id, _ in with_id)
        code = ErrorCode.UNKNOWN_TOPIC_ID
        response.topics += [
            MetadataResponseTopic(error_code=code, name=None, topic_id=topic_id)
            for topic_id in ids
            if topic_id not in cluster.topics_by_id
        ]
        found = [
            cluster.topics_by_id[topic_id] for topic_id in ids if topic_id in cluster.topics_by_id
        ]
    else:
        names = yield from in_set_order(name for _, name in asked if name is not None)
        there = yield from only(names, cluster.topics.__contains__)
        found = [cluster.topics[name] for name in there]
        if broker.configs.release.has("META-44-1"):
            names = yield from copied_to_java(names)
        unknown = yield from only(names, lambda name: name not in cluster.topics)
    yield from _add_rows(broker, call, found, bits, response.topics)
    for count, name in enumerate(unknown, 1):
        if not count % ITEMS_A_STEP:
            yield
        code = (
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            if why_invalid(name) is None
            else ErrorCode.INVALID_TOPIC_EXCEPTION
        )
        response.topics.append(
            MetadataResponseTopic(error_code=code, name=name, topic_authorized_operations=bits)
        )
    return unknown


def _partition(broker: Broker, call: Call, partition: Partition) -> MetadataResponsePartition:
    """Return a partition's row. v0 shows only reachable replicas; up to v5 a leader without this
    listener counts as no leader.
    """
    leader, replicas, isr = partition.leader, partition.replicas, partition.isr
    nodes = broker.cluster.brokers
    code = ErrorCode.NONE
    if call.version == 0:
        replicas = [node for node in replicas if node not in partition.offline]
        isr = [node for node in isr if node not in partition.offline]
        if len(replicas) < len(partition.replicas):
            code = ErrorCode.REPLICA_NOT_AVAILABLE
    if leader == -1:
        code = ErrorCode.LEADER_NOT_AVAILABLE
    elif call.listener not in nodes[leader].endpoints:
        code = ErrorCode.LISTENER_NOT_FOUND if call.version >= 6 else ErrorCode.LEADER_NOT_AVAILABLE
        leader = -1
    return MetadataResponsePartition(
        error_code=code,
        partition_index=partition.index,
        leader_id=leader,
        leader_epoch=partition.leader_epoch,
        replica_nodes=list(replicas),
        isr_nodes=list(isr),
        offline_replicas=list(partition.offline),
    )
