"""JoinGroup (key 11): a member asks to be in the next generation. The group coordinator in `core`
decides.

If the bytes of a group id are not UTF-8 and would grow when written, Kafka cannot write its
record and answers UNKNOWN_SERVER_ERROR (-1); a new member gets its id before
(MEMBER_ID_REQUIRED).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coordinator.base.errors import ErrorCode
from coordinator.wire.consumer_protocol import MANY_TOPICS_BYTES
from coordinator.wire.messages.join_group import JoinGroupRequest, JoinGroupResponse
from coordinator.wire.primitives import fits

from ..large_subscriptions import with_topics_read

if TYPE_CHECKING:
    from ..broker import Broker
    from ..requests.call import Call, Result, Sliced

_REQUIRES_MEMBER_ID = 4


def handle(broker: Broker, call: Call) -> Result | Sliced:
    """Park the request until the join phase ends, or answer it (JOIN-*). The random part of a new
    member's id is drawn here, because groups draw nothing (MID-1).
    """
    request = call.message
    assert isinstance(request, JoinGroupRequest)
    fresh_id = "" if request.member_id else broker.fresh_id()
    if not fits(request.group_id):
        return _refused(call, request, fresh_id)
    large = _large_subscriptions(request)
    if large:
        return with_topics_read(broker, call, large, fresh_id)
    return broker.groups.coordinate(call, request, fresh_id)


def _refused(call: Call, request: JoinGroupRequest, fresh_id: str) -> JoinGroupResponse:
    """Return the response for a group id that cannot be written."""
    is_new = not request.member_id and request.group_instance_id is None
    if call.version >= _REQUIRES_MEMBER_ID and is_new:
        return JoinGroupResponse(
            error_code=ErrorCode.MEMBER_ID_REQUIRED, member_id=f"{call.client_id}-{fresh_id}"
        )
    return JoinGroupResponse(error_code=ErrorCode.UNKNOWN_SERVER_ERROR, member_id=request.member_id)


def _large_subscriptions(request: JoinGroupRequest) -> list[bytes]:
    """Return the subscriptions that are large enough to be decoded in slices."""
    if request.protocol_type != "consumer":
        return []
    metadata = (protocol.metadata for protocol in request.protocols)
    return [each for each in metadata if len(each) > MANY_TOPICS_BYTES]
