"""Requests between brokers and their controller: registration, heartbeats, ISR changes, log
directories, producer ids and forwarded requests.
"""

from __future__ import annotations

from ..schema import (
    Request,
    Response,
    Struct,
    ZERO_UUID,
    array,
    binary,
    boolean,
    int16,
    int32,
    int64,
    int8,
    string,
    uint16,
    uuid,
)


class Listener(Struct):
    name: str = string(default="")
    host: str = string(default="")
    port: int = uint16(default=0)
    security_protocol: int = int16(default=0)


class Feature(Struct):
    name: str = string(default="")
    min_supported_version: int = int16(default=0)
    max_supported_version: int = int16(default=0)


class BrokerRegistrationRequest(Request, key=62, versions=(0, 4), flexible=0):
    """BrokerRegistration (key 62): register a starting broker with the controller."""

    broker_id: int = int32(default=0)
    cluster_id: str = string(default="")
    incarnation_id: bytes = uuid(default=ZERO_UUID)
    listeners: list[Listener] = array(Listener, default=())
    features: list[Feature] = array(Feature, default=())
    rack: str | None = string(nullable=0, default="")
    is_migrating_zk_broker: bool = boolean(since=1, default=False)
    log_dirs: list[bytes] = array(uuid, since=2, default=())
    previous_broker_epoch: int = int64(since=3, default=-1)


class BrokerRegistrationResponse(Response, key=62, versions=(0, 4), flexible=0):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    broker_epoch: int = int64(default=-1)


class BrokerHeartbeatRequest(Request, key=63, versions=(0, 2), flexible=0):
    """BrokerHeartbeat (key 63): keep a broker's session alive, and ask to be unfenced or to shut
    down.
    """

    broker_id: int = int32(default=0)
    broker_epoch: int = int64(default=-1)
    current_metadata_offset: int = int64(default=0)
    want_fence: bool = boolean(default=False)
    want_shut_down: bool = boolean(default=False)
    offline_log_dirs: list[bytes] = array(uuid, since=1, tag=0, default=())
    cordoned_log_dirs: list[bytes] | None = array(uuid, since=2, nullable=2, tag=1, default=None)


class BrokerHeartbeatResponse(Response, key=63, versions=(0, 2), flexible=0):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    is_caught_up: bool = boolean(default=False)
    is_fenced: bool = boolean(default=True)
    should_shut_down: bool = boolean(default=False)


class UnregisterBrokerRequest(Request, key=64, versions=(0, 0), flexible=0):
    """UnregisterBroker (key 64): remove a broker's registration."""

    broker_id: int = int32(default=0)


class UnregisterBrokerResponse(Response, key=64, versions=(0, 0), flexible=0):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default="")


class ControllerRegistrationRequest(Request, key=70, versions=(0, 0), flexible=0):
    """ControllerRegistration (key 70): register a controller with the active one."""

    controller_id: int = int32(default=0)
    incarnation_id: bytes = uuid(default=ZERO_UUID)
    zk_migration_ready: bool = boolean(default=False)
    listeners: list[Listener] = array(Listener, default=())
    features: list[Feature] = array(Feature, default=())


class ControllerRegistrationResponse(Response, key=70, versions=(0, 0), flexible=0):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default="")


class UnregisterControllerRequest(Request, key=94, versions=(0, 0), flexible=0):
    """UnregisterController (key 94): remove the registration of a controller that will not come
    back.
    """

    controller_id: int = int32(default=0)


class UnregisterControllerResponse(Response, key=94, versions=(0, 0), flexible=0):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default="")


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


class AlterPartitionRequest(Request, key=56, versions=(2, 3), flexible=2):
    """AlterPartition (key 56): a leader asks the controller to change the ISR of its partitions."""

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


class AlterPartitionResponse(Response, key=56, versions=(2, 3), flexible=2):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    topics: list[AlterPartitionResponseTopicData] = array(
        AlterPartitionResponseTopicData, default=()
    )


class AssignReplicasToDirsRequestPartitionData(Struct):
    partition_index: int = int32(default=0)


class AssignReplicasToDirsRequestTopicData(Struct):
    topic_id: bytes = uuid(default=ZERO_UUID)
    partitions: list[AssignReplicasToDirsRequestPartitionData] = array(
        AssignReplicasToDirsRequestPartitionData, default=()
    )


class AssignReplicasToDirsRequestDirectoryData(Struct):
    id: bytes = uuid(default=ZERO_UUID)
    topics: list[AssignReplicasToDirsRequestTopicData] = array(
        AssignReplicasToDirsRequestTopicData, default=()
    )


class AssignReplicasToDirsRequest(Request, key=73, versions=(0, 0), flexible=0):
    """AssignReplicasToDirs (key 73): a broker reports the log directories of its replicas."""

    broker_id: int = int32(default=0)
    broker_epoch: int = int64(default=-1)
    directories: list[AssignReplicasToDirsRequestDirectoryData] = array(
        AssignReplicasToDirsRequestDirectoryData, default=()
    )


class AssignReplicasToDirsResponsePartitionData(Struct):
    partition_index: int = int32(default=0)
    error_code: int = int16(default=0)


class AssignReplicasToDirsResponseTopicData(Struct):
    topic_id: bytes = uuid(default=ZERO_UUID)
    partitions: list[AssignReplicasToDirsResponsePartitionData] = array(
        AssignReplicasToDirsResponsePartitionData, default=()
    )


class AssignReplicasToDirsResponseDirectoryData(Struct):
    id: bytes = uuid(default=ZERO_UUID)
    topics: list[AssignReplicasToDirsResponseTopicData] = array(
        AssignReplicasToDirsResponseTopicData, default=()
    )


class AssignReplicasToDirsResponse(Response, key=73, versions=(0, 0), flexible=0):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    directories: list[AssignReplicasToDirsResponseDirectoryData] = array(
        AssignReplicasToDirsResponseDirectoryData, default=()
    )


class AllocateProducerIdsRequest(Request, key=67, versions=(0, 0), flexible=0):
    """AllocateProducerIds (key 67): a broker asks the controller for a block of producer ids."""

    broker_id: int = int32(default=0)
    broker_epoch: int = int64(default=-1)


class AllocateProducerIdsResponse(Response, key=67, versions=(0, 0), flexible=0):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    producer_id_start: int = int64(default=0)
    producer_id_len: int = int32(default=0)


class EnvelopeRequest(Request, key=58, versions=(0, 0), flexible=0):
    """Envelope (key 58): a broker forwards a client's request to the controller, with the client's
    principal and address.
    """

    request_data: bytes = binary(default=b"")
    request_principal: bytes | None = binary(nullable=0, default=b"")
    client_host_address: bytes = binary(default=b"")


class EnvelopeResponse(Response, key=58, versions=(0, 0), flexible=0):
    response_data: bytes | None = binary(nullable=0, default=None)
    error_code: int = int16(default=0)
