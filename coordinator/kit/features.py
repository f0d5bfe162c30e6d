"""Changes features of a running cluster, as kafka-features.sh does (KIP-584), by the request
that the tool sends. Raises ControlError with Kafka's words if the controller refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from coordinator.wire.messages.update_features import (
    FeatureUpdateKey,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)

from .in_process_requests import ask, check

if TYPE_CHECKING:
    from coordinator.server.broker import Broker

_METADATA_VERSION: Final = "metadata.version"
_TIMEOUT_MS: Final = 30_000
_UPGRADE, _SAFE_DOWNGRADE = 1, 2


def update(broker: Broker, now: int, feature: str, level: int) -> int | None:
    """Finalise a feature at another level; return the former level, or None if Kafka cannot go
    back to it. Raises ControlError."""
    before = broker.controller.cluster.features.get(feature, 0)
    request = UpdateFeaturesRequest(
        timeout_ms=_TIMEOUT_MS,
        feature_updates=[
            FeatureUpdateKey(
                feature=feature,
                max_version_level=level,
                upgrade_type=_SAFE_DOWNGRADE if level < before else _UPGRADE,
            )
        ],
    )
    answer = ask(broker, request, UpdateFeaturesResponse, now)
    check(answer.error_code, f"feature {feature} at {level}", answer.error_message)
    for result in answer.results:
        check(result.error_code, f"feature {feature} at {level}", result.error_message)
    return None if feature == _METADATA_VERSION and level > before else before
