"""DeleteShareGroupOffsets (key 92)."""

from __future__ import annotations

from ..schema import ZERO_UUID, Request, Response, Struct, array, int16, int32, string, uuid

KEY = 92


class DeleteShareGroupOffsetsRequestTopic(Struct):
    topic_name: str = string(default="")


class DeleteShareGroupOffsetsRequest(Request, key=KEY, versions=(0, 0), flexible=0):
    group_id: str = string(default="")
    topics: list[DeleteShareGroupOffsetsRequestTopic] = array(
        DeleteShareGroupOffsetsRequestTopic, default=()
    )


class DeleteShareGroupOffsetsResponseTopic(Struct):
    topic_name: str = string(default="")
    topic_id: bytes = uuid(default=ZERO_UUID)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default=None)


class DeleteShareGroupOffsetsResponse(Response, key=KEY, versions=(0, 0), flexible=0):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default=None)
    responses: list[DeleteShareGroupOffsetsResponseTopic] = array(
        DeleteShareGroupOffsetsResponseTopic, default=()
    )
