"""ConsumerGroupDescribe (key 69): state, epochs and members of consumer groups (KIP-848)."""

from __future__ import annotations

from ..schema import (
    ZERO_UUID,
    Request,
    Response,
    Struct,
    array,
    boolean,
    int16,
    int32,
    int8,
    string,
    struct,
    uuid,
)

KEY = 69


class ConsumerGroupDescribeRequest(Request, key=KEY, versions=(0, 1), flexible=0):
    group_ids: list[str] = array(string, default=())
    include_authorized_operations: bool = boolean(default=False)


class TopicPartitions(Struct):
    topic_id: bytes = uuid(default=ZERO_UUID)
    topic_name: str = string(default="")
    partitions: list[int] = array(int32, default=())


class Assignment(Struct):
    topic_partitions: list[TopicPartitions] = array(TopicPartitions, default=())


class Member(Struct):
    member_id: str = string(default="")
    instance_id: str | None = string(nullable=0, default=None)
    rack_id: str | None = string(nullable=0, default=None)
    member_epoch: int = int32(default=0)
    client_id: str = string(default="")
    client_host: str = string(default="")
    subscribed_topic_names: list[str] = array(string, default=())
    subscribed_topic_regex: str | None = string(nullable=0, default=None)
    assignment: Assignment = struct(Assignment, default=...)
    target_assignment: Assignment = struct(Assignment, default=...)
    member_type: int = int8(since=1, default=-1)


class DescribedGroup(Struct):
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default=None)
    group_id: str = string(default="")
    group_state: str = string(default="")
    group_epoch: int = int32(default=0)
    assignment_epoch: int = int32(default=0)
    assignor_name: str = string(default="")
    members: list[Member] = array(Member, default=())
    authorized_operations: int = int32(default=-2147483648)


class ConsumerGroupDescribeResponse(Response, key=KEY, versions=(0, 1), flexible=0):
    throttle_time_ms: int = int32(default=0)
    groups: list[DescribedGroup] = array(DescribedGroup, default=())
