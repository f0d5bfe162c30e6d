"""Decisions about offsets (A.9, A.11, A.12): commits, commits within transactions, and deletions.

The membership decides which members may commit or delete; the broker knows which topics exist.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from coordinator.base.errors import ErrorCode
from coordinator.events.groups.offsets import (
    CommittedOffset,
    OffsetsCommitted,
    OffsetsPending,
    OffsetsRemoved,
    PendingOffsetsEnded,
)
from coordinator.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from coordinator.wire.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)
from coordinator.wire.messages.transactions import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)

from ..append_errors import client_operation_error
from ..classic.model import ClassicGroup
from ..config import GroupConfig
from ..consumer.model import ConsumerMembership
from ..consumer.offsets import PartitionCheck, check_commit
from ..group import Group
from ..record_size import commit_exceeds
from ..requests import Decision, RequestContext

#: From this version a commit to a group that does not exist is told so (OC-1).
_KNOWS_GROUP_ID_NOT_FOUND = 9
#: And a transactional one (V44-5).
_TRANSACTIONAL_KNOWS_IT = 6


def refuse_commit_without_group(request: OffsetCommitRequest, context: RequestContext) -> ErrorCode:
    """Return the error if the commit may not create its group, else NONE: it must not contain a
    generation (OC-1).
    """
    if request.generation_id_or_member_epoch < 0:
        return ErrorCode.NONE
    return (
        ErrorCode.GROUP_ID_NOT_FOUND
        if context.api_version >= _KNOWS_GROUP_ID_NOT_FOUND
        else ErrorCode.ILLEGAL_GENERATION
    )


def refuse_transactional_commit_without_group(
    request: TxnOffsetCommitRequest, context: RequestContext
) -> ErrorCode:
    """Like `refuse_commit_without_group`, for commits within a transaction (TXN-2, V44-5)."""
    if request.generation_id_or_member_epoch < 0:
        return ErrorCode.NONE
    return (
        ErrorCode.GROUP_ID_NOT_FOUND
        if context.api_version >= _TRANSACTIONAL_KNOWS_IT
        else ErrorCode.ILLEGAL_GENERATION
    )


def commit_response(request: OffsetCommitRequest, error: int) -> OffsetCommitResponse:
    """Return a response with the error on every partition, its only place (OC-4)."""
    return OffsetCommitResponse(
        topics=[
            OffsetCommitResponseTopic(
                topic_id=topic.topic_id,
                name=topic.name,
                partitions=[
                    OffsetCommitResponsePartition(
                        partition_index=p.partition_index, error_code=error
                    )
                    for p in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )


def transactional_response(request: TxnOffsetCommitRequest, error: int) -> TxnOffsetCommitResponse:
    """Return a response with the error on every partition, its only place (TXN-4)."""
    return TxnOffsetCommitResponse(
        topics=[
            TxnOffsetCommitResponseTopic(
                topic_id=topic.topic_id,
                name=topic.name,
                partitions=[
                    TxnOffsetCommitResponsePartition(
                        partition_index=p.partition_index, error_code=error
                    )
                    for p in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )


def decide_commit(
    group: Group,
    request: OffsetCommitRequest,
    context: RequestContext,
    now: int,
    config: GroupConfig,
) -> Decision:
    """Decide an OffsetCommit: valid offsets are committed (OC-5, OC-8), and the member's session is
    renewed (OC-7).
    """
    membership, epoch = group.membership, request.generation_id_or_member_epoch
    if isinstance(membership, ConsumerMembership):
        error, check = check_commit(
            membership,
            request.member_id,
            request.group_instance_id,
            epoch,
            transactional=False,
            api_version=context.api_version,
            older_epochs=_older_epochs(config),
        )
        error = error or _first_refused(request.topics, check, config)
    else:
        assert isinstance(membership, ClassicGroup), "nobody commits to a share group"
        error = membership.refuse_commit(request.member_id, request.group_instance_id, epoch)
    if error:
        return Decision(reply=commit_response(request, error))
    reply = commit_response(request, ErrorCode.NONE)
    expire_ms = (
        None
        if request.retention_time_ms == -1
        else now + config.clock_ms + request.retention_time_ms
    )
    offsets = _valid_offsets(request.topics, reply.topics, expire_ms, config)
    alive = membership.commit_proves_life()
    if not offsets:
        return Decision(reply=reply, alive=alive)
    if not_written := _append_error(group.group_id, offsets, config):
        return Decision(
            reply=commit_response(request, not_written), alive=alive and not config.append_error
        )
    return Decision((OffsetsCommitted(request.member_id, offsets),), reply, alive=alive)


def decide_transactional_commit(
    group: Group,
    request: TxnOffsetCommitRequest,
    context: RequestContext,
    now: int,
    config: GroupConfig,
) -> Decision:
    """Decide a TxnOffsetCommit: valid offsets are pending until the producer's transaction ends
    (TXN-2, TXN-5); no session is renewed.
    """
    membership = group.membership
    if isinstance(membership, ConsumerMembership):
        error, check = check_commit(
            membership,
            request.member_id,
            request.group_instance_id,
            request.generation_id_or_member_epoch,
            transactional=True,
            api_version=context.api_version,
            older_epochs=_older_epochs(config),
        )
        error = error or _first_refused(request.topics, check, config)
    else:
        assert isinstance(membership, ClassicGroup), "nobody commits to a share group"
        error = membership.refuse_transactional_commit(
            request.member_id, request.group_instance_id, request.generation_id_or_member_epoch
        )
    if error:
        return Decision(reply=transactional_response(request, error))
    reply = transactional_response(request, ErrorCode.NONE)
    offsets = _valid_offsets(request.topics, reply.topics, None, config)
    if not offsets:
        return Decision(reply=reply)
    if not_written := _append_error(group.group_id, offsets, config, pending=True):
        return Decision(reply=transactional_response(request, not_written))
    return Decision((OffsetsPending(request.member_id, request.producer_id, offsets),), reply)


def _append_error(
    group_id: str,
    offsets: tuple[CommittedOffset, ...],
    config: GroupConfig,
    *,
    pending: bool = False,
) -> ErrorCode:
    """Return the error for clients if the commit as a whole cannot be written, else NONE (ERR-1)."""
    error = config.append_error
    if not error and commit_exceeds(group_id, offsets, config.record_limit(), pending=pending):
        error = ErrorCode.RECORD_LIST_TOO_LARGE
    return client_operation_error(error) if error else error


class _PartitionRow(Protocol):
    partition_index: int
    committed_offset: int
    committed_leader_epoch: int
    committed_metadata: str | None


class _TopicRow(Protocol):
    name: str

    @property
    def partitions(self) -> Iterable[_PartitionRow]: ...


class _ErrorRow(Protocol):
    error_code: int


class _AnsweredTopic(Protocol):
    @property
    def partitions(self) -> Iterable[_ErrorRow]: ...


def _older_epochs(config: GroupConfig) -> bool:
    """Return True if a member may commit with an earlier epoch of its own (K8-OFF-43-1)."""
    return config.consumer is None or config.consumer.release.has("K8-OFF-43-1")


def _first_refused(
    topics: Iterable[_TopicRow], check: PartitionCheck | None, config: GroupConfig
) -> ErrorCode:
    """Return the error with which an older epoch may not commit one of these partitions; as in
    Kafka, it refuses the whole commit (KIP-1251).
    """
    if check is None or config.consumer is None:
        return ErrorCode.NONE
    for topic in topics:
        topic_id = config.consumer.topics.topic_id(topic.name) or b""
        for partition in topic.partitions:
            too_long = (
                _utf16_units(partition.committed_metadata or "") > config.offset_metadata_max_bytes
            )
            error = ErrorCode.NONE if too_long else check(topic_id, partition.partition_index)
            if error:
                return error
    return ErrorCode.NONE


def _valid_offsets(
    topics: Iterable[_TopicRow],
    answered: Iterable[_AnsweredTopic],
    expire_ms: int | None,
    config: GroupConfig,
) -> tuple[CommittedOffset, ...]:
    """Return the offsets whose metadata is short enough; set the error in the rows of the others
    (OC-5, TXN-4).
    """
    valid, most = [], config.offset_metadata_max_bytes
    for topic, rows in zip(topics, answered, strict=True):
        name = topic.name
        for partition, row in zip(topic.partitions, rows.partitions, strict=True):
            metadata = partition.committed_metadata or ""
            if metadata and _utf16_units(metadata) > most:
                row.error_code = ErrorCode.OFFSET_METADATA_TOO_LARGE
            else:
                valid.append(
                    CommittedOffset(
                        name,
                        partition.partition_index,
                        partition.committed_offset,
                        partition.committed_leader_epoch,
                        metadata,
                        expire_ms,
                    )
                )
    return tuple(valid)


def transaction_ended(group: Group, producer_id: int, committed: bool) -> PendingOffsetsEnded:
    """Return the event for the end of a producer's transaction. Of several commits of a partition
    the later one stands (TXN-5).
    """
    return PendingOffsetsEnded(
        producer_id, committed, group.pending_offsets.standing(producer_id) if committed else ()
    )


def _utf16_units(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def decide_offset_delete(
    group: Group,
    request: OffsetDeleteRequest,
    context: RequestContext,
    now: int,
    config: GroupConfig,
) -> Decision:
    """Decide an OffsetDelete: offsets are deleted, except those of topics the group subscribes to
    (OD-1, OD-2).
    """
    membership = group.membership
    error = membership.refuse_offset_delete()
    if error:
        return Decision(reply=OffsetDeleteResponse(error_code=error))
    topics, gone = [], []
    for topic in request.topics:
        subscribed = membership.is_subscribed_to(topic.name)
        error = ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC if subscribed else ErrorCode.NONE
        rows = []
        for partition in topic.partitions:
            rows.append(
                OffsetDeleteResponsePartition(
                    partition_index=partition.partition_index, error_code=error
                )
            )
            key = (topic.name, partition.partition_index)
            if not subscribed and (key in group.offsets or key in group.pending_offsets):  # TXN-7
                gone.append(key)
        topics.append(OffsetDeleteResponseTopic(name=topic.name, partitions=rows))
    events = (OffsetsRemoved("deleted by request", tuple(dict.fromkeys(gone))),) if gone else ()
    return Decision(events, OffsetDeleteResponse(topics=topics))
