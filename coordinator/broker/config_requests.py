"""What AlterConfigs and IncrementalAlterConfigs share: whose rules a resource's change goes by, and telling the log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from ..cluster.config_changes import (
    Change,
    ConfigRefused,
    ResourceType,
    alter_broker,
    alter_client_metrics,
    alter_group,
    alter_topic,
    check_form,
    check_node,
)
from ..errors import ErrorCode
from .core import Broker, Call

_STREAM_NAMES = {
    ResourceType.TOPIC: "topic", ResourceType.BROKER: "broker", ResourceType.CLIENT_METRICS: "client metrics", ResourceType.GROUP: "group",
}  # fmt: skip


def doubled(resources: Iterable[tuple[int, str]]) -> frozenset[tuple[int, str]]:
    """Resources (type, name) that a request names more than once: all of them are refused."""
    return frozenset(resource for resource, count in Counter(resources).items() if count > 1)


def alter(
    broker: Broker, call: Call, resource: tuple[int, str], changes: list[Change], *, replace: bool, validate_only: bool
) -> None:
    """Change one resource's configuration, or only check it. `replace`: AlterConfigs. Raises ConfigRefused."""
    kind, name = resource
    check_form(changes)
    match kind:
        case ResourceType.TOPIC:
            alter_topic(broker.cluster, name, changes, replace=replace, validate_only=validate_only)
        case ResourceType.BROKER:
            alter_broker(broker.configs, broker.node_id, name, changes, replace=replace, validate_only=validate_only)
        case ResourceType.GROUP:
            alter_group(broker.cluster, broker.configs, name, changes, replace=replace, validate_only=validate_only)
        case ResourceType.CLIENT_METRICS:
            alter_client_metrics(broker.cluster, name, changes, replace=replace, validate_only=validate_only)
        case ResourceType.BROKER_LOGGER if not replace:
            check_node(broker.node_id, name, "Unexpected node id. Expected {}, but received {}")
            _refuse_loggers(changes)
        case _:
            raise ConfigRefused(ErrorCode.INVALID_REQUEST, f"Unknown resource type {kind}")
    if not validate_only and broker.log is not None and kind in _STREAM_NAMES:
        broker.log.append(
            "cluster", "ConfigChanged", cause=call.cause, resource=_STREAM_NAMES[ResourceType(kind)], name=name, replace=replace,
            changes=[[change.name, change.operation, change.value] for change in changes],
            topic=name if kind == ResourceType.TOPIC else None,
        )  # fmt: skip


def _refuse_loggers(changes: Iterable[Change]) -> None:
    """There are no Java loggers here, so none exists."""
    for name, operation, _ in changes:
        if operation in (2, 3):
            word = "APPEND" if operation == 2 else "SUBTRACT"
            raise ConfigRefused(ErrorCode.INVALID_REQUEST, f"{word} operation is not allowed for the BROKER_LOGGER resource")
        raise ConfigRefused(ErrorCode.INVALID_CONFIG, f"Logger {name} does not exist!")
