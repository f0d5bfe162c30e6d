"""ApiVersions (key 18): the APIs and versions that the broker supports; a client's first request.

1: throttle time. 3: flexible, the client sends its name and version (KIP-511); features in
tagged fields (KIP-584). 4: a feature may have lowest version 0. 5: the client sends the cluster
and node that it expects (KIP-1242). The response header is never flexible, and a client that
sends too high a version is answered in version 0.
"""

from __future__ import annotations

from ..schema import Request, Response, Struct, array, boolean, int16, int32, int64, string

KEY = 18


class ApiVersionsRequest(Request, key=KEY, versions=(0, 5), flexible=3):
    client_software_name: str = string(since=3, default="")
    client_software_version: str = string(since=3, default="")
    cluster_id: str | None = string(since=5, nullable=5, default=None)
    node_id: int = int32(since=5, default=-1)


class ApiVersion(Struct):
    api_key: int = int16(default=0)
    min_version: int = int16(default=0)
    max_version: int = int16(default=0)


class SupportedFeatureKey(Struct):
    name: str = string(since=3, default="")
    min_version: int = int16(since=3, default=0)
    max_version: int = int16(since=3, default=0)


class FinalizedFeatureKey(Struct):
    name: str = string(since=3, default="")
    max_version_level: int = int16(since=3, default=0)
    min_version_level: int = int16(since=3, default=0)


class ApiVersionsResponse(Response, key=KEY, versions=(0, 5), flexible=3):
    error_code: int = int16(default=0)
    api_keys: list[ApiVersion] = array(ApiVersion, default=())
    throttle_time_ms: int = int32(since=1, default=0)
    supported_features: list[SupportedFeatureKey] = array(
        SupportedFeatureKey, since=3, tag=0, default=()
    )
    finalized_features_epoch: int = int64(since=3, tag=1, default=-1)
    finalized_features: list[FinalizedFeatureKey] = array(
        FinalizedFeatureKey, since=3, tag=2, default=()
    )
    zk_migration_ready: bool = boolean(since=3, tag=3, default=False)
