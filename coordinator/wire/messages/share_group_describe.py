"""ShareGroupDescribe (key 77): state, epochs and members of share groups (KIP-932)."""

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
    string,
    struct,
    uuid,
)

KEY = 77


class ShareGroupDescribeRequest(Request, key=KEY, versions=(1, 1), flexible=1):
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
    rack_id: str | None = string(nullable=1, default=None)
    member_epoch: int = int32(default=0)
    client_id: str = string(default="")
    client_host: str = string(default="")
    subscribed_topic_names: list[str] = array(string, default=())
    assignment: Assignment = struct(Assignment, default=...)


class DescribedGroup(Struct):
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=1, default=None)
    group_id: str = string(default="")
    group_state: str = string(default="")
    group_epoch: int = int32(default=0)
    assignment_epoch: int = int32(default=0)
    assignor_name: str = string(default="")
    members: list[Member] = array(Member, default=())
    authorized_operations: int = int32(default=-2147483648)


class ShareGroupDescribeResponse(Response, key=KEY, versions=(1, 1), flexible=1):
    throttle_time_ms: int = int32(default=0)
    groups: list[DescribedGroup] = array(DescribedGroup, default=())
