"""DeleteShareGroupState (key 86)."""

from __future__ import annotations

from ..schema import ZERO_UUID, Request, Response, Struct, array, int16, int32, string, uuid

KEY = 86


class PartitionData(Struct):
    partition: int = int32(default=0)


class DeleteStateData(Struct):
    topic_id: bytes = uuid(default=ZERO_UUID)
    partitions: list[PartitionData] = array(PartitionData, default=())


class DeleteShareGroupStateRequest(Request, key=KEY, versions=(0, 0), flexible=0):
    group_id: str = string(default="")
    topics: list[DeleteStateData] = array(DeleteStateData, default=())


class PartitionResult(Struct):
    partition: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default=None)


class DeleteStateResult(Struct):
    topic_id: bytes = uuid(default=ZERO_UUID)
    partitions: list[PartitionResult] = array(PartitionResult, default=())


class DeleteShareGroupStateResponse(Response, key=KEY, versions=(0, 0), flexible=0):
    results: list[DeleteStateResult] = array(DeleteStateResult, default=())
