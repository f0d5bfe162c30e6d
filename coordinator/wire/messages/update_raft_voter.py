"""UpdateRaftVoter (key 82)."""

from __future__ import annotations

from ..schema import (
    ZERO_UUID,
    Request,
    Response,
    Struct,
    array,
    int16,
    int32,
    string,
    struct,
    uint16,
    uuid,
)

KEY = 82


class Listener(Struct):
    name: str = string(default="")
    host: str = string(default="")
    port: int = uint16(default=0)


class KRaftVersionFeature(Struct):
    min_supported_version: int = int16(default=0)
    max_supported_version: int = int16(default=0)


class UpdateRaftVoterRequest(Request, key=KEY, versions=(0, 0), flexible=0):
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


class UpdateRaftVoterResponse(Response, key=KEY, versions=(0, 0), flexible=0):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    current_leader: CurrentLeader = struct(CurrentLeader, tag=0, default=...)
