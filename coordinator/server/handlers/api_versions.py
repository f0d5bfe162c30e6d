"""ApiVersions (key 18): what the broker serves, and the features its cluster has (KIP-35, KIP-511,
KIP-584).

v5: a client may say which cluster and node it means; another one's is told REBOOTSTRAP_REQUIRED
(V44-4, KIP-1242). The body has always a v0 header, and an unknown version of the request is answered in v0
(`broker.connection` does that). v3+: the client names its software, and features are told; up to v3
those whose lowest level is 0 are left out. Finalised is what is served: features at level 0
(group.version, share.version, ...) do not appear, as in Kafka.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from coordinator.base.errors import ErrorCode
from coordinator.wire.messages.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)

from ..apis import served_by
from ..requests.call import Encoded

if TYPE_CHECKING:
    from ..broker import Broker
    from ..requests.call import Call, Result

_SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")
_FIRST_WITH_SOFTWARE = 3
_FIRST_WITH_LEVEL_0 = 4
_NO_NODE = -1
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
        error = _why_elsewhere(broker, request)
        if error:
            return ApiVersionsResponse(error_code=error)
    kept = broker.cluster.kept
    key = (_KEPT, call.version, broker.configs.release, broker.controller_release)
    if key not in kept:
        kept[key] = _answer(call.version, broker).encode(call.version)
    return Encoded(kept[key])


def _why_elsewhere(broker: Broker, request: ApiVersionsRequest) -> ErrorCode:
    """NONE where the client means this broker, or does not say whom it means (V44-4)."""
    cluster_id, node_id = request.cluster_id, request.node_id
    if cluster_id is None and node_id == _NO_NODE:
        return ErrorCode.NONE
    if cluster_id is None or node_id == _NO_NODE:
        return ErrorCode.INVALID_REQUEST
    if (cluster_id, node_id) != (broker.cluster.cluster_id, broker.node_id):
        return ErrorCode.REBOOTSTRAP_REQUIRED
    return ErrorCode.NONE


def _answer(version: int, broker: Broker) -> ApiVersionsResponse:
    keys = [
        ApiVersion(api_key=key, min_version=lowest, max_version=highest)
        for key, lowest, highest in served_by(broker).advertised(broker.controller_release)
    ]
    supported = [
        SupportedFeatureKey(name=name, min_version=of.lowest, max_version=of.highest)
        for name, of in broker.configs.release.features.items()
        if of.lowest > 0 or version >= _FIRST_WITH_LEVEL_0
    ]
    finalized = [
        FinalizedFeatureKey(name=name, max_version_level=level, min_version_level=level)
        for name, level in broker.cluster.features.items()
        if level
    ]
    return ApiVersionsResponse(
        api_keys=keys,
        supported_features=supported,
        finalized_features_epoch=_FINALIZED_EPOCH,
        finalized_features=finalized,
    )
