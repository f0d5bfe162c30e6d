"""Offsets (A.9 to A.12, A.14): commit, also in transactions, fetch, delete, expire. Whether topics exist is the broker's question."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import TypeVar

from ...errors import ErrorCode
from ...wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from ...wire.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)
from ...wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)
from ...wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)
from .. import events as ev
from ..config import GroupConfig
from ..model import Group
from ..offset_table import Offset, Offsets
from ..requests import Decision, RequestContext
from ..states import COMPLETING_REBALANCE, DEAD, EMPTY, PREPARING_REBALANCE, STABLE
from .membership import refuse_membership
from .record import told_operation_error

#: From this version a commit to a group that does not exist is told so (OC-1).
_KNOWS_GROUP_ID_NOT_FOUND = 9
#: From this version a fetch names several groups (OF-9).
BATCHED_FETCH = 8
_TOP_LEVEL_FETCH_ERROR = 2
_NOTHING = Offsets()
_NO_OFFSET = Offset(-1, -1, "", 0, None)


def refuse_commit_without_group(request: OffsetCommitRequest, context: RequestContext) -> ErrorCode:
    """NONE if a commit may create its group: it names no generation (OC-1)."""
    if request.generation_id_or_member_epoch < 0:
        return ErrorCode.NONE
    return ErrorCode.GROUP_ID_NOT_FOUND if context.api_version >= _KNOWS_GROUP_ID_NOT_FOUND else ErrorCode.ILLEGAL_GENERATION


def commit_response(request: OffsetCommitRequest, error: int) -> OffsetCommitResponse:
    """The same error for every partition of the request: there is no other place for it (OC-4)."""
    return OffsetCommitResponse(
        topics=[
            OffsetCommitResponseTopic(
                topic_id=topic.topic_id,
                name=topic.name,
                partitions=[OffsetCommitResponsePartition(partition_index=p.partition_index, error_code=error) for p in topic.partitions],
            )
            for topic in request.topics
        ]
    )


def decide_commit(group: Group, request: OffsetCommitRequest, now: int, config: GroupConfig) -> Decision:
    """Commit what is valid (OC-5, OC-8); a member's commit keeps its session alive (OC-7)."""
    error = _refuse_commit(group, request)
    if error:
        return Decision(reply=commit_response(request, error))
    expire_ms = None if request.retention_time_ms == -1 else now + request.retention_time_ms
    reply, offsets = commit_response(request, ErrorCode.NONE), []
    for topic, answered in zip(request.topics, reply.topics, strict=True):
        for partition, answer in zip(topic.partitions, answered.partitions, strict=True):
            metadata = partition.committed_metadata or ""
            if _utf16_units(metadata) > config.offset_metadata_max_bytes:
                answer.error_code = ErrorCode.OFFSET_METADATA_TOO_LARGE
            else:
                offsets.append(_committed(topic.name, partition, metadata, expire_ms))
    alive = request.member_id if group.state in (STABLE, PREPARING_REBALANCE) else None
    if not offsets:
        return Decision(reply=reply, alive=alive)
    if config.append_error:
        return Decision(reply=commit_response(request, told_operation_error(config.append_error)))
    return Decision((ev.OffsetsCommitted(request.member_id, tuple(offsets)),), reply, alive=alive)


def _refuse_commit(group: Group, request: OffsetCommitRequest) -> ErrorCode:
    """The checks of OC-2, in their order."""
    generation = request.generation_id_or_member_epoch
    if group.state is DEAD:
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    if generation < 0 and group.state is EMPTY:
        return ErrorCode.NONE
    if generation >= 0 or request.member_id or request.group_instance_id is not None:
        error = refuse_membership(group, request.member_id, request.group_instance_id)
        if error:
            return error
        if generation != group.generation:
            return ErrorCode.ILLEGAL_GENERATION
    elif group.state is not EMPTY:
        return ErrorCode.UNKNOWN_MEMBER_ID
    return ErrorCode.REBALANCE_IN_PROGRESS if group.state is COMPLETING_REBALANCE else ErrorCode.NONE


def _committed(
    topic: str, partition: OffsetCommitRequestPartition | TxnOffsetCommitRequestPartition, metadata: str, expire_ms: int | None,
) -> ev.CommittedOffset:
    return ev.CommittedOffset(
        topic, partition.partition_index, partition.committed_offset, partition.committed_leader_epoch, metadata, expire_ms
    )


