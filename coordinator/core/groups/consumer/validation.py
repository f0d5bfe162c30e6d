"""Validation of a ConsumerGroupHeartbeat before any group is looked up (K8-VAL-1..4)."""

from __future__ import annotations

from collections.abc import Collection

from coordinator.base.errors import ErrorCode
from coordinator.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest

from .requests import Refused

_BLANK = "".join(map(chr, range(33)))
"""The blanks of Java's trim(): every character up to and including the space."""

JOINING, LEAVING, LEAVING_FOR_NOW = 0, -1, -2
"""Epochs that say what a member wants."""


def check(
    request: ConsumerGroupHeartbeatRequest, api_version: int, assignors: Collection[str]
) -> None:
    """Raise Refused, with Kafka's error and text, if the request is invalid."""
    epoch = request.member_epoch
    if api_version >= 1 or epoch > 0 or epoch == LEAVING:
        refuse_blank(request.member_id, "MemberId")
    refuse_blank(request.group_id, "GroupId")
    refuse_blank(request.instance_id, "InstanceId")
    refuse_blank(request.rack_id, "RackId")
    if epoch == JOINING:
        if request.rebalance_timeout_ms == -1:
            raise Refused(
                ErrorCode.INVALID_REQUEST, "RebalanceTimeoutMs must be provided in first request."
            )
        if request.topic_partitions is None or request.topic_partitions:
            raise Refused(
                ErrorCode.INVALID_REQUEST, "TopicPartitions must be empty when (re-)joining."
            )
        if request.subscribed_topic_names is None and request.subscribed_topic_regex is None:
            text = "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining."
            raise Refused(ErrorCode.INVALID_REQUEST, text)
    elif epoch == LEAVING_FOR_NOW:
        if request.instance_id is None:
            raise Refused(ErrorCode.INVALID_REQUEST, "InstanceId can't be null.")
    elif epoch < LEAVING_FOR_NOW:
        raise Refused(ErrorCode.INVALID_REQUEST, "MemberEpoch is invalid.")
    if request.server_assignor is not None and request.server_assignor not in assignors:
        known = ", ".join(assignors)
        text = f"ServerAssignor {request.server_assignor} is not supported. Supported assignors: {known}."
        raise Refused(ErrorCode.UNSUPPORTED_ASSIGNOR, text)


def refuse_blank(value: str | None, name: str) -> None:
    """Raise Refused for a text that is given but blank."""
    if value is not None and not value.strip(_BLANK):
        raise Refused(ErrorCode.INVALID_REQUEST, f"{name} can't be empty.")
