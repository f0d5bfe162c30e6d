"""ShareAcknowledge (key 79), v1-2: a member of a share group acknowledges records (KIP-932). v2: it
may renew acquisition locks (KIP-1222).

Partitions without a range of offsets are answered only if another partition has one (SH-ACK-3).
Epoch -1 ends the session after its acknowledgements (SH-SES-3).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coordinator.base.errors import ErrorCode
from coordinator.base.slices import ITEMS_A_STEP, Slices, whole
from coordinator.core.share_partitions.release import SESSION_CLOSED
from coordinator.wire.messages.share_acknowledge import (
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
    ShareAcknowledgeRequest,
    ShareAcknowledgeResponse,
    ShareAcknowledgeTopicResponse,
)

from ..requests.call import Sliced
from ..shares.acknowledging import (
    decide,
    hidden_topics,
    named_topics,
    names_much,
    once_settled,
    take,
    why_not,
)
from ..shares.fetching import endpoints, leader_of
from ..shares.service import is_enabled
from ..shares.sessions import FINAL_EPOCH, INITIAL_EPOCH, SessionKey

if TYPE_CHECKING:
    from coordinator.core.share_partitions.acknowledge import Refused

    from ..broker import Broker
    from ..requests.call import Call
    from ..shares.sessions import At


def handle(broker: Broker, call: Call) -> ShareAcknowledgeResponse | Sliced | None:
    """Answer once the acknowledgements are stored; a large request is handled in slices."""
    request = call.message
    assert isinstance(request, ShareAcknowledgeRequest)
    if not is_enabled(broker):
        broker.unserved.refused(
            broker.log, call, "ShareAcknowledge", "is refused, because share.version is 0"
        )
        return ShareAcknowledgeResponse(error_code=ErrorCode.UNSUPPORTED_VERSION)
    error = why_not(broker, request.group_id, request.member_id)
    if error:
        return ShareAcknowledgeResponse(error_code=error)
    assert request.group_id is not None and request.member_id is not None
    if request.share_session_epoch == INITIAL_EPOCH:
        return ShareAcknowledgeResponse(error_code=ErrorCode.INVALID_SHARE_SESSION_EPOCH)
    key = SessionKey(request.group_id, request.member_id)
    session = broker.services.shares.sessions.go_on(key, request.share_session_epoch)
    if isinstance(session, ErrorCode):
        return ShareAcknowledgeResponse(error_code=session)
    work = _take(broker, call, key, request)
    return Sliced(work) if names_much(request.topics) else whole(work, call.now)


def _take(
    broker: Broker, call: Call, key: SessionKey, request: ShareAcknowledgeRequest
) -> Slices[ShareAcknowledgeResponse | None]:
    """A generator and no function of one partition: all acknowledgements are decided before any takes
    effect, and the request may be parked in between.
    """
    hidden = yield from hidden_topics(call, named_topics(broker, request.topics))
    if hidden is None:
        return ShareAcknowledgeResponse(error_code=ErrorCode.UNKNOWN_SERVER_ERROR)
    decided = yield from decide(
        broker.services.shares,
        call,
        key,
        request.topics,
        hidden=hidden,
        renewing=request.is_renew_ack,
    )
    taken = yield from take(broker.services.shares, call, decided)
    if taken is None:
        return ShareAcknowledgeResponse(error_code=ErrorCode.UNKNOWN_SERVER_ERROR)

    def answer(said: dict[At, Refused | None], now: int) -> None:
        response = whole(_end(broker, call, key, request, said), now)
        broker.parked.answer(call.token, response, now)

    said = once_settled(taken, answer)
    return None if said is None else (yield from _end(broker, call, key, request, said))


def _end(
    broker: Broker,
    call: Call,
    key: SessionKey,
    request: ShareAcknowledgeRequest,
    said: dict[At, Refused | None],
) -> Slices[ShareAcknowledgeResponse]:
    if request.share_session_epoch == FINAL_EPOCH:
        broker.services.shares.end_session(key, SESSION_CLOSED, (yield), call.cause)
    return (yield from _response(broker, call, key.group_id, said))


def _response(
    broker: Broker, call: Call, group_id: str, said: dict[At, Refused | None]
) -> Slices[ShareAcknowledgeResponse]:
    topics: dict[bytes, ShareAcknowledgeTopicResponse] = {}
    leaders: set[int] = set()
    for number, (at, refused) in enumerate(said.items(), 1):
        if not number % ITEMS_A_STEP:
            yield
        topic_id, index = at
        data = PartitionData(partition_index=index)
        if refused is not None:
            data.error_code, data.error_message = refused.error, refused.message or None
            leader = leader_of(broker, at, refused.error)
            if leader is not None:
                data.current_leader = LeaderIdAndEpoch(leader_id=leader[0], leader_epoch=leader[1])
                leaders.add(leader[0])
        if topic_id not in topics:
            topics[topic_id] = ShareAcknowledgeTopicResponse(topic_id=topic_id, partitions=[])
        topics[topic_id].partitions.append(data)
    return ShareAcknowledgeResponse(
        acquisition_lock_timeout_ms=broker.services.shares.settings(group_id).lock_duration_ms,
        responses=list(topics.values()),
        node_endpoints=endpoints(broker, call, leaders, NodeEndpoint),
    )
