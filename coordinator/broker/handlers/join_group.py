"""JoinGroup (key 11): a member asks to be in the next generation.

A group id that cannot be written back (its bytes are not UTF-8, and grow) has no group:
UNKNOWN_SERVER_ERROR (-1) as in Kafka, which cannot write its record; a new member gets its id
before (MEMBER_ID_REQUIRED).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import ErrorCode
from ...wire.consumer_protocol import MANY_TOPICS_BYTES
from ...wire.messages.join_group import JoinGroupRequest, JoinGroupResponse
from ...wire.primitives import fits
from ..large_subscriptions import with_topics_read

if TYPE_CHECKING:
    from ..call import Call, Result, Sliced
    from ..core import Broker

_REQUIRES_MEMBER_ID = 4


def handle(broker: Broker, call: Call) -> Result | Sliced:
    """Parked until the join phase ends (JOIN-*). The tail of a new member's id is drawn here,
    because groups draw nothing (MID-1)."""
    request = call.message
    assert isinstance(request, JoinGroupRequest)
    fresh_id = "" if request.member_id else broker.fresh_id()
    if not fits(request.group_id):
        if (
            call.version >= _REQUIRES_MEMBER_ID
            and not request.member_id
            and request.group_instance_id is None
        ):
            return JoinGroupResponse(
                error_code=ErrorCode.MEMBER_ID_REQUIRED,
                generation_id=-1,
                member_id=f"{call.client_id}-{fresh_id}",
            )
        return JoinGroupResponse(
            error_code=ErrorCode.UNKNOWN_SERVER_ERROR, generation_id=-1, member_id=request.member_id
        )
    large = [
        protocol.metadata
        for protocol in request.protocols
        if len(protocol.metadata) > MANY_TOPICS_BYTES
    ]
    if large and request.protocol_type == "consumer":
        return with_topics_read(broker, call, large, fresh_id)
    return broker.coordinate(call, request, fresh_id)
