"""ApiVersions (key 18): the API versions that the broker serves, and the features of its cluster
(KIP-35, KIP-511, KIP-584).

v3+: the client names its software, and features are returned; up to v3 without those whose
lowest level is 0. v5: a client may name the cluster and node it expects; another node answers
REBOOTSTRAP_REQUIRED (V44-4, KIP-1242). The response header is always v0, and an unknown version
of the request is answered in v0 (by `server.connections.connection`). Finalised features at
level 0 (group.version, share.version, ...) are left out, as in Kafka.
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
    """Handle an ApiVersions; the response is the same for every client and encoded once for each
    version.
    """
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
    """Return REBOOTSTRAP_REQUIRED if the client expects another cluster or node, or another error
    if it names only one of them; else NONE (V44-4).
    """
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
