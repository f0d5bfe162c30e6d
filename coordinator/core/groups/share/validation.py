"""Validation of a ShareGroupHeartbeat before any group is looked up (SH-HB-1)."""

from __future__ import annotations

from typing import Final

from coordinator.base.errors import ErrorCode
from coordinator.wire.messages.share_group_heartbeat import ShareGroupHeartbeatRequest

from ..consumer.requests import Refused
from ..consumer.validation import JOINING, LEAVING, refuse_blank

_LONGEST_MEMBER_ID: Final = 36
"""A uuid's text, and whatever else is no longer."""


def check(request: ShareGroupHeartbeatRequest) -> None:
    """Raise Refused, with Kafka's error and text, if the request is invalid. A member id of a wrong
    length has no text.
    """
    if (
        not 0
        < len(request.member_id.encode("utf-16-le", "surrogatepass"))
        <= (2 * _LONGEST_MEMBER_ID)
    ):
        raise Refused(ErrorCode.INVALID_REQUEST)
    refuse_blank(request.member_id, "MemberId")
    refuse_blank(request.group_id, "GroupId")
    refuse_blank(request.rack_id, "RackId")
    if request.member_epoch < LEAVING:
        raise Refused(ErrorCode.INVALID_REQUEST, "MemberEpoch is invalid.")
    if request.member_epoch == JOINING and not request.subscribed_topic_names:
        text = "SubscribedTopicNames must be set in first request."
        raise Refused(ErrorCode.INVALID_REQUEST, text)
