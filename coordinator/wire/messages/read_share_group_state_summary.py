"""ReadShareGroupStateSummary (key 87)."""

from __future__ import annotations

from ..schema import ZERO_UUID, Request, Response, Struct, array, int16, int32, int64, string, uuid

KEY = 87


class PartitionData(Struct):
    partition: int = int32(default=0)
    leader_epoch: int = int32(default=0)


class ReadStateSummaryData(Struct):
    topic_id: bytes = uuid(default=ZERO_UUID)
    partitions: list[PartitionData] = array(PartitionData, default=())


class ReadShareGroupStateSummaryRequest(Request, key=KEY, versions=(0, 1), flexible=0):
    group_id: str = string(default="")
    topics: list[ReadStateSummaryData] = array(ReadStateSummaryData, default=())


class PartitionResult(Struct):
    partition: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default=None)
    state_epoch: int = int32(default=0)
    leader_epoch: int = int32(default=0)
    start_offset: int = int64(default=0)
    delivery_complete_count: int = int32(since=1, default=-1)


class ReadStateSummaryResult(Struct):
    topic_id: bytes = uuid(default=ZERO_UUID)
    partitions: list[PartitionResult] = array(PartitionResult, default=())


class ReadShareGroupStateSummaryResponse(Response, key=KEY, versions=(0, 1), flexible=0):
    results: list[ReadStateSummaryResult] = array(ReadStateSummaryResult, default=())
