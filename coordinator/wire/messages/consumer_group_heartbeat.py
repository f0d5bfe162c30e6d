"""ConsumerGroupHeartbeat (key 68): join, stay in or leave a consumer group; the response has the
assignment (KIP-848).
"""

from __future__ import annotations

from ..schema import ZERO_UUID, Request, Response, Struct, array, int16, int32, string, struct, uuid

KEY = 68


class TopicPartitions(Struct):
    topic_id: bytes = uuid(default=ZERO_UUID)
    partitions: list[int] = array(int32, default=())


class ConsumerGroupHeartbeatRequest(Request, key=KEY, versions=(0, 1), flexible=0):
    group_id: str = string(default="")
    member_id: str = string(default="")
    member_epoch: int = int32(default=0)
    instance_id: str | None = string(nullable=0, default=None)
    rack_id: str | None = string(nullable=0, default=None)
    rebalance_timeout_ms: int = int32(default=-1)
    subscribed_topic_names: list[str] | None = array(string, nullable=0, default=None)
    subscribed_topic_regex: str | None = string(since=1, nullable=1, default=None)
    server_assignor: str | None = string(nullable=0, default=None)
    topic_partitions: list[TopicPartitions] | None = array(
        TopicPartitions, nullable=0, default=None
    )


class Assignment(Struct):
    topic_partitions: list[TopicPartitions] = array(TopicPartitions, default=())


class ConsumerGroupHeartbeatResponse(Response, key=KEY, versions=(0, 1), flexible=0):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default=None)
    member_id: str | None = string(nullable=0, default=None)
    member_epoch: int = int32(default=0)
    heartbeat_interval_ms: int = int32(default=0)
    assignment: Assignment | None = struct(Assignment, nullable=0, default=None)
