"""AlterPartition (key 56)."""

from __future__ import annotations

from ..schema import ZERO_UUID, Request, Response, Struct, array, int16, int32, int64, int8, uuid

KEY = 56


class BrokerState(Struct):
    broker_id: int = int32(since=3, default=0)
    broker_epoch: int = int64(since=3, default=-1)


class AlterPartitionRequestPartitionData(Struct):
    partition_index: int = int32(default=0)
    leader_epoch: int = int32(default=0)
    new_isr_with_epochs: list[BrokerState] = array(BrokerState, since=3, default=())
    new_isr: list[int] = array(int32, until=2, default=())
    leader_recovery_state: int = int8(default=0)
    partition_epoch: int = int32(default=0)


class AlterPartitionRequestTopicData(Struct):
    topic_id: bytes = uuid(default=ZERO_UUID)
    partitions: list[AlterPartitionRequestPartitionData] = array(
        AlterPartitionRequestPartitionData, default=()
    )


class AlterPartitionRequest(Request, key=KEY, versions=(2, 3), flexible=2):
    broker_id: int = int32(default=0)
    broker_epoch: int = int64(default=-1)
    topics: list[AlterPartitionRequestTopicData] = array(AlterPartitionRequestTopicData, default=())


class AlterPartitionResponsePartitionData(Struct):
    partition_index: int = int32(default=0)
    error_code: int = int16(default=0)
    leader_id: int = int32(default=0)
    leader_epoch: int = int32(default=0)
    isr: list[int] = array(int32, default=())
    leader_recovery_state: int = int8(default=0)
    partition_epoch: int = int32(default=0)


class AlterPartitionResponseTopicData(Struct):
    topic_id: bytes = uuid(default=ZERO_UUID)
    partitions: list[AlterPartitionResponsePartitionData] = array(
        AlterPartitionResponsePartitionData, default=()
    )


class AlterPartitionResponse(Response, key=KEY, versions=(2, 3), flexible=2):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    topics: list[AlterPartitionResponseTopicData] = array(
        AlterPartitionResponseTopicData, default=()
    )
