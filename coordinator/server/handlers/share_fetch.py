"""ShareFetch (key 78), v1-2: a member of a share group acknowledges records and acquires others
(KIP-932). v2: exact record limits, and renewal of acquisition locks (KIP-1222).

The request's acknowledgements are decided before anything is read, together with the start
offset and delivery counts to store, so it cannot acquire records that it held (SH-ACK-6). They
take effect after reading: records that they release come with a fetch that waits, or with the
next one (SH-ACK-1). A session's first request must not contain any. A request that renews locks
reads nothing, so its limits must be 0 (SH-ACK-2). Topics that the client may not read are
refused in their place, those of the session too (REF-10).
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from coordinator.base.errors import ErrorCode
from coordinator.base.slices import ITEMS_A_STEP, Slices, whole
from coordinator.core.share_partitions.acknowledge import FAILED
from coordinator.core.share_partitions.release import SESSION_CLOSED
from coordinator.wire.messages.share_fetch import ShareFetchRequest, ShareFetchResponse

from ..cluster.model import SHARE_GROUP_STATE
from ..requests.call import Sliced
from ..shares.acknowledging import (
    brings_any,
    decide,
    hidden_topics,
    named,
    named_topics,
    names_much,
    once_settled,
    take,
    why_not,
)
from ..shares.fetching import EXACT, ShareFetchOperation
from ..shares.service import is_enabled
from ..shares.sessions import FINAL_EPOCH, INITIAL_EPOCH, SessionKey, ShareSession, change
from ..topics import ensure_internal_topic

if TYPE_CHECKING:
    from coordinator.core.share_partitions.acknowledge import Refused

    from ..broker import Broker
    from ..requests.call import Call
    from ..shares.sessions import At

_BATCH_OPTIMIZED = 0


def handle(broker: Broker, call: Call) -> ShareFetchResponse | Sliced | None:
    """Answer a fetch, or park it; a large request is handled in slices."""
    request = call.message
    assert isinstance(request, ShareFetchRequest)
    if not is_enabled(broker):
        broker.unserved.refused(
            broker.log, call, "ShareFetch", "is refused, because share.version is 0"
        )
        return ShareFetchResponse(error_code=ErrorCode.UNSUPPORTED_VERSION)
    error = why_not(broker, request.group_id, request.member_id) or _contradicts_itself(request)
    if error:
        return ShareFetchResponse(error_code=error)
    assert request.group_id is not None and request.member_id is not None
    key = SessionKey(request.group_id, request.member_id)
    ensure_internal_topic(broker, SHARE_GROUP_STATE, call)
    session = _session(broker, call, key, request)
    if isinstance(session, ErrorCode):
        return ShareFetchResponse(error_code=session)
    ends = request.share_session_epoch == FINAL_EPOCH
    reads = not (ends or request.is_renew_ack)
    wanted = session.in_turn(request.share_session_epoch) if reads else []
    if request.share_acquire_mode not in (_BATCH_OPTIMIZED, EXACT) and any(
        topic_id in broker.cluster.topics_by_id for topic_id, _ in wanted
    ):  # where anything is read
        return ShareFetchResponse(error_code=ErrorCode.UNKNOWN_SERVER_ERROR)
    operation = ShareFetchOperation(broker, broker.services.shares, call, session, wanted)
    work = _serve(broker, call, key, request, operation, wanted)
    if len(wanted) > ITEMS_A_STEP or names_much(request.topics):
        return Sliced(work)
    return whole(work, call.now)


def _serve(
    broker: Broker,
    call: Call,
    key: SessionKey,
    request: ShareFetchRequest,
    operation: ShareFetchOperation,
    wanted: list[At],
) -> Slices[ShareFetchResponse | None]:
    """A generator and no function of one partition: all acknowledgements are decided before anything
    is read, and the request may be parked before they take effect.
    """
    shares, renews = broker.services.shares, request.is_renew_ack
    hidden = yield from hidden_topics(
        call, chain(operation.remembered(), named_topics(broker, request.topics))
    )
    if hidden is None:
        return ShareFetchResponse(error_code=ErrorCode.UNKNOWN_SERVER_ERROR)
    operation.hidden = hidden
    topics = request.topics if brings_any(request.topics) else ()
    decided = yield from decide(shares, call, key, topics, hidden=hidden, renewing=renews)
    if FAILED not in decided.values():
        yield from operation.begin()
    call = call._replace(now=(yield))
    taken = yield from take(shares, call, decided)
    if taken is None:
        return ShareFetchResponse(error_code=ErrorCode.UNKNOWN_SERVER_ERROR)

    def go_on(said: dict[At, Refused | None], now: int) -> None:
        response = whole(_end(broker, call, key, request, operation, said), now)
        if response is not None:
            broker.parked.answer(call.token, response, now)

    said = once_settled(taken, go_on)
    return None if said is None else (yield from _end(broker, call, key, request, operation, said))


def _end(
    broker: Broker,
    call: Call,
    key: SessionKey,
    request: ShareFetchRequest,
    operation: ShareFetchOperation,
    said: dict[At, Refused | None],
) -> Slices[ShareFetchResponse | None]:
    """Continue after all acknowledgements of the request are settled."""
    operation.said = said
    now = yield
    if request.share_session_epoch == FINAL_EPOCH:
        broker.services.shares.end_session(key, SESSION_CLOSED, now, call.cause)
    response = yield from operation.answer_now(now)
    if response is None:
        broker.parked_fetches.park(operation)
    return response


def _contradicts_itself(request: ShareFetchRequest) -> ErrorCode:
    limits = (
        request.max_wait_ms,
        request.min_bytes,
        request.max_bytes,
        request.max_records,
    )
    if request.is_renew_ack and any(limits):
        return ErrorCode.INVALID_REQUEST
    if request.share_session_epoch == INITIAL_EPOCH and brings_any(request.topics):
        return ErrorCode.INVALID_REQUEST
    return ErrorCode.NONE


def _session(
    broker: Broker, call: Call, key: SessionKey, request: ShareFetchRequest
) -> ShareSession | ErrorCode:
    """Return the request's session, with its partitions added and forgotten ones removed, or an
    error.
    """
    sessions = broker.services.shares.sessions
    partitions = list(named(request.topics))
    if request.share_session_epoch == INITIAL_EPOCH:
        if len({*partitions}) < len(partitions):  # Kafka finds out when the former one has ended
            sessions.end(key)
            return ErrorCode.UNKNOWN_SERVER_ERROR
        most = broker.configs.get_int("group.share.max.share.sessions")
        session = sessions.begin(key, call.peer, most)
    else:
        session = sessions.go_on(key, request.share_session_epoch)
    if not isinstance(session, ErrorCode) and request.share_session_epoch != FINAL_EPOCH:
        forgotten = [
            (topic.topic_id, index)
            for topic in request.forgotten_topics_data
            for index in topic.partitions
        ]
        begins = request.share_session_epoch == INITIAL_EPOCH
        topics = broker.cluster.topics_by_id
        change(session, partitions, forgotten, topics, begins=begins)
    return session
