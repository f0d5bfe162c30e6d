"""ReadShareGroupState (key 84)."""

from __future__ import annotations

from ..schema import (
    ZERO_UUID,
    Request,
    Response,
    Struct,
    array,
    int16,
    int32,
    int64,
    int8,
    string,
    uuid,
)

KEY = 84


class PartitionData(Struct):
    partition: int = int32(default=0)
    leader_epoch: int = int32(default=0)


class ReadStateData(Struct):
    topic_id: bytes = uuid(default=ZERO_UUID)
    partitions: list[PartitionData] = array(PartitionData, default=())


class ReadShareGroupStateRequest(Request, key=KEY, versions=(0, 0), flexible=0):
    group_id: str = string(default="")
    topics: list[ReadStateData] = array(ReadStateData, default=())


class StateBatch(Struct):
    first_offset: int = int64(default=0)
    last_offset: int = int64(default=0)
    delivery_state: int = int8(default=0)
    delivery_count: int = int16(default=0)


class PartitionResult(Struct):
    partition: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default=None)
    state_epoch: int = int32(default=0)
    start_offset: int = int64(default=0)
    state_batches: list[StateBatch] = array(StateBatch, default=())


class ReadStateResult(Struct):
    topic_id: bytes = uuid(default=ZERO_UUID)
    partitions: list[PartitionResult] = array(PartitionResult, default=())


class ReadShareGroupStateResponse(Response, key=KEY, versions=(0, 0), flexible=0):
    results: list[ReadStateResult] = array(ReadStateResult, default=())
