"""Response that refuses a whole request, for each kind of request that names one group. Callers
give the error only: an unavailable coordinator, a missing group, a log that cannot be written.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from coordinator.base.errors import ErrorCode
from coordinator.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from coordinator.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from coordinator.wire.messages.join_group import JoinGroupRequest
from coordinator.wire.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse
from coordinator.wire.messages.offset_commit import OffsetCommitRequest
from coordinator.wire.messages.offset_delete import OffsetDeleteRequest, OffsetDeleteResponse
from coordinator.wire.messages.sync_group import SyncGroupRequest
from coordinator.wire.messages.transactions import TxnOffsetCommitRequest
from coordinator.wire.schema import Request as RequestMessage
from coordinator.wire.schema import Response

from .classic.responses import in_version, join_error, sync_error
from .offsets.decide import commit_response, transactional_response
from .requests import RequestContext

#: The coordinator's own state: a JoinGroup refused for it is answered without its member id (ERR-4,
#: ERR-5).
_ABOUT_THE_PARTITION = frozenset(
    {ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS}
)


def refusal(message: RequestMessage, context: RequestContext, error: ErrorCode) -> Response:
    """Return the response to `message` with `error` and nothing else."""
    response: Response = _REFUSALS[type(message)](message, error)
    return in_version(response, context.api_version)


def _join(message: JoinGroupRequest, error: ErrorCode) -> Response:
    return join_error(error, "" if error in _ABOUT_THE_PARTITION else message.member_id)


def _heartbeat(message: HeartbeatRequest, error: ErrorCode) -> Response:
    """Return the Heartbeat response; NONE while the partition is loading (ERR-4)."""
    return HeartbeatResponse(
        error_code=ErrorCode.NONE if error is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS else error
    )


_REFUSALS: dict[type, Callable[[Any, ErrorCode], Response]] = {
    HeartbeatRequest: _heartbeat,
    ConsumerGroupHeartbeatRequest: lambda message, error: ConsumerGroupHeartbeatResponse(
        error_code=error
    ),
    JoinGroupRequest: _join,
    SyncGroupRequest: lambda message, error: sync_error(error),
    LeaveGroupRequest: lambda message, error: LeaveGroupResponse(error_code=error),
    OffsetCommitRequest: commit_response,
    TxnOffsetCommitRequest: transactional_response,
    OffsetDeleteRequest: lambda message, error: OffsetDeleteResponse(error_code=error),
}

REFUSABLE = frozenset(_REFUSALS)
"""The kinds of requests that `refusal` knows."""
