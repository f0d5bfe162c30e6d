"""CreateTopics, DeleteTopics, CreatePartitions and DeleteRecords."""

from __future__ import annotations

from ..schema import (
    Request,
    Response,
    Struct,
    ZERO_UUID,
    array,
    boolean,
    int16,
    int32,
    int64,
    int8,
    string,
    uuid,
)


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


class CreateTopicsRequest(Request, key=19, versions=(0, 7), flexible=5):
    """CreateTopics (key 19): create topics.

    4: partitions and replication factor may be -1 for the broker's default (KIP-464). 5:
    flexible, the response describes the topic (KIP-525). 6: quota errors (KIP-599). 7: topic ids
    (KIP-516). 0 and 1 were removed in Kafka 4.0.
    """

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


class CreateTopicsResponse(Response, key=19, versions=(0, 7), flexible=5):
    throttle_time_ms: int = int32(since=2, default=0)
    topics: list[CreatableTopicResult] = array(CreatableTopicResult, default=())


class DeleteTopicState(Struct):
    name: str | None = string(since=6, nullable=6, default=None)
    topic_id: bytes = uuid(since=6, default=ZERO_UUID)


class DeleteTopicsRequest(Request, key=20, versions=(0, 6), flexible=4):
    """DeleteTopics (key 20): delete topics.

    1: throttle time. 4: flexible. 5: error messages; quota errors (KIP-599). 6: by name or by id
    (KIP-516). 0 was removed in Kafka 4.0.
    """

    topics: list[DeleteTopicState] = array(DeleteTopicState, since=6, default=())
    topic_names: list[str] = array(string, until=5, default=())
    timeout_ms: int = int32(default=0)


class DeletableTopicResult(Struct):
    name: str | None = string(nullable=6, default="")
    topic_id: bytes = uuid(since=6, default=ZERO_UUID)
    error_code: int = int16(default=0)
    error_message: str | None = string(since=5, nullable=5, default=None)


class DeleteTopicsResponse(Response, key=20, versions=(0, 6), flexible=4):
    throttle_time_ms: int = int32(since=1, default=0)
    responses: list[DeletableTopicResult] = array(DeletableTopicResult, default=())


class CreatePartitionsAssignment(Struct):
    broker_ids: list[int] = array(int32, default=())


class CreatePartitionsTopic(Struct):
    name: str = string(default="")
    count: int = int32(default=0)
    assignments: list[CreatePartitionsAssignment] | None = array(
        CreatePartitionsAssignment, nullable=0, default=()
    )


class CreatePartitionsRequest(Request, key=37, versions=(0, 3), flexible=2):
    """CreatePartitions (key 37): add partitions to topics (KIP-195).

    2: flexible. 3: quota errors (KIP-599).
    """

    topics: list[CreatePartitionsTopic] = array(CreatePartitionsTopic, default=())
    timeout_ms: int = int32(default=0)
    validate_only: bool = boolean(default=False)


class CreatePartitionsTopicResult(Struct):
    name: str = string(default="")
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default=None)


class CreatePartitionsResponse(Response, key=37, versions=(0, 3), flexible=2):
    throttle_time_ms: int = int32(default=0)
    results: list[CreatePartitionsTopicResult] = array(CreatePartitionsTopicResult, default=())


class DeleteRecordsPartition(Struct):
    partition_index: int = int32(default=0)
    offset: int = int64(default=0)


class DeleteRecordsTopic(Struct):
    name: str = string(default="")
    partitions: list[DeleteRecordsPartition] = array(DeleteRecordsPartition, default=())


class DeleteRecordsRequest(Request, key=21, versions=(0, 2), flexible=2):
    """DeleteRecords (key 21): move partitions' log start offset forward (KIP-107).

    -1 means up to the high watermark. 2: flexible.
    """

    topics: list[DeleteRecordsTopic] = array(DeleteRecordsTopic, default=())
    timeout_ms: int = int32(default=0)


class DeleteRecordsPartitionResult(Struct):
    partition_index: int = int32(default=0)
    low_watermark: int = int64(default=0)
    error_code: int = int16(default=0)


class DeleteRecordsTopicResult(Struct):
    name: str = string(default="")
    partitions: list[DeleteRecordsPartitionResult] = array(DeleteRecordsPartitionResult, default=())


class DeleteRecordsResponse(Response, key=21, versions=(0, 2), flexible=2):
    throttle_time_ms: int = int32(default=0)
    topics: list[DeleteRecordsTopicResult] = array(DeleteRecordsTopicResult, default=())
