"""ApiVersions (key 18): what the broker serves, and the features its cluster has (KIP-35, KIP-511,
KIP-584).

The body has always a v0 header, and an unknown version of the request is answered in v0
(`broker.connection` does that). v3+: the client names its software, and features are told; up to v3
those whose lowest level is 0 are left out. Finalised is what is served: features at level 0
(group.version, share.version, ...) do not appear, as in Kafka.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...errors import ErrorCode
from ...wire.messages.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)
from ..apis import SERVED
from ..call import Encoded

if TYPE_CHECKING:
    from ..call import Call, Result
    from ..core import Broker

_SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")
_FIRST_WITH_SOFTWARE = 3
_FIRST_WITH_LEVEL_0 = 4
_SUPPORTED = {
    "group.version": (0, 1),
    "kraft.version": (0, 1),
    "metadata.version": (7, 30),
    "share.version": (0, 1),
    "streams.version": (0, 1),
    "transaction.version": (0, 2),
    "eligible.leader.replicas.version": (0, 1),
}
_FINALIZED_EPOCH = 0

_KEPT = "api_versions"


def handle(broker: Broker, call: Call) -> Result:
    """The same bytes for everybody, encoded once a version."""
    request = call.message
    assert isinstance(request, ApiVersionsRequest)
    if call.version >= _FIRST_WITH_SOFTWARE:
        if not (
            _SOFTWARE.fullmatch(request.client_software_name)
            and _SOFTWARE.fullmatch(request.client_software_version)
        ):
            return ApiVersionsResponse(error_code=ErrorCode.INVALID_REQUEST)
    kept = broker.cluster.kept
    key = (_KEPT, call.version)
    if key not in kept:
        kept[key] = _answer(call.version, broker.cluster.features).encode(call.version)
    return Encoded(kept[key])


def supported_levels(feature: str) -> tuple[int, int] | None:
    """Lowest and highest level of a feature that Kafka 4.3.1 supports; None: there is no such
    feature."""
    return _SUPPORTED.get(feature)


def _answer(version: int, levels: Mapping[str, int]) -> ApiVersionsResponse:
    keys = [
        ApiVersion(api_key=key, min_version=api.lowest, max_version=api.highest)
        for key, api in sorted(SERVED.items())
    ]
    supported = [
        SupportedFeatureKey(name=name, min_version=lowest, max_version=highest)
        for name, (lowest, highest) in _SUPPORTED.items()
        if lowest > 0 or version >= _FIRST_WITH_LEVEL_0
    ]
    finalized = [
        FinalizedFeatureKey(name=name, max_version_level=level, min_version_level=level)
        for name, level in levels.items()
        if level
    ]
    return ApiVersionsResponse(
        api_keys=keys,
        supported_features=supported,
        finalized_features_epoch=_FINALIZED_EPOCH,
        finalized_features=finalized,
    )
