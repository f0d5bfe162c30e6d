"""AddRaftVoter (key 80)."""

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
    uint16,
    uuid,
)

KEY = 80


class Listener(Struct):
    name: str = string(default="")
    host: str = string(default="")
    port: int = uint16(default=0)


class AddRaftVoterRequest(Request, key=KEY, versions=(0, 1), flexible=0):
    cluster_id: str | None = string(nullable=0, default="")
    timeout_ms: int = int32(default=0)
    voter_id: int = int32(default=0)
    voter_directory_id: bytes = uuid(default=ZERO_UUID)
    listeners: list[Listener] = array(Listener, default=())
    ack_when_committed: bool = boolean(since=1, default=True)


class AddRaftVoterResponse(Response, key=KEY, versions=(0, 1), flexible=0):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default="")
