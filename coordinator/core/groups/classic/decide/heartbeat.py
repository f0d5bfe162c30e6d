"""Decision about Heartbeat (A.6): it proves that the member is alive, and its answer announces a
rebalance. It never changes the group.
"""

from __future__ import annotations

from coordinator.base.errors import ErrorCode
from coordinator.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse

from ...config import GroupConfig
from ...requests import Decision, RequestContext
from ..model import ClassicGroup
from ..states import DEAD, EMPTY, PREPARING_REBALANCE

#: Every decision there is; heartbeats are many, so none is made twice. The responses are not to be
#: changed by whoever gets them.
REFUSED = {error: Decision(reply=HeartbeatResponse(error_code=error)) for error in ErrorCode}
_ACCEPTED = Decision(reply=HeartbeatResponse(), alive=True)
_REBALANCING = Decision(
    reply=HeartbeatResponse(error_code=ErrorCode.REBALANCE_IN_PROGRESS), alive=True
)


def decide_heartbeat(
    group: ClassicGroup,
    request: HeartbeatRequest,
    context: RequestContext,
    now: int,
    config: GroupConfig,
) -> Decision:
    """Return the answer to a Heartbeat, and whether it renews the member's session (HB-1, HB-2,
    HB-3).
    """
    if group.state is DEAD:
        return REFUSED[ErrorCode.COORDINATOR_NOT_AVAILABLE]
    error = group.refuse_member(request.member_id, request.group_instance_id)
    if error:
        return REFUSED[error]
    if request.generation_id != group.generation:
        return REFUSED[ErrorCode.ILLEGAL_GENERATION]
    if group.state is EMPTY:
        return REFUSED[ErrorCode.UNKNOWN_MEMBER_ID]
    if group.state is PREPARING_REBALANCE:
        return _REBALANCING
    return _ACCEPTED
