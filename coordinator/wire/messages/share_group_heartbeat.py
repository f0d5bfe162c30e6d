"""ShareGroupHeartbeat (key 76): join, stay in or leave a share group; the response has the
assignment (KIP-932).
"""

from __future__ import annotations

from ..schema import ZERO_UUID, Request, Response, Struct, array, int16, int32, string, struct, uuid

KEY = 76


class ShareGroupHeartbeatRequest(Request, key=KEY, versions=(1, 1), flexible=1):
    group_id: str = string(default="")
    member_id: str = string(default="")
    member_epoch: int = int32(default=0)
    rack_id: str | None = string(nullable=1, default=None)
    subscribed_topic_names: list[str] | None = array(string, nullable=1, default=None)


class TopicPartitions(Struct):
    topic_id: bytes = uuid(default=ZERO_UUID)
    partitions: list[int] = array(int32, default=())


class Assignment(Struct):
    topic_partitions: list[TopicPartitions] = array(TopicPartitions, default=())


class ShareGroupHeartbeatResponse(Response, key=KEY, versions=(1, 1), flexible=1):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=1, default=None)
    member_id: str | None = string(nullable=1, default=None)
    member_epoch: int = int32(default=0)
    heartbeat_interval_ms: int = int32(default=0)
    assignment: Assignment | None = struct(Assignment, nullable=1, default=None)
