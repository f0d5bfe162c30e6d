"""Requests to the share coordinator, which stores the state of share partitions."""

from __future__ import annotations

from ..schema import (
    Request,
    Response,
    Struct,
    ZERO_UUID,
    array,
    int16,
    int32,
    int64,
    int8,
    string,
    uuid,
)


class InitializeStatePartitionData(Struct):
    partition: int = int32(default=0)
    state_epoch: int = int32(default=0)
    start_offset: int = int64(default=0)


class InitializeStateData(Struct):
    topic_id: bytes = uuid(default=ZERO_UUID)
    partitions: list[InitializeStatePartitionData] = array(InitializeStatePartitionData, default=())


class InitializeShareGroupStateRequest(Request, key=83, versions=(0, 0), flexible=0):
    """InitializeShareGroupState (key 83): create the states of share partitions."""

    group_id: str = string(default="")
    topics: list[InitializeStateData] = array(InitializeStateData, default=())


class InitializeStatePartitionResult(Struct):
    partition: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default=None)


class InitializeStateResult(Struct):
    topic_id: bytes = uuid(default=ZERO_UUID)
    partitions: list[InitializeStatePartitionResult] = array(
        InitializeStatePartitionResult, default=()
    )


class InitializeShareGroupStateResponse(Response, key=83, versions=(0, 0), flexible=0):
    results: list[InitializeStateResult] = array(InitializeStateResult, default=())


class ReadStatePartitionData(Struct):
    partition: int = int32(default=0)
    leader_epoch: int = int32(default=0)


class ReadStateData(Struct):
    topic_id: bytes = uuid(default=ZERO_UUID)
    partitions: list[ReadStatePartitionData] = array(ReadStatePartitionData, default=())


class ReadShareGroupStateRequest(Request, key=84, versions=(0, 0), flexible=0):
    """ReadShareGroupState (key 84): read the states, by the leader of the partitions."""

    group_id: str = string(default="")
    topics: list[ReadStateData] = array(ReadStateData, default=())


class StateBatch(Struct):
    first_offset: int = int64(default=0)
    last_offset: int = int64(default=0)
    delivery_state: int = int8(default=0)
    delivery_count: int = int16(default=0)


class ReadStatePartitionResult(Struct):
    partition: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default=None)
    state_epoch: int = int32(default=0)
    start_offset: int = int64(default=0)
    state_batches: list[StateBatch] = array(StateBatch, default=())


class ReadStateResult(Struct):
    topic_id: bytes = uuid(default=ZERO_UUID)
    partitions: list[ReadStatePartitionResult] = array(ReadStatePartitionResult, default=())


class ReadShareGroupStateResponse(Response, key=84, versions=(0, 0), flexible=0):
    results: list[ReadStateResult] = array(ReadStateResult, default=())


class WriteStatePartitionData(Struct):
    partition: int = int32(default=0)
    state_epoch: int = int32(default=0)
    leader_epoch: int = int32(default=0)
    start_offset: int = int64(default=0)
    delivery_complete_count: int = int32(since=1, default=-1)
    state_batches: list[StateBatch] = array(StateBatch, default=())


class WriteStateData(Struct):
    topic_id: bytes = uuid(default=ZERO_UUID)
    partitions: list[WriteStatePartitionData] = array(WriteStatePartitionData, default=())


class WriteShareGroupStateRequest(Request, key=85, versions=(0, 1), flexible=0):
    """WriteShareGroupState (key 85): write changes of the states, by the leader of the partitions."""

    group_id: str = string(default="")
    topics: list[WriteStateData] = array(WriteStateData, default=())


class WriteStatePartitionResult(Struct):
    partition: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default=None)


class WriteStateResult(Struct):
    topic_id: bytes = uuid(default=ZERO_UUID)
    partitions: list[WriteStatePartitionResult] = array(WriteStatePartitionResult, default=())


class WriteShareGroupStateResponse(Response, key=85, versions=(0, 1), flexible=0):
    results: list[WriteStateResult] = array(WriteStateResult, default=())


class DeleteStatePartitionData(Struct):
    partition: int = int32(default=0)


class DeleteStateData(Struct):
    topic_id: bytes = uuid(default=ZERO_UUID)
    partitions: list[DeleteStatePartitionData] = array(DeleteStatePartitionData, default=())


class DeleteShareGroupStateRequest(Request, key=86, versions=(0, 0), flexible=0):
    """DeleteShareGroupState (key 86): delete the states of share partitions."""

    group_id: str = string(default="")
    topics: list[DeleteStateData] = array(DeleteStateData, default=())


class DeleteStatePartitionResult(Struct):
    partition: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default=None)


class DeleteStateResult(Struct):
    topic_id: bytes = uuid(default=ZERO_UUID)
    partitions: list[DeleteStatePartitionResult] = array(DeleteStatePartitionResult, default=())


class DeleteShareGroupStateResponse(Response, key=86, versions=(0, 0), flexible=0):
    results: list[DeleteStateResult] = array(DeleteStateResult, default=())


class ReadStateSummaryPartitionData(Struct):
    partition: int = int32(default=0)
    leader_epoch: int = int32(default=0)


class ReadStateSummaryData(Struct):
    topic_id: bytes = uuid(default=ZERO_UUID)
    partitions: list[ReadStateSummaryPartitionData] = array(
        ReadStateSummaryPartitionData, default=()
    )


class ReadShareGroupStateSummaryRequest(Request, key=87, versions=(0, 1), flexible=0):
    """ReadShareGroupStateSummary (key 87): read only the start offsets and epochs of the states."""

    group_id: str = string(default="")
    topics: list[ReadStateSummaryData] = array(ReadStateSummaryData, default=())


class ReadStateSummaryPartitionResult(Struct):
    partition: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default=None)
    state_epoch: int = int32(default=0)
    leader_epoch: int = int32(default=0)
    start_offset: int = int64(default=0)
    delivery_complete_count: int = int32(since=1, default=-1)


class ReadStateSummaryResult(Struct):
    topic_id: bytes = uuid(default=ZERO_UUID)
    partitions: list[ReadStateSummaryPartitionResult] = array(
        ReadStateSummaryPartitionResult, default=()
    )


class ReadShareGroupStateSummaryResponse(Response, key=87, versions=(0, 1), flexible=0):
    results: list[ReadStateSummaryResult] = array(ReadStateSummaryResult, default=())
