"""DeleteShareGroupOffsets (key 92), v0: nothing is kept of topics for a share group without members
any more (KIP-932, SH-OFF-3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import ErrorCode
from ...groups.consumer.requests import Refused
from ...share_states.model import ShareStateKey
from ...wire.messages.share_group_offsets import (
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsResponse,
    DeleteShareGroupOffsetsResponseTopic,
)
from ..share_offsets import may_not_change, membership
from ..shares.service import is_enabled
from . import share_and_streams_groups

if TYPE_CHECKING:
    from ..call import Call, Result
    from ..core import Broker

_UNKNOWN = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
_NOTHING = "There is no offset information to delete."


def handle(broker: Broker, call: Call) -> Result:
    """Answered at once: topics that are forgotten, each once, then what is refused as often as it
    is named."""
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
        broker.send_replies(outcome, call.now)
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
        done = broker.shares.persister.delete(key, call.now, call.cause)
        if done.error:
            row.error_code = done.error
            row.error_message = f"Error in delete state RPC. {done.message}"
    return row
