"""CreateTopics (key 19): make topics.

4: partitions and replication factor may be -1 for the broker's default (KIP-464). 5: flexible, the
answer describes the topic (KIP-525). 6: quota errors (KIP-599). 7: topic ids (KIP-516). 0 and 1
were removed in Kafka 4.0.
"""

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
    uuid,
)

KEY = 19


class CreatableReplicaAssignment(Struct):
    partition_index: int = int32(default=0)
    broker_ids: list[int] = array(int32, default=())


class CreatableTopicConfig(Struct):
    name: str = string(default="")
    value: str | None = string(nullable=0, default="")


class CreatableTopic(Struct):
    name: str = string(default="")
    num_partitions: int = int32(default=0)
    replication_factor: int = int16(default=0)
    assignments: list[CreatableReplicaAssignment] = array(CreatableReplicaAssignment, default=())
    configs: list[CreatableTopicConfig] = array(CreatableTopicConfig, default=())


class CreateTopicsRequest(Request, key=KEY, versions=(0, 7), flexible=5):
    topics: list[CreatableTopic] = array(CreatableTopic, default=())
    timeout_ms: int = int32(default=60000)
    validate_only: bool = boolean(since=1, default=False)


class CreatableTopicConfigs(Struct):
    name: str = string(since=5, default="")
    value: str | None = string(since=5, nullable=5, default="")
    read_only: bool = boolean(since=5, default=False)
    config_source: int = int8(since=5, default=-1)
    is_sensitive: bool = boolean(since=5, default=False)


class CreatableTopicResult(Struct):
    name: str = string(default="")
    topic_id: bytes = uuid(since=7, default=ZERO_UUID)
    error_code: int = int16(default=0)
    error_message: str | None = string(since=1, nullable=1, default="")
    num_partitions: int = int32(since=5, default=-1)
    replication_factor: int = int16(since=5, default=-1)
    configs: list[CreatableTopicConfigs] | None = array(
        CreatableTopicConfigs, since=5, nullable=5, default=()
    )
    topic_config_error_code: int = int16(since=5, tag=0, default=0)


class CreateTopicsResponse(Response, key=KEY, versions=(0, 7), flexible=5):
    throttle_time_ms: int = int32(since=2, default=0)
    topics: list[CreatableTopicResult] = array(CreatableTopicResult, default=())
