"""RemoveRaftVoter (key 81)."""

from __future__ import annotations

from ..schema import ZERO_UUID, Request, Response, int16, int32, string, uuid

KEY = 81


class RemoveRaftVoterRequest(Request, key=KEY, versions=(0, 0), flexible=0):
    cluster_id: str | None = string(nullable=0, default="")
    voter_id: int = int32(default=0)
    voter_directory_id: bytes = uuid(default=ZERO_UUID)


class RemoveRaftVoterResponse(Response, key=KEY, versions=(0, 0), flexible=0):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default="")
