"""Restart of a broker as another release of Kafka.

Finalised features keep their levels until UpdateFeatures changes them; a release that does not
support a level at which a feature is or was finalised does not start (UPG-3); the broker's
settings stay. Does not know hosts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from coordinator.base.releases import ReleaseError, release_named

from ..settings.broker_configs import ConfigError
from .options import ClusterError

if TYPE_CHECKING:
    from coordinator.base.releases import Release

    from ..settings.broker_configs import BrokerConfigs

_METADATA_VERSION: Final = "metadata.version"


def chosen(kafka_version: str | None) -> Release | None:
    """Return the release that a user asks for, or None to keep the broker's. Raises ClusterError."""
    try:
        return None if kafka_version is None else release_named(kafka_version)
    except ReleaseError as error:
        raise ClusterError(f"kafka_version={error}") from None


def stays_what_it_is(broker: int, kafka_version: str | None) -> str:
    """Return the remark for a user who gives a release for a broker that is only paused."""
    return (
        f"kafka_version={kafka_version!r}: broker {broker} is paused, and its process goes on as "
        "what it is; stop it, and start it as another release"
    )


def become(
    broker: int, configs: BrokerConfigs, release: Release, levels: Mapping[str, int]
) -> None:
    """Switch a stopped broker to a release. `levels`: the highest levels at which features were
    finalised. Raises ClusterError if the release does not start with them; then nothing has
    changed.
    """
    check_levels(broker, release, levels)
    try:
        configs.become(release)
    except ConfigError as error:
        raise ClusterError(f"broker {broker} does not start as Kafka {release}: {error}") from None


def check_levels(broker: int, release: Release, levels: Mapping[str, int]) -> None:
    """Raise ClusterError if a release does not support the levels at which features were finalised."""
    for name, level in levels.items():
        supported = release.features.get(name)
        least, most = (0, 0) if supported is None else (supported.lowest, supported.highest)
        if level and not least <= level <= most:
            raise ClusterError(
                f"broker {broker} does not start as Kafka {release}: {_kafkas_words(name, level, least, most)}"
                f" ({name} was finalised at {level}; Kafka {release} has {least}-{most})"
            )


def _kafkas_words(name: str, level: int, least: int, most: int) -> str:
    """Return the last message of Kafka's process that cannot start."""
    if name == _METADATA_VERSION:
        return f"No MetadataVersion with feature level {level}"
    return (
        f"Tried to apply FeatureLevelRecord FeatureLevelRecord(name='{name}', featureLevel={level}), "
        f"but this controller only supports versions {least}-{most}"
    )
