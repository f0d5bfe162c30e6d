"""UpdateFeatures (key 57), v0-2 (KIP-584): v0 allows a downgrade or not, v1 has its kinds and a dry
run, v2 returns no results for each feature.

Checks follow Kafka's order, features in the order of a Java HashMap of their names (HM-3); a
level must be supported by the controller and every registered broker (UPG-2). group.version and
share.version switch consumer groups and share groups on and off, transaction.version 0 leaves
only the first version of transactions (TXN-12), eligible.leader.replicas.version 0 clears
eligible leader replicas (ELR-1). Divergence: streams.version is only stored and shown;
kraft.version is not changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coordinator.base.errors import ErrorCode
from coordinator.base.java_hash import in_hash_order, java_hash
from coordinator.events.cluster import FeatureChanged
from coordinator.wire.messages.update_features import (
    FeatureUpdateKey,
    UpdatableFeatureResult,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)

from ..cluster.config_changes import keep_eligible
from ..cluster.model import ELIGIBLE_REPLICAS

if TYPE_CHECKING:
    from coordinator.base.releases import Feature

    from ..broker import Broker
    from ..requests.call import Call

_UPGRADE, _SAFE_DOWNGRADE, _UNSAFE_DOWNGRADE = 1, 2, 3
_METADATA_VERSION, _KRAFT_VERSION = "metadata.version", "kraft.version"
_FAILED = "The update failed for all features since the following feature had an error: "


def handle(broker: Broker, call: Call) -> UpdateFeaturesResponse:
    """Handle an UpdateFeatures; the first refusal refuses all."""
    request = call.message
    assert isinstance(request, UpdateFeaturesRequest)
    if not broker.reaches_controller:
        return UpdateFeaturesResponse(
            error_code=ErrorCode.REQUEST_TIMED_OUT,
            error_message=ErrorCode.REQUEST_TIMED_OUT.message,
        )
    named = {
        update.feature: update for update in request.feature_updates
    }  # of one that is named twice the last counts
    updates = [named[name] for name in in_hash_order(named, java_hash)]
    for update in updates:
        kind = (
            update.upgrade_type
            if call.version > 0
            else _SAFE_DOWNGRADE
            if update.allow_downgrade
            else _UPGRADE
        )
        why = _why_not(broker, update, kind)
        if why is not None:
            return UpdateFeaturesResponse(
                error_code=ErrorCode.INVALID_UPDATE_VERSION, error_message=_FAILED + why
            )
    if not (call.version > 0 and request.validate_only):
        for update in updates:
            _set(broker, update, call)
    done = [
        UpdatableFeatureResult(feature=update.feature, error_message="NONE")
        for update in request.feature_updates
    ]
    return UpdateFeaturesResponse(error_message=None, results=done)


def _set(broker: Broker, update: FeatureUpdateKey, call: Call) -> None:
    """Finalise a checked level at the controller, which publishes it to every broker."""
    name, level = update.feature, update.max_version_level
    if level == broker.controller.cluster.features.get(name, 0):
        return
    if name == ELIGIBLE_REPLICAS and level and not broker.controller.keeps_eligible:
        keep_eligible(broker.configs_of_all)
    broker.controller.apply(FeatureChanged(name, level), call.now, call.cause)


def _why_not(broker: Broker, update: FeatureUpdateKey, kind: int) -> str | None:
    name, level = update.feature, update.max_version_level
    current = broker.controller.cluster.features.get(name, 0)
    supported = broker.controller_release.features.get(name)
    invalid = f"Invalid update version {level} for feature {name}. "
    if kind not in (_UPGRADE, _SAFE_DOWNGRADE, _UNSAFE_DOWNGRADE):
        return f"{invalid}The controller does not support the given upgrade type."
    if level < 0:
        return f"{invalid}A feature version cannot be less than 0."
    if supported is None and level > 0:
        return f"{invalid}Local controller {broker.cluster.controller_id} does not support this feature."
    if supported is None:
        return f"{invalid}Feature {name} not found."
    why = _lacks(supported, level)
    if why:
        return f"{invalid}Local controller {broker.cluster.controller_id} {why}"
    for node, release in broker.registered_releases():
        why = _lacks(release.features.get(name), level)
        if why:
            return f"{invalid}Broker {node} {why}"
    if level < current and kind == _UPGRADE:
        return f"{invalid}Can't downgrade the version of this feature without setting the upgrade type to either safe or unsafe downgrade."
    if level > current and kind != _UPGRADE:
        return f"{invalid}Can't downgrade to a newer version."
    if level < current and name == _METADATA_VERSION:
        return f"Unsupported metadata.version downgrade from {current} to {level}. {_NO_DOWNGRADE[kind]}"
    if name == _KRAFT_VERSION and level != current:
        return f"{invalid}The emulator serves level {current} and cannot change it."
    return None


def _lacks(supported: Feature | None, level: int) -> str:
    """Return the reason why a node does not support a level of a feature, or "" if it does."""
    least, most = (0, 0) if supported is None else (supported.lowest, supported.highest)
    if least <= level <= most:
        return ""
    return f"only supports versions {least}-{most}" if most else "does not support this feature."


_NO_DOWNGRADE = {
    _SAFE_DOWNGRADE: "Refusing to perform the requested downgrade because it might delete metadata information.",
    _UNSAFE_DOWNGRADE: "Unsafe metadata downgrade is not supported in this version.",
}
