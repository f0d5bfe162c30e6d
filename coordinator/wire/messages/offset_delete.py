"""OffsetDelete (key 47): delete committed offsets of topics that the group no longer subscribes to
(VER-11, KIP-496).

Never flexible.
"""

from __future__ import annotations

from ..schema import Request, Response, Struct, array, int16, int32, string

KEY = 47


class OffsetDeleteRequestPartition(Struct):
    partition_index: int = int32(default=0)


class OffsetDeleteRequestTopic(Struct):
    name: str = string(default="")
    partitions: list[OffsetDeleteRequestPartition] = array(OffsetDeleteRequestPartition, default=())


class OffsetDeleteRequest(Request, key=KEY, versions=(0, 0), flexible=None):
    group_id: str = string(default="")
    topics: list[OffsetDeleteRequestTopic] = array(OffsetDeleteRequestTopic, default=())


class OffsetDeleteResponsePartition(Struct):
    partition_index: int = int32(default=0)
    error_code: int = int16(default=0)


class OffsetDeleteResponseTopic(Struct):
    name: str = string(default="")
    partitions: list[OffsetDeleteResponsePartition] = array(
        OffsetDeleteResponsePartition, default=()
    )


class OffsetDeleteResponse(Response, key=KEY, versions=(0, 0), flexible=None):
    error_code: int = int16(default=0)
    throttle_time_ms: int = int32(default=0)
    topics: list[OffsetDeleteResponseTopic] = array(OffsetDeleteResponseTopic, default=())
