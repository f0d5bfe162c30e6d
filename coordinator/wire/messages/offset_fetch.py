"""OffsetFetch (key 9): fetch a group's committed offsets (VER-6).

2: null topics mean all; top-level error. 5: leader epochs (KIP-320). 6: flexible. 7: wait for
stable offsets (KIP-447). 8: several groups at once (KIP-709): everything moves below `groups`.
9: member id and epoch (KIP-848). 10: topic ids instead of names. 0 was removed in Kafka 4.0.
"""

from __future__ import annotations

from ..schema import (
    ZERO_UUID,
    Request,
    Response,
    Struct,
    array,
    boolean,
    int16,
    int32,
    int64,
    string,
    uuid,
)

KEY = 9


class OffsetFetchRequestTopics(Struct):
    topic_id: bytes = uuid(since=10, default=ZERO_UUID)
    name: str = string(since=8, until=9, default="")
    partition_indexes: list[int] = array(int32, since=8, default=())


class OffsetFetchRequestGroup(Struct):
    group_id: str = string(since=8, default="")
    member_id: str | None = string(since=9, nullable=9, default=None)
    member_epoch: int = int32(since=9, default=-1)
    topics: list[OffsetFetchRequestTopics] | None = array(
        OffsetFetchRequestTopics, since=8, nullable=8, default=()
    )


class OffsetFetchRequestTopic(Struct):
    name: str = string(until=7, default="")
    partition_indexes: list[int] = array(int32, until=7, default=())


class OffsetFetchRequest(Request, key=KEY, versions=(0, 10), flexible=6):
    groups: list[OffsetFetchRequestGroup] = array(OffsetFetchRequestGroup, since=8, default=())
    group_id: str = string(until=7, default="")
    topics: list[OffsetFetchRequestTopic] | None = array(
        OffsetFetchRequestTopic, until=7, nullable=2, default=()
    )
    require_stable: bool = boolean(since=7, default=False)


class OffsetFetchResponsePartitions(Struct):
    partition_index: int = int32(since=8, default=0)
    committed_offset: int = int64(since=8, default=0)
    committed_leader_epoch: int = int32(since=8, default=-1)
    metadata: str | None = string(since=8, nullable=8, default="")
    error_code: int = int16(since=8, default=0)


class OffsetFetchResponseTopics(Struct):
    topic_id: bytes = uuid(since=10, default=ZERO_UUID)
    name: str = string(since=8, until=9, default="")
    partitions: list[OffsetFetchResponsePartitions] = array(
        OffsetFetchResponsePartitions, since=8, default=()
    )


class OffsetFetchResponseGroup(Struct):
    group_id: str = string(since=8, default="")
    topics: list[OffsetFetchResponseTopics] = array(OffsetFetchResponseTopics, since=8, default=())
    error_code: int = int16(since=8, default=0)


class OffsetFetchResponsePartition(Struct):
    partition_index: int = int32(until=7, default=0)
    committed_offset: int = int64(until=7, default=0)
    committed_leader_epoch: int = int32(since=5, until=7, default=-1)
    metadata: str | None = string(until=7, nullable=0, default="")
    error_code: int = int16(until=7, default=0)


class OffsetFetchResponseTopic(Struct):
    name: str = string(until=7, default="")
    partitions: list[OffsetFetchResponsePartition] = array(
        OffsetFetchResponsePartition, until=7, default=()
    )


class OffsetFetchResponse(Response, key=KEY, versions=(0, 10), flexible=6):
    throttle_time_ms: int = int32(since=3, default=0)
    groups: list[OffsetFetchResponseGroup] = array(OffsetFetchResponseGroup, since=8, default=())
    topics: list[OffsetFetchResponseTopic] = array(OffsetFetchResponseTopic, until=7, default=())
    error_code: int = int16(since=2, until=7, default=0)
