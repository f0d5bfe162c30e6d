"""WriteShareGroupState (key 85)."""

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

KEY = 85


class StateBatch(Struct):
    first_offset: int = int64(default=0)
    last_offset: int = int64(default=0)
    delivery_state: int = int8(default=0)
    delivery_count: int = int16(default=0)


class PartitionData(Struct):
    partition: int = int32(default=0)
    state_epoch: int = int32(default=0)
    leader_epoch: int = int32(default=0)
    start_offset: int = int64(default=0)
    delivery_complete_count: int = int32(since=1, default=-1)
    state_batches: list[StateBatch] = array(StateBatch, default=())


class WriteStateData(Struct):
    topic_id: bytes = uuid(default=ZERO_UUID)
    partitions: list[PartitionData] = array(PartitionData, default=())


class WriteShareGroupStateRequest(Request, key=KEY, versions=(0, 1), flexible=0):
    group_id: str = string(default="")
    topics: list[WriteStateData] = array(WriteStateData, default=())


class PartitionResult(Struct):
    partition: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default=None)


class WriteStateResult(Struct):
    topic_id: bytes = uuid(default=ZERO_UUID)
    partitions: list[PartitionResult] = array(PartitionResult, default=())


class WriteShareGroupStateResponse(Response, key=KEY, versions=(0, 1), flexible=0):
    results: list[WriteStateResult] = array(WriteStateResult, default=())
