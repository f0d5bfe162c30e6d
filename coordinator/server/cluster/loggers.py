"""Levels of a broker's loggers for DescribeConfigs and IncrementalAlterConfigs (KIP-412).

Owns the set of loggers: the root and those of Kafka's coordinators, out of some two hundred in a
running Kafka. A logger without its own level has that of the root; a request changes all loggers
it names or none; levels last until the broker's process ends. Nothing is written through these
loggers.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Final

from coordinator.base.errors import ErrorCode
from coordinator.base.releases import Release

from ..settings.definitions import ConfigSource, ConfigType
from ..settings.views import ALL, ConfigEntry
from .config_changes import Change, ConfigRefused, Operation

ROOT: Final = "root"
_INFO: Final = "INFO"
_LEVELS: Final = ("DEBUG", "ERROR", "FATAL", "INFO", "TRACE", "WARN")
_RUNTIME, _GROUP = (
    "org.apache.kafka.coordinator.common.runtime.",
    "org.apache.kafka.coordinator.group.",
)
NAMES: Final = frozenset(
    {
        ROOT,
        "kafka.coordinator.transaction.TransactionCoordinator",
        "kafka.coordinator.transaction.TransactionMarkerChannelManager",
        "kafka.coordinator.transaction.TransactionStateManager",
        "org.apache.kafka.coordinator.share.ShareCoordinatorService",
        "org.apache.kafka.coordinator.share.ShareCoordinatorShard",
        "org.apache.kafka.coordinator.transaction.RPCProducerIdManager",
        "org.apache.kafka.coordinator.transaction.TransactionMetadata",
        "org.apache.kafka.coordinator.transaction.TxnMarkerQueue",
        f"{_RUNTIME}CoordinatorExecutorImpl",
        f"{_RUNTIME}CoordinatorLoaderImpl",
        f"{_RUNTIME}CoordinatorRuntime",
        f"{_RUNTIME}CoordinatorTimerImpl",
        f"{_RUNTIME}MultiThreadedEventProcessor",
        f"{_RUNTIME}SnapshottableCoordinator",
        f"{_GROUP}GroupConfig",
        f"{_GROUP}GroupCoordinatorConfig",
        f"{_GROUP}GroupCoordinatorService",
        f"{_GROUP}GroupCoordinatorShard",
        f"{_GROUP}GroupMetadataManager",
        f"{_GROUP}OffsetMetadataManager",
        f"{_GROUP}assignor.SimpleAssignor",
        f"{_GROUP}assignor.UniformAssignor",
        f"{_GROUP}classic.ClassicGroup",
        f"{_GROUP}modern.consumer.ConsumerGroup",
    }
)


class Loggers:
    """Logger levels of one broker."""

    def __init__(self) -> None:
        self._levels: dict[str, str] = {}

    def entries(self, names: Container[str] = ALL) -> list[ConfigEntry]:
        """Return the named loggers' levels as configuration entries."""
        root = self._levels.get(ROOT, _INFO)
        return [
            ConfigEntry(
                name,
                self._levels.get(name, root),
                False,
                ConfigSource.DYNAMIC_BROKER_LOGGER,
                False,
                ConfigType.UNKNOWN,
                [],
            )
            for name in sorted(NAMES)
            if name in names
        ]

    def alter(self, changes: Iterable[Change], release: Release, *, validate_only: bool) -> None:
        """Set or remove levels. Raises ConfigRefused, and then changes nothing."""
        changes = list(changes)
        for change in changes:
            _check(change, release)
        if validate_only:
            return
        for name, operation, value in changes:
            if operation == Operation.SET and value is not None:
                self._levels[name] = value
            else:
                self._levels.pop(name, None)

    def reset(self) -> None:
        """Remove all levels, as the end of the broker's process does."""
        self._levels.clear()


def _check(change: Change, release: Release) -> None:
    name, operation, level = change
    if operation not in (Operation.SET, Operation.DELETE):
        if operation in (Operation.APPEND, Operation.SUBTRACT):
            what = f"{Operation(operation).name} operation"
        elif not release.has("CFG-44-5"):
            raise ConfigRefused(ErrorCode.UNKNOWN_SERVER_ERROR, None)
        else:
            what = f"Unknown operation type {operation}"
        raise ConfigRefused(
            ErrorCode.INVALID_REQUEST, f"{what} is not allowed for the BROKER_LOGGER resource"
        )
    if name not in NAMES:
        raise ConfigRefused(ErrorCode.INVALID_CONFIG, f"Logger {name} does not exist!")
    if operation == Operation.SET and level not in _LEVELS:
        raise ConfigRefused(
            ErrorCode.INVALID_CONFIG,
            f"Cannot set the log level of {name} to {level} as it is not a supported log level. "
            f"Valid log levels are {', '.join(_LEVELS)}",
        )
    if operation == Operation.DELETE and name == ROOT:
        raise ConfigRefused(
            ErrorCode.INVALID_REQUEST, "Removing the log level of the root logger is not allowed"
        )
