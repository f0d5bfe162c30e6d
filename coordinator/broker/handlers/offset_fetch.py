"""OffsetFetch (key 9): committed offsets of one group, or of several from v8 on (OF-*).

v10 names topics by id (KIP-848). Known ids are asked for by name; unknown ones get 100 on each
partition and stand after the others. When all topics of a group are wanted, those that no longer
exist have no id and are left out. Existence of topics and partitions is not checked otherwise
(OF-2).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import ErrorCode
from ...wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)
from ..call import Sliced

if TYPE_CHECKING:
    from ...common.slices import Slices
    from ..call import Call, Result
    from ..core import Broker

_FIRST_BATCHED, _FIRST_WITH_IDS = 8, 10


def handle(broker: Broker, call: Call) -> Result | Sliced:
    """Answered at once; groups in the order of the request (OF-9). What is asked twice is looked up
    once, and shown twice."""
    request = call.message
    assert isinstance(request, OffsetFetchRequest)
    if not call.version:
        return _of_zookeeper(request)
    if call.version < _FIRST_BATCHED:
        return broker.coordinate(call, request)
    return Sliced(_fetch_all(broker, call, request))


def _of_zookeeper(request: OffsetFetchRequest) -> OffsetFetchResponse:
    """Those of v0 stood in ZooKeeper, which there is none of."""
    return OffsetFetchResponse(
        topics=[
            OffsetFetchResponseTopic(
                name=topic.name,
                partitions=[
                    OffsetFetchResponsePartition(
                        partition_index=index,
                        committed_offset=-1,
                        error_code=ErrorCode.UNSUPPORTED_VERSION,
                    )
                    for index in topic.partition_indexes
                ],
            )
            for topic in request.topics or ()
        ]
    )


def _fetch_all(broker: Broker, call: Call, request: OffsetFetchRequest) -> Slices[Result]:
    places: dict[tuple[object, ...], int] = {}
    order = [places.setdefault(_what(asked), len(places)) for asked in request.groups]
    if len(places) == len(order):
        return (yield from _fetch(broker, call, request))
    first = {
        place: asked for asked, place in zip(reversed(request.groups), reversed(order), strict=True)
    }
    request.groups = [first[place] for place in range(len(places))]
    answer = yield from _fetch(broker, call, request)
    answer.groups = [answer.groups[place] for place in order]
    return answer


def _what(asked: OffsetFetchRequestGroup) -> tuple[object, ...]:
    """All that an answer depends on."""
    topics = (
        None
        if asked.topics is None
        else tuple(
            (topic.name, topic.topic_id, tuple(topic.partition_indexes)) for topic in asked.topics
        )
    )
    return asked.group_id, asked.member_id, asked.member_epoch, topics


def _fetch(broker: Broker, call: Call, request: OffsetFetchRequest) -> Slices[OffsetFetchResponse]:
    if call.version < _FIRST_WITH_IDS:
        answer = yield from broker.coordinate_in_slices(call, request)
        assert isinstance(answer, OffsetFetchResponse)
        return answer
    unknown: list[list[OffsetFetchRequestTopics]] = []
    for asked in request.groups:
        unknown.append([])
        if asked.topics is not None:
            known = []
            for topic in asked.topics:
                found = broker.cluster.topics_by_id.get(topic.topic_id)
                if found is None:
                    unknown[-1].append(topic)
                else:
                    topic.name = found.name
                    known.append(topic)
            asked.topics = known
    answer = yield from broker.coordinate_in_slices(call, request)
    assert isinstance(answer, OffsetFetchResponse)
    for group, refused in zip(answer.groups, unknown, strict=True):
        _name_by_id(broker, group)
        if group.error_code == ErrorCode.NONE:
            group.topics += [_refused(topic) for topic in refused]
    return answer


def _name_by_id(broker: Broker, group: OffsetFetchResponseGroup) -> None:
    named = []
    for topic in group.topics:
        found = broker.cluster.topics.get(topic.name)
        if found is not None:
            topic.topic_id = found.id
            named.append(topic)
    group.topics = named


def _refused(topic: OffsetFetchRequestTopics) -> OffsetFetchResponseTopics:
    partitions = [
        OffsetFetchResponsePartitions(
            partition_index=index,
            committed_offset=-1,
            committed_leader_epoch=-1,
            metadata="",
            error_code=ErrorCode.UNKNOWN_TOPIC_ID,
        )
        for index in topic.partition_indexes
    ]
    return OffsetFetchResponseTopics(topic_id=topic.topic_id, partitions=partitions)
