"""Versions of requests: the choice of a version, and the conversion between versions.

The machine uses the newest form; for older brokers a request is converted to an older version
(`fit`), and its answer back to the newest form (`lift`). Highest versions are those of the Java
consumer 4.4.0, except that commits and fetches of offsets use topic names, so they stay at
version 9 (topic ids begin with 10). Records are fetched and produced by topic names too (Fetch
12, Produce 11), and partitions are added to transactions by a request of their own, as clients
before KIP-890 do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from coordinator.base.errors import ErrorCode
from coordinator.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from coordinator.wire.messages.fetch import FetchRequest
from coordinator.wire.messages.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from coordinator.wire.messages.heartbeat import HeartbeatRequest
from coordinator.wire.messages.join_group import JoinGroupRequest
from coordinator.wire.messages.leave_group import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberResponse,
)
from coordinator.wire.messages.list_offsets import ListOffsetsRequest
from coordinator.wire.messages.metadata import MetadataRequest
from coordinator.wire.messages.offset_commit import OffsetCommitRequest
from coordinator.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)
from coordinator.wire.messages.produce import ProduceRequest
from coordinator.wire.messages.share_acknowledge import ShareAcknowledgeRequest
from coordinator.wire.messages.share_fetch import ShareFetchRequest
from coordinator.wire.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from coordinator.wire.messages.sync_group import SyncGroupRequest
from coordinator.wire.messages.transactions import (
    AddOffsetsToTxnRequest,
    AddPartitionsToTxnRequest,
    EndTxnRequest,
    InitProducerIdRequest,
    TxnOffsetCommitRequest,
)
from coordinator.wire.schema import Request, Response

from .faults import MemberFault

Ranges = Mapping[int, tuple[int, int]]
"""API key -> lowest and highest version that a broker serves."""

_JOIN, _SYNC, _HEARTBEAT, _LEAVE = (
    JoinGroupRequest.api_key,
    SyncGroupRequest.api_key,
    HeartbeatRequest.api_key,
    LeaveGroupRequest.api_key,
)
_COMMIT, _FETCH = OffsetCommitRequest.api_key, OffsetFetchRequest.api_key
_TXN_COMMIT = TxnOffsetCommitRequest.api_key
_FIND, _METADATA, _CONSUMER_HEARTBEAT = (
    FindCoordinatorRequest.api_key,
    MetadataRequest.api_key,
    ConsumerGroupHeartbeatRequest.api_key,
)

_SHARE_FETCH, _SHARE_ACKNOWLEDGE = ShareFetchRequest.api_key, ShareAcknowledgeRequest.api_key

OURS: Final[Ranges] = {
    _METADATA: (1, 13),
    _COMMIT: (2, 9),
    _FETCH: (1, 9),
    _FIND: (0, 6),
    _JOIN: (0, 9),
    _HEARTBEAT: (0, 4),
    _LEAVE: (0, 5),
    _SYNC: (0, 5),
    ProduceRequest.api_key: (3, 11),
    FetchRequest.api_key: (4, 12),
    ListOffsetsRequest.api_key: (1, 11),
    InitProducerIdRequest.api_key: (0, 5),
    AddPartitionsToTxnRequest.api_key: (0, 3),
    AddOffsetsToTxnRequest.api_key: (0, 4),
    EndTxnRequest.api_key: (0, 4),
    _TXN_COMMIT: (0, 4),
    _CONSUMER_HEARTBEAT: (0, 1),
    ShareGroupHeartbeatRequest.api_key: (1, 1),
    _SHARE_FETCH: (1, 2),
    _SHARE_ACKNOWLEDGE: (1, 2),
}
"""A member's API versions."""
_FIRST_WITH_INSTANCE: Final = {_JOIN: 5, _SYNC: 3, _HEARTBEAT: 3, _COMMIT: 7, _TXN_COMMIT: 3}
_FIRST_BATCHED_FIND, _FIRST_BATCHED_LEAVE, _FIRST_BATCHED_FETCH, _FIRST_STABLE_FETCH = 4, 3, 8, 7
_FIRST_WITH_EPOCH, _FIRST_WITH_PATTERN = 9, 1
_FIRST_WITH_RENEWAL: Final = 2
_SAYS_MORE_LATER: Final = frozenset({_FETCH, _CONSUMER_HEARTBEAT, _SHARE_FETCH, _SHARE_ACKNOWLEDGE})


CLIENT_VERSIONS: Final[Mapping[str, Mapping[int, int]]] = {
    "newest": {},
    "2.2": {
        _METADATA: 7,
        _COMMIT: 6,
        _FETCH: 5,
        _FIND: 2,
        _JOIN: 4,
        _HEARTBEAT: 2,
        _LEAVE: 2,
        _SYNC: 2,
        FetchRequest.api_key: 10,
    },
    "1.0": {
        _METADATA: 5,
        _COMMIT: 3,
        _FETCH: 3,
        _FIND: 1,
        _JOIN: 2,
        _HEARTBEAT: 1,
        _LEAVE: 1,
        _SYNC: 1,
        FetchRequest.api_key: 6,
    },
}
"""The highest versions that older Java clients speak: 2.2 knows no static members (KIP-345), 1.0
gets its member id with its first join."""


class Unsupported(MemberFault):
    """Fault: no version that the broker serves can express the request."""

    def __init__(self, message: str) -> None:
        super().__init__(message, ErrorCode.UNSUPPORTED_VERSION)


