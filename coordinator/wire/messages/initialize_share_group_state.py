"""InitializeShareGroupState (key 83)."""

from __future__ import annotations

from ..schema import ZERO_UUID, Request, Response, Struct, array, int16, int32, int64, string, uuid

KEY = 83


class PartitionData(Struct):
    partition: int = int32(default=0)
    state_epoch: int = int32(default=0)
    start_offset: int = int64(default=0)


class InitializeStateData(Struct):
    topic_id: bytes = uuid(default=ZERO_UUID)
    partitions: list[PartitionData] = array(PartitionData, default=())


class InitializeShareGroupStateRequest(Request, key=KEY, versions=(0, 0), flexible=0):
    group_id: str = string(default="")
    topics: list[InitializeStateData] = array(InitializeStateData, default=())


class PartitionResult(Struct):
    partition: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default=None)


class InitializeStateResult(Struct):
    topic_id: bytes = uuid(default=ZERO_UUID)
    partitions: list[PartitionResult] = array(PartitionResult, default=())


class InitializeShareGroupStateResponse(Response, key=KEY, versions=(0, 0), flexible=0):
    results: list[InitializeStateResult] = array(InitializeStateResult, default=())
