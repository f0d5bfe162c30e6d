"""AddRaftVoter, RemoveRaftVoter and UpdateRaftVoter: the voters of the quorum of controllers."""

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
    string,
    struct,
    uint16,
    uuid,
)


class Listener(Struct):
    name: str = string(default="")
    host: str = string(default="")
    port: int = uint16(default=0)


class AddRaftVoterRequest(Request, key=80, versions=(0, 1), flexible=0):
    """AddRaftVoter (key 80): add a controller to the voters of the quorum."""

    cluster_id: str | None = string(nullable=0, default="")
    timeout_ms: int = int32(default=0)
    voter_id: int = int32(default=0)
    voter_directory_id: bytes = uuid(default=ZERO_UUID)
    listeners: list[Listener] = array(Listener, default=())
    ack_when_committed: bool = boolean(since=1, default=True)


class AddRaftVoterResponse(Response, key=80, versions=(0, 1), flexible=0):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default="")


class RemoveRaftVoterRequest(Request, key=81, versions=(0, 0), flexible=0):
    """RemoveRaftVoter (key 81): remove a controller from the voters of the quorum."""

    cluster_id: str | None = string(nullable=0, default="")
    voter_id: int = int32(default=0)
    voter_directory_id: bytes = uuid(default=ZERO_UUID)


class RemoveRaftVoterResponse(Response, key=81, versions=(0, 0), flexible=0):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default="")


class KRaftVersionFeature(Struct):
    min_supported_version: int = int16(default=0)
    max_supported_version: int = int16(default=0)


class UpdateRaftVoterRequest(Request, key=82, versions=(0, 0), flexible=0):
    """UpdateRaftVoter (key 82): change a voter's endpoints and supported versions."""

    cluster_id: str | None = string(nullable=0, default="")
    current_leader_epoch: int = int32(default=0)
    voter_id: int = int32(default=0)
    voter_directory_id: bytes = uuid(default=ZERO_UUID)
    listeners: list[Listener] = array(Listener, default=())
    kraft_version_feature: KRaftVersionFeature = struct(KRaftVersionFeature, default=...)


class CurrentLeader(Struct):
    leader_id: int = int32(default=-1)
    leader_epoch: int = int32(default=-1)
    host: str = string(default="")
    port: int = int32(default=0)


class UpdateRaftVoterResponse(Response, key=82, versions=(0, 0), flexible=0):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    current_leader: CurrentLeader = struct(CurrentLeader, tag=0, default=...)
