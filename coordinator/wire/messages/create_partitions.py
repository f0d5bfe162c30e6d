"""CreatePartitions (key 37): grow topics (KIP-195).

2: flexible. 3: quota errors (KIP-599).
"""

from __future__ import annotations

from ..schema import Request, Response, Struct, array, boolean, int16, int32, string

KEY = 37


class CreatePartitionsAssignment(Struct):
    broker_ids: list[int] = array(int32, default=())


class CreatePartitionsTopic(Struct):
    name: str = string(default="")
    count: int = int32(default=0)
    assignments: list[CreatePartitionsAssignment] | None = array(
        CreatePartitionsAssignment, nullable=0, default=()
    )


class CreatePartitionsRequest(Request, key=KEY, versions=(0, 3), flexible=2):
    topics: list[CreatePartitionsTopic] = array(CreatePartitionsTopic, default=())
    timeout_ms: int = int32(default=0)
    validate_only: bool = boolean(default=False)


class CreatePartitionsTopicResult(Struct):
    name: str = string(default="")
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default=None)


class CreatePartitionsResponse(Response, key=KEY, versions=(0, 3), flexible=2):
    throttle_time_ms: int = int32(default=0)
    results: list[CreatePartitionsTopicResult] = array(CreatePartitionsTopicResult, default=())
