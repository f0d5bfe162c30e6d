"""AlterShareGroupOffsets (key 91), v0: sets the start offsets of a share group without members
(KIP-932, SH-OFF-3).

Any offset is accepted. A missing group is created if at least one topic exists. If a partition
is named twice, the last offset wins. Unknown topics come first in the response, and are left out
if named without partitions.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from typing import TYPE_CHECKING

from coordinator.base.errors import ErrorCode
from coordinator.core.groups.consumer.requests import Refused
from coordinator.core.share_states.model import ShareStateKey
from coordinator.events.groups.consumer import TopicPartitions
from coordinator.wire.messages.share_group_offsets import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsRequestPartition,
    AlterShareGroupOffsetsResponse,
    AlterShareGroupOffsetsResponsePartition,
    AlterShareGroupOffsetsResponseTopic,
)

from ..cluster.model import SHARE_GROUP_STATE
from ..share_offsets import may_not_change, membership
from ..shares.service import is_enabled
from ..topics import ensure_internal_topic
from . import share_and_streams_groups

if TYPE_CHECKING:
    from ..broker import Broker
    from ..cluster import Topic
    from ..requests.call import Call, Result, Sliced

_UNKNOWN = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
_NEW_GROUP_EPOCH = 1
_ZERO_ID = bytes(16)


def handle(broker: Broker, call: Call) -> Result | Sliced:
    """Handle an AlterShareGroupOffsets; it is never parked."""
    request = call.message
    assert isinstance(request, AlterShareGroupOffsetsRequest)
    if not is_enabled(broker):
        return share_and_streams_groups.handle(broker, call)
    refused = may_not_change(broker, request.group_id, must_be=False)
    if refused is not None:
        return _refused(*refused)
    named: dict[str, list[AlterShareGroupOffsetsRequestPartition]] = {}
    for of in request.topics:
        named.setdefault(of.topic_name, []).extend(of.partitions)
    known = {name: topic for name in named if (topic := broker.cluster.topics.get(name))}
    wrong = next(
        (
            _negative(request.group_id, topic, row)
            for name, topic in known.items()
            for row in named[name]
            if row.partition_index < 0
        ),
        None,
    )
    rows = []
    if wrong is None:
        ensure_internal_topic(broker, SHARE_GROUP_STATE, call)
        unknown = [name for name, partitions in named.items() if name not in known and partitions]
        rows = [
            _topic(broker, call, request.group_id, name, named[name]) for name in (*unknown, *known)
        ]
    if known:
        try:
            _tell_the_group(broker, call, request.group_id, rows)
        except Refused as failure:
            return _refused(failure.error, failure.message or failure.error.message)
    if wrong is not None:
        return _refused(ErrorCode.UNKNOWN_SERVER_ERROR, wrong)
    return AlterShareGroupOffsetsResponse(responses=rows)


def _topic(
    broker: Broker,
    call: Call,
    group_id: str,
    name: str,
    partitions: list[AlterShareGroupOffsetsRequestPartition],
) -> AlterShareGroupOffsetsResponseTopic:
    topic = broker.cluster.topics.get(name)
    group = membership(broker, group_id)
    epoch = _NEW_GROUP_EPOCH if group is None else group.group_epoch
    answered = []
    for of in partitions:
        row = AlterShareGroupOffsetsResponsePartition(partition_index=of.partition_index)
        if topic is None or of.partition_index >= len(topic.partitions):
            row.error_code, row.error_message = _UNKNOWN, _UNKNOWN.message
        else:
            key = ShareStateKey(group_id, topic.id, of.partition_index)
            done = broker.services.shares.persister.initialize(
                key, epoch, of.start_offset, call.now, call.cause
            )
            if done.error:
                row.error_code = done.error
                row.error_message = f"Error in initialize state RPC. {done.message}"
        answered.append(row)
    return AlterShareGroupOffsetsResponseTopic(
        topic_name=name, topic_id=_ZERO_ID if topic is None else topic.id, partitions=answered
    )


def _tell_the_group(
    broker: Broker, call: Call, group_id: str, rows: list[AlterShareGroupOffsetsResponseTopic]
) -> None:
    """Record in the group that it has state of these partitions; create it if it does not exist."""
    told = [
        TopicPartitions(
            of.topic_name,
            of.topic_id,
            tuple(sorted({row.partition_index for row in of.partitions if not row.error_code})),
        )
        for of in rows
    ]
    outcome = broker.coordinator.share_offsets_set(
        group_id, [of for of in told if of.partitions], call.now, call.cause
    )
    broker.groups.send_replies(outcome, call.now)


def _refused(error: ErrorCode, message: str) -> AlterShareGroupOffsetsResponse:
    return AlterShareGroupOffsetsResponse(error_code=error, error_message=message)


def _negative(group_id: str, topic: Topic, row: AlterShareGroupOffsetsRequestPartition) -> str:
    topic_id = urlsafe_b64encode(topic.id).decode().rstrip("=")
    return (
        "Initialize share group parameters has invalid partitionId - "
        f"{group_id} {topic_id} {row.partition_index}"
    )
