"""DescribeShareGroupOffsets and DeleteShareGroupOffsets. Common checks are in
`server.share_offsets`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coordinator.base.errors import ErrorCode
from coordinator.core.groups.consumer.requests import Refused
from coordinator.core.share_states.model import NO_OFFSET, ShareStateKey
from coordinator.wire.messages.share_group_offsets import (
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsResponse,
    DeleteShareGroupOffsetsResponseTopic,
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
    DescribeShareGroupOffsetsRequestTopic,
    DescribeShareGroupOffsetsResponse,
    DescribeShareGroupOffsetsResponseGroup,
    DescribeShareGroupOffsetsResponsePartition,
    DescribeShareGroupOffsetsResponseTopic,
)

from ..requests.call import Sliced, by_element
from ..share_offsets import may_not_change, membership, not_served, start_and_lag
from ..shares.service import is_enabled
from . import share_and_streams_groups

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..broker import Broker
    from ..cluster import Topic
    from ..requests.call import Call, Result


_ZERO_ID = bytes(16)


def describe_share_group_offsets(broker: Broker, call: Call) -> Result | Sliced:
    """Handle DescribeShareGroupOffsets (key 90), v0-1: the start offsets of share groups, and from
    v1 on their lag (KIP-932, KIP-1226).

    Without topics, all for which the group has state are described. Unknown topics come last,
    one entry for each in the request. A topic without partitions, or a negative partition, fails
    its group as a whole (-1). A partition that its topic does not have gets
    UNKNOWN_TOPIC_OR_PARTITION; Kafka never answers such a request.
    """
    request = call.message
    assert isinstance(request, DescribeShareGroupOffsetsRequest)
    if not is_enabled(broker):
        return share_and_streams_groups.handle(broker, call)
    return by_element(
        call,
        request.groups,
        lambda group, _: _group(broker, group),
        lambda groups: DescribeShareGroupOffsetsResponse(groups=groups),
    )


def _group(
    broker: Broker, asked: DescribeShareGroupOffsetsRequestGroup
) -> DescribeShareGroupOffsetsResponseGroup:
    group_id = asked.group_id
    row = DescribeShareGroupOffsetsResponseGroup(group_id=group_id)
    if asked.topics is None:
        refused = not_served(broker, group_id) if group_id else None
        if refused is not None:
            row.error_code, row.error_message = refused
            return row
        known = membership(broker, group_id)
        wanted = (
            {} if known is None else {of.topic: of.partitions for of in known.initialized.values()}
        )
        row.topics = list(_topics(broker, group_id, wanted))
        return row
    named: dict[str, set[int]] = {}
    unknown = []
    for topic in asked.topics:
        if topic.topic_name in broker.cluster.topics:
            named.setdefault(topic.topic_name, set()).update(topic.partitions)
        else:
            unknown.append(_unknown(topic))
    if any(not indexes or min(indexes) < 0 for indexes in named.values()) or (
        named and not group_id
    ):
        error = ErrorCode.UNKNOWN_SERVER_ERROR
        row.error_code, row.error_message = error, error.message
        return row
    row.topics = [*_topics(broker, group_id, named), *unknown]
    return row


def _unknown(
    topic: DescribeShareGroupOffsetsRequestTopic,
) -> DescribeShareGroupOffsetsResponseTopic:
    return DescribeShareGroupOffsetsResponseTopic(
        topic_name=topic.topic_name,
        topic_id=_ZERO_ID,
        partitions=[
            DescribeShareGroupOffsetsResponsePartition(
                partition_index=index, start_offset=NO_OFFSET
            )
            for index in topic.partitions
        ],
    )


def _topics(
    broker: Broker, group_id: str, wanted: Mapping[str, Iterable[int]]
) -> Iterable[DescribeShareGroupOffsetsResponseTopic]:
    """Yield the rows of topics that exist."""
    for name, indexes in wanted.items():
        topic = broker.cluster.topics.get(name)
        if topic is not None:
            yield DescribeShareGroupOffsetsResponseTopic(
                topic_name=name,
                topic_id=topic.id,
                partitions=[
                    _partition(broker, group_id, topic, index) for index in sorted(indexes)
                ],
            )


def _partition(
    broker: Broker, group_id: str, topic: Topic, index: int
) -> DescribeShareGroupOffsetsResponsePartition:
    row = DescribeShareGroupOffsetsResponsePartition(partition_index=index)
    row.start_offset = NO_OFFSET
    if index >= len(topic.partitions):
        error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        row.error_code, row.error_message = error, error.message
        return row
    key = ShareStateKey(group_id, topic.id, index)
    row.start_offset, row.leader_epoch, row.lag = start_and_lag(broker, key)
    return row


_UNKNOWN = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


_NOTHING = "There is no offset information to delete."


def delete_share_group_offsets(broker: Broker, call: Call) -> Result | Sliced:
    """Handle DeleteShareGroupOffsets (key 92), v0: delete the state of topics in a share group
    without members (KIP-932, SH-OFF-3). Deleted topics come first, each once; refusals come as
    often as named.
    """
    request = call.message
    assert isinstance(request, DeleteShareGroupOffsetsRequest)
    if not is_enabled(broker):
        return share_and_streams_groups.handle(broker, call)
    refused = may_not_change(broker, request.group_id, must_be=True)
    if refused is not None:
        error, message = refused
        return DeleteShareGroupOffsetsResponse(error_code=error, error_message=message)
    names = [of.topic_name for of in request.topics]
    by_name = {name: _topic(broker, call, request.group_id, name) for name in dict.fromkeys(names)}
    rows = [row for row in by_name.values() if not row.error_code]
    rows += [row for name in names if (row := by_name[name]).error_code]
    gone = [row.topic_id for row in rows if not row.error_code]
    if gone:
        try:
            outcome = broker.coordinator.share_offsets_deleted(
                request.group_id, gone, call.now, call.cause
            )
        except Refused as failure:
            return DeleteShareGroupOffsetsResponse(
                error_code=failure.error, error_message=failure.message
            )
        broker.groups.send_replies(outcome, call.now)
    return DeleteShareGroupOffsetsResponse(responses=rows)


def _topic(
    broker: Broker, call: Call, group_id: str, name: str
) -> DeleteShareGroupOffsetsResponseTopic:
    row = DeleteShareGroupOffsetsResponseTopic(topic_name=name)
    topic, group = broker.cluster.topics.get(name), membership(broker, group_id)
    assert group is not None, "it was looked up before"
    if topic is None:
        row.error_code, row.error_message = _UNKNOWN, _UNKNOWN.message
        return row
    of = group.initialized.get(topic.id)
    if of is None:
        row.error_code, row.error_message = _UNKNOWN, _NOTHING
        return row
    row.topic_id = topic.id
    for index in sorted(of.partitions):
        key = ShareStateKey(group_id, topic.id, index)
        done = broker.services.shares.persister.delete(key, call.now, call.cause)
        if done.error:
            row.error_code = done.error
            row.error_message = f"Error in delete state RPC. {done.message}"
    return row