def choose(message: Request, theirs: Ranges) -> int:
    """Return the highest common version. Raises Unsupported if there is none, or none that can
    express this request (VER-18).
    """
    key = message.api_key
    low, high = OURS[key]
    served = theirs.get(key)
    if served is None:
        raise Unsupported(f"the broker does not serve {_name(message)}")
    version = min(high, served[1])
    if version < low or version < served[0]:
        raise Unsupported(
            f"the broker serves {_name(message)} {served[0]} to {served[1]}, this member {low} to {high}"
        )
    first = _FIRST_WITH_INSTANCE.get(key, 0)
    if version < first and getattr(message, "group_instance_id", None) is not None:
        raise Unsupported(
            f"group.instance.id needs {_name(message)} {first}, the broker has up to {version}: unset it"
        )
    if key not in _SAYS_MORE_LATER:
        return version
    if (
        isinstance(message, OffsetFetchRequest)
        and message.require_stable
        and version < _FIRST_STABLE_FETCH
    ):
        raise Unsupported(
            f"read_committed needs OffsetFetch {_FIRST_STABLE_FETCH}, the broker has up to {version}"
        )
    if (
        isinstance(message, ConsumerGroupHeartbeatRequest)
        and message.subscribed_topic_regex
        and version < _FIRST_WITH_PATTERN
    ):
        raise Unsupported(
            f"a pattern needs ConsumerGroupHeartbeat {_FIRST_WITH_PATTERN}, the broker has up to {version}: name topics"
        )
    if version < _FIRST_WITH_RENEWAL and (
        getattr(message, "is_renew_ack", False) or getattr(message, "share_acquire_mode", 0)
    ):
        raise Unsupported(
            f"locks that are renewed, and share.acquire.mode=record_limit, need {_name(message)} "
            f"{_FIRST_WITH_RENEWAL}, the broker has up to {version}"
        )
    return version


def plain_versions(theirs: Ranges) -> dict[int, int]:
    """Return the version of each API for which `choose` gives the same result for every request,
    and which needs no conversion; other APIs are left out.
    """
    versions = {key: min(OURS[key][1], high) for key, (_, high) in theirs.items() if key in OURS}
    return {
        key: version
        for key, version in versions.items()
        if key not in _SAYS_MORE_LATER
        and version
        >= max(
            OURS[key][0],
            theirs[key][0],
            _FIRST_WITH_INSTANCE.get(key, 0),
            _NEWEST_SHAPE_FROM.get(key, 0),
        )
    }


def _name(message: Request) -> str:
    return type(message).__name__.removesuffix("Request")


_NEWEST_SHAPE_FROM: Final = {
    _FIND: _FIRST_BATCHED_FIND,
    _LEAVE: _FIRST_BATCHED_LEAVE,
    _FETCH: _FIRST_WITH_EPOCH,
}
"""API key -> the first version that carries the newest shape of the request, and of its answer; all
others do in every version."""


def fit(message: Request, version: int) -> Request:
    """Return the request in the form of this version."""
    if version >= _NEWEST_SHAPE_FROM.get(message.api_key, 0):
        return message
    if isinstance(message, FindCoordinatorRequest) and version < _FIRST_BATCHED_FIND:
        return FindCoordinatorRequest(key=message.coordinator_keys[0], key_type=message.key_type)
    if isinstance(message, LeaveGroupRequest) and version < _FIRST_BATCHED_LEAVE:
        return LeaveGroupRequest(group_id=message.group_id, member_id=message.members[0].member_id)
    if isinstance(message, OffsetFetchRequest) and version < _FIRST_WITH_EPOCH:
        groups = [
            OffsetFetchRequestGroup(group_id=group.group_id, topics=group.topics)
            for group in message.groups
        ]
        message = OffsetFetchRequest(groups=groups, require_stable=message.require_stable)
    if isinstance(message, OffsetFetchRequest) and version < _FIRST_BATCHED_FETCH:
        (group,) = message.groups
        topics = [
            OffsetFetchRequestTopic(name=topic.name, partition_indexes=topic.partition_indexes)
            for topic in group.topics or ()
        ]
        return OffsetFetchRequest(
            group_id=group.group_id, topics=topics, require_stable=message.require_stable
        )
    return message


def lift(response: Response, version: int) -> Response:
    """Return an answer of this version in the newest form."""
    if version >= _NEWEST_SHAPE_FROM.get(response.api_key, 0):
        return response
    if isinstance(response, FindCoordinatorResponse) and version < _FIRST_BATCHED_FIND:
        row = Coordinator(
            node_id=response.node_id,
            host=response.host,
            port=response.port,
            error_code=response.error_code,
            error_message=response.error_message,
        )
        return FindCoordinatorResponse(coordinators=[row])
    if isinstance(response, LeaveGroupResponse) and version < _FIRST_BATCHED_LEAVE:
        return LeaveGroupResponse(members=[MemberResponse(error_code=response.error_code)])
    if isinstance(response, OffsetFetchResponse) and version < _FIRST_BATCHED_FETCH:
        return OffsetFetchResponse(groups=[_lift_group(response)])
    return response


def _lift_group(response: OffsetFetchResponse) -> OffsetFetchResponseGroup:
    topics = [
        OffsetFetchResponseTopics(
            name=topic.name,
            partitions=[
                OffsetFetchResponsePartitions(
                    partition_index=row.partition_index,
                    committed_offset=row.committed_offset,
                    committed_leader_epoch=row.committed_leader_epoch,
                    metadata=row.metadata,
                    error_code=row.error_code,
                )
                for row in topic.partitions
            ],
        )
        for topic in response.topics
    ]
    return OffsetFetchResponseGroup(topics=topics, error_code=response.error_code)
