"""OffsetFetch (key 9): committed offsets of one group, or of several from v8 on (OF-*).

v10 has topic ids (KIP-848). Unknown ids get 100 on each partition and come last. If all topics
of a group are requested, topics that no longer exist have no id and are left out. Otherwise it
is not checked that topics and partitions exist (OF-2).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coordinator.base.errors import ErrorCode
from coordinator.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
)

from ..requests.call import Sliced
from ..requests.error_places import error_places
from ..requests.refusals import refused_rows, refused_whole_in_slices

if TYPE_CHECKING:
    from coordinator.base.slices import Slices

    from ..broker import Broker
    from ..requests.call import Call, Result

_FIRST_BATCHED, _FIRST_WITH_IDS = 8, 10
_TOPICS = 1
"""The depth of the list of topics, below that of groups."""


def handle(broker: Broker, call: Call) -> Result | Sliced:
    """Handle an OffsetFetch: groups in the order of the request (OF-9). A repeated entry is looked
    up once and shown as often as requested.
    """
    request = call.message
    assert isinstance(request, OffsetFetchRequest)
    if not call.version:  # those stood in ZooKeeper, which there is none of
        error = ErrorCode.UNSUPPORTED_VERSION
        return Sliced(refused_whole_in_slices(request, call.version, error, None))
    if call.version < _FIRST_BATCHED:
        return broker.groups.coordinate(call, request)
    return Sliced(_fetch_all(broker, call, request))


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
    """Return the key of an entry: all that its answer depends on."""
    topics = (
        None
        if asked.topics is None
        else tuple(
            (topic.name, topic.topic_id, tuple(topic.partition_indexes)) for topic in asked.topics
        )
    )
    return asked.group_id, asked.member_id, asked.member_epoch, topics


def _fetch(broker: Broker, call: Call, request: OffsetFetchRequest) -> Slices[OffsetFetchResponse]:
    """A generator and no function of one group: the group coordinator takes all of them, in slices of
    its own.
    """
    if call.version < _FIRST_WITH_IDS:
        answer = yield from broker.groups.coordinate_in_slices(call, request)
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
    answer = yield from broker.groups.coordinate_in_slices(call, request)
    assert isinstance(answer, OffsetFetchResponse)
    places = error_places(OffsetFetchRequest, call.version)
    for group, refused in zip(answer.groups, unknown, strict=True):
        _name_by_id(broker, group)
        if group.error_code == ErrorCode.NONE:
            group.topics += yield from refused_rows(
                places, _TOPICS, refused, ErrorCode.UNKNOWN_TOPIC_ID, None
            )
    return answer


def _name_by_id(broker: Broker, group: OffsetFetchResponseGroup) -> None:
    named = []
    for topic in group.topics:
        found = broker.cluster.topics.get(topic.name)
        if found is not None:
            topic.topic_id = found.id
            named.append(topic)
    group.topics = named