def transactional_response(request: TxnOffsetCommitRequest, error: int) -> TxnOffsetCommitResponse:
    """The same error for every partition of the request: there is no other place for it (TXN-4)."""
    return TxnOffsetCommitResponse(
        topics=[
            TxnOffsetCommitResponseTopic(
                name=topic.name,
                partitions=[
                    TxnOffsetCommitResponsePartition(partition_index=p.partition_index, error_code=error) for p in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )


def decide_transactional_commit(group: Group, request: TxnOffsetCommitRequest, config: GroupConfig) -> Decision:
    """Note what is valid as pending until the producer's transaction ends (TXN-2, TXN-5); nobody's session is renewed."""
    error = _refuse_transactional_commit(group, request)
    if error:
        return Decision(reply=transactional_response(request, error))
    reply, offsets = transactional_response(request, ErrorCode.NONE), []
    for topic, answered in zip(request.topics, reply.topics, strict=True):
        for partition, answer in zip(topic.partitions, answered.partitions, strict=True):
            metadata = partition.committed_metadata or ""
            if _utf16_units(metadata) > config.offset_metadata_max_bytes:
                answer.error_code = ErrorCode.OFFSET_METADATA_TOO_LARGE
            else:
                offsets.append(_committed(topic.name, partition, metadata, None))
    if not offsets:
        return Decision(reply=reply)
    if config.append_error:
        return Decision(reply=transactional_response(request, told_operation_error(config.append_error)))
    return Decision((ev.OffsetsPending(request.member_id, request.producer_id, tuple(offsets)),), reply)


def _refuse_transactional_commit(group: Group, request: TxnOffsetCommitRequest) -> ErrorCode:
    """The checks of OC-2, but anonymous commits pass in any state, and so does everything during the sync phase (TXN-2)."""
    if group.state is DEAD:
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    if request.generation_id < 0 and group.state is EMPTY:
        return ErrorCode.NONE
    if request.generation_id < 0 and not request.member_id and request.group_instance_id is None:
        return ErrorCode.NONE
    error = refuse_membership(group, request.member_id, request.group_instance_id)
    if not error and request.generation_id != group.generation:
        error = ErrorCode.ILLEGAL_GENERATION
    return error


def transaction_ended(group: Group, producer_id: int, committed: bool) -> ev.PendingOffsetsEnded:
    """What the end of a producer's transaction makes of its pending offsets: the later commit of a partition stands (TXN-5)."""
    return ev.PendingOffsetsEnded(producer_id, committed, group.pending_offsets.standing(producer_id) if committed else ())


def _utf16_units(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def _offsets_of(group: Group | None) -> Offsets:
    """A missing and a Dead group have no offsets, which is no error (OF-1)."""
    return _NOTHING if group is None or group.state is DEAD else group.offsets


def _pending_of(group: Group | None, require_stable: bool) -> Container[tuple[str, int]]:
    """The partitions that are to be called unstable (OF-4)."""
    return () if not require_stable or group is None or group.state is DEAD else group.pending_offsets


def fetch_topics(
    group: Group | None, topics: list[OffsetFetchRequestTopic] | None, require_stable: bool = False,
) -> list[OffsetFetchResponseTopic]:
    """The answer to versions 1-7; a partition without a committed offset shows -1 (OF-1..OF-3)."""
    found, pending = _offsets_of(group), _pending_of(group, require_stable)
    if topics is None:
        topics = [OffsetFetchRequestTopic(name=name, partition_indexes=indexes) for name, indexes in found.by_topic().items()]
    return [
        OffsetFetchResponseTopic(
            name=topic.name,
            partitions=[
                _shown(OffsetFetchResponsePartition, (topic.name, index), found, pending) for index in topic.partition_indexes
            ],
        )
        for topic in topics
    ]


def fetch_group_topics(
    group: Group | None, topics: list[OffsetFetchRequestTopics] | None, require_stable: bool = False,
) -> list[OffsetFetchResponseTopics]:
    """One group's answer from version 8 on; member ids and epochs do not matter in classic groups (OF-8, OF-9)."""
    found, pending = _offsets_of(group), _pending_of(group, require_stable)
    if topics is None:
        topics = [OffsetFetchRequestTopics(name=name, partition_indexes=indexes) for name, indexes in found.by_topic().items()]
    return [
        OffsetFetchResponseTopics(
            topic_id=topic.topic_id,
            name=topic.name,
            partitions=[
                _shown(OffsetFetchResponsePartitions, (topic.name, index), found, pending) for index in topic.partition_indexes
            ],
        )
        for topic in topics
    ]


P = TypeVar("P", OffsetFetchResponsePartition, OffsetFetchResponsePartitions)


def _shown(shape: type[P], key: tuple[str, int], found: Offsets, pending: Container[tuple[str, int]]) -> P:
    """A partition's entry: unstable without an offset (OF-4); of "all partitions" only those with one are asked for (OF-5)."""
    unstable = key in pending
    offset = _NO_OFFSET if unstable else found.get(key, _NO_OFFSET)
    return shape(
        partition_index=key[1],
        error_code=ErrorCode.UNSTABLE_OFFSET_COMMIT if unstable else ErrorCode.NONE,
        committed_offset=offset.offset,
        committed_leader_epoch=offset.leader_epoch,
        metadata=offset.metadata,
    )


def fetch_error_response(request: OffsetFetchRequest, error: int, api_version: int) -> OffsetFetchResponse:
    """A group error before version 8: at the top, in version 1 on every partition (OF-6)."""
    if api_version >= _TOP_LEVEL_FETCH_ERROR:
        return OffsetFetchResponse(error_code=error)
    topics = fetch_topics(None, request.topics)
    for topic in topics:
        for partition in topic.partitions:
            partition.error_code = error
    return OffsetFetchResponse(topics=topics)


def decide_offset_delete(group: Group | None, request: OffsetDeleteRequest) -> Decision:
    """Delete committed offsets, but not those of topics the group is subscribed to (OD-1, OD-2)."""
    error = _refuse_offset_delete(group, request)
    if error:
        return Decision(reply=OffsetDeleteResponse(error_code=error))
    assert group is not None
    guarded = group.state is not EMPTY
    topics, gone = [], []
    for topic in request.topics:
        subscribed = guarded and group.is_subscribed_to(topic.name)
        error = ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC if subscribed else ErrorCode.NONE
        rows = []
        for partition in topic.partitions:
            rows.append(OffsetDeleteResponsePartition(partition_index=partition.partition_index, error_code=error))
            key = (topic.name, partition.partition_index)
            if not subscribed and (key in group.offsets or key in group.pending_offsets):  # TXN-7
                gone.append(key)
        topics.append(OffsetDeleteResponseTopic(name=topic.name, partitions=rows))
    events = (ev.OffsetsRemoved("deleted by request", tuple(dict.fromkeys(gone))),) if gone else ()
    return Decision(events, OffsetDeleteResponse(topics=topics))


def _refuse_offset_delete(group: Group | None, request: OffsetDeleteRequest) -> ErrorCode:
    if not request.group_id:
        return ErrorCode.INVALID_GROUP_ID
    if group is None or group.state is DEAD:
        return ErrorCode.GROUP_ID_NOT_FOUND
    if group.state is not EMPTY and not group.uses_consumer_protocol():
        return ErrorCode.NON_EMPTY_GROUP
    return ErrorCode.NONE


def removed_with_topics(group: Group, partitions: Iterable[tuple[str, int]]) -> ev.OffsetsRemoved | None:
    """What the deletion of these partitions takes from the group (EXP-7)."""
    gone = tuple(key for key in partitions if key in group.offsets or key in group.pending_offsets)
    return ev.OffsetsRemoved("topic deleted", gone) if gone else None


def expired(group: Group, now: int, config: GroupConfig) -> ev.OffsetsRemoved | None:
    """The offsets whose time is over (EXP-1, EXP-2, EXP-3), but none that a transaction is about to replace (EXP-4)."""
    if group.protocol_type is None:
        base_ms, may_expire = None, True
    elif group.state is EMPTY:
        base_ms, may_expire = group.state_since_ms, True
    else:
        base_ms, may_expire = None, group.state is STABLE and group.uses_consumer_protocol()
    if not may_expire or not group.offsets:
        return None
    guarded = group.state is not EMPTY and group.protocol_type is not None
    gone = tuple(
        (topic, partition)
        for (topic, partition), o in group.offsets.items()
        if not (guarded and group.is_subscribed_to(topic)) and (topic, partition) not in group.pending_offsets
        and _is_over(o, base_ms, now, config.offsets_retention_ms)
    )
    return ev.OffsetsRemoved("expired", gone) if gone else None


def _is_over(offset: Offset, base_ms: int | None, now: int, retention_ms: int) -> bool:
    if offset.expire_ms is not None:
        return now >= offset.expire_ms
    return now - (offset.committed_ms if base_ms is None else base_ms) >= retention_ms
