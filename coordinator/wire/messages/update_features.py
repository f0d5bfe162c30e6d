"""UpdateFeatures (key 57): finalise features of the cluster at other levels (KIP-584)."""

from __future__ import annotations

from ..schema import Request, Response, Struct, array, boolean, int16, int32, int8, string

KEY = 57


class FeatureUpdateKey(Struct):
    feature: str = string(default="")
    max_version_level: int = int16(default=0)
    upgrade_type: int = int8(since=1, default=1)
    allow_downgrade: bool = boolean(until=0, default=False)


class UpdateFeaturesRequest(Request, key=KEY, versions=(0, 2), flexible=0):
    timeout_ms: int = int32(default=60000)
    feature_updates: list[FeatureUpdateKey] = array(FeatureUpdateKey, default=())
    validate_only: bool = boolean(since=1, default=False)


class UpdatableFeatureResult(Struct):
    feature: str = string(until=1, default="")
    error_code: int = int16(until=1, default=0)
    error_message: str | None = string(until=1, nullable=0, default="")


class UpdateFeaturesResponse(Response, key=KEY, versions=(0, 2), flexible=0):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default="")
    results: list[UpdatableFeatureResult] = array(UpdatableFeatureResult, until=1, default=())
