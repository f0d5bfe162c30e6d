"""Views of a group's offsets for OffsetFetch (A.10). Decides and changes nothing."""

from __future__ import annotations

from collections.abc import Container
from typing import TypeVar

from coordinator.base.errors import ErrorCode
from coordinator.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)

from ..group import Group
from ..offset_table import Offset, Offsets

#: From this version a fetch names several groups (OF-9).
BATCHED_FETCH = 8
_TOP_LEVEL_FETCH_ERROR = 2
_NOTHING = Offsets()
_NO_OFFSET = Offset(-1, -1, "", 0, None)


def _offsets_of(group: Group | None) -> Offsets:
    """Return the group's offsets; none for a missing or Dead group, which is no error (OF-1)."""
    return _NOTHING if group is None or group.membership.is_dead() else group.offsets


def _pending_of(group: Group | None, require_stable: bool) -> Container[tuple[str, int]]:
    """Return the partitions that are unstable for this request (OF-4)."""
    return (
        ()
        if not require_stable or group is None or group.membership.is_dead()
        else group.pending_offsets
    )


def fetch_topics(
    group: Group | None,
    topics: list[OffsetFetchRequestTopic] | None,
    require_stable: bool = False,
) -> list[OffsetFetchResponseTopic]:
    """Return the answer of versions 1-7; -1 for a partition without a committed offset
    (OF-1..OF-3).
    """
    found, pending = _offsets_of(group), _pending_of(group, require_stable)
    if topics is None:
        topics = [
            OffsetFetchRequestTopic(name=name, partition_indexes=indexes)
            for name, indexes in found.by_topic().items()
        ]
    return [
        OffsetFetchResponseTopic(
            name=topic.name,
            partitions=[
                _shown(OffsetFetchResponsePartition, (topic.name, index), found, pending)
                for index in topic.partition_indexes
            ],
        )
        for topic in topics
    ]


def fetch_group_topics(
    group: Group | None,
    topics: list[OffsetFetchRequestTopics] | None,
    require_stable: bool = False,
) -> list[OffsetFetchResponseTopics]:
    """Return one group's answer from version 8 on; member ids and epochs do not matter in classic
    groups (OF-8, OF-9).
    """
    found, pending = _offsets_of(group), _pending_of(group, require_stable)
    if topics is None:
        topics = [
            OffsetFetchRequestTopics(name=name, partition_indexes=indexes)
            for name, indexes in found.by_topic().items()
        ]
    return [
        OffsetFetchResponseTopics(
            topic_id=topic.topic_id,
            name=topic.name,
            partitions=[
                _shown(OffsetFetchResponsePartitions, (topic.name, index), found, pending)
                for index in topic.partition_indexes
            ],
        )
        for topic in topics
    ]


P = TypeVar("P", OffsetFetchResponsePartition, OffsetFetchResponsePartitions)


def _shown(
    shape: type[P], key: tuple[str, int], found: Offsets, pending: Container[tuple[str, int]]
) -> P:
    """Return a partition's row: an unstable one has an error and no offset (OF-4). If all
    partitions are asked for, only those with an offset are listed (OF-5).
    """
    unstable = key in pending
    offset = _NO_OFFSET if unstable else found.get(key, _NO_OFFSET)
    return shape(
        partition_index=key[1],
        error_code=ErrorCode.UNSTABLE_OFFSET_COMMIT if unstable else ErrorCode.NONE,
        committed_offset=offset.offset,
        committed_leader_epoch=offset.leader_epoch,
        metadata=offset.metadata,
    )


def fetch_error_response(
    request: OffsetFetchRequest, error: int, api_version: int
) -> OffsetFetchResponse:
    """Return a group error before version 8: at the top, in version 1 on every partition (OF-6)."""
    if api_version >= _TOP_LEVEL_FETCH_ERROR:
        return OffsetFetchResponse(error_code=error)
    topics = fetch_topics(None, request.topics)
    for topic in topics:
        for partition in topic.partitions:
            partition.error_code = error
    return OffsetFetchResponse(topics=topics)
