"""Common steps of AlterConfigs and IncrementalAlterConfigs: choosing the rules for each type of
resource, applying the changes, and logging them. The rules themselves are in `settings`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from coordinator.base.errors import ErrorCode
from coordinator.base.slices import ITEMS_A_STEP, Slices
from coordinator.events.cluster import ConfigChanged
from coordinator.wire.messages.incremental_alter_configs import AlterConfigsResourceResponse

from .broker import Broker
from .cluster.config_changes import (
    MIN_ISR,
    Change,
    ConfigRefused,
    Operation,
    alter_broker,
    alter_client_metrics,
    alter_group,
    altered_topic,
    check_form,
    check_node,
)
from .requests.call import Call
from .settings.definitions import ResourceType
from .topics import UNWRITTEN

_STREAM_NAMES = {
    ResourceType.TOPIC: "topic",
    ResourceType.BROKER: "broker",
    ResourceType.CLIENT_METRICS: "client metrics",
    ResourceType.GROUP: "group",
}


_OPERATIONS = frozenset(Operation)
_OF_THE_CONTROLLER = (ResourceType.TOPIC, ResourceType.CLIENT_METRICS, ResourceType.GROUP)
_CHARACTERS_AN_ITEM = 500
"""So long a value takes as much time as a resource with a short one."""


class Alteration(NamedTuple):
    """One resource in a request: its type and name, and the changes."""

    resource: tuple[int, str]
    changes: list[Change]


def altered(
    broker: Broker,
    call: Call,
    alterations: Sequence[Alteration],
    *,
    replace: bool,
    validate_only: bool,
) -> Slices[list[AlterConfigsResourceResponse]]:
    """Change each resource independently and return one result for each. Resources named more than
    once are refused; an unknown operation fails every resource that is forwarded to the
    controller. `replace`: AlterConfigs semantics. Sliced by size: a resource with long values
    counts as several elements.
    """
    named = Counter(alteration.resource for alteration in alterations)
    fails = not replace and any(
        any(change.operation not in _OPERATIONS for change in alteration.changes)
        and _reaches_the_controller(named, alteration)
        for alteration in alterations
    )
    responses, done = [], 0
    for resource, changes in alterations:
        done += 1 + sum(len(change.value or "") for change in changes) // _CHARACTERS_AN_ITEM
        if done >= ITEMS_A_STEP:
            call, done = call._replace(now=(yield)), 0
        told = AlterConfigsResourceResponse(
            error_message=None, resource_type=resource[0], resource_name=resource[1]
        )
        try:
            if named[resource] > 1:
                raise ConfigRefused(
                    ErrorCode.INVALID_REQUEST, "Each resource must appear at most once."
                )
            if fails and _reaches_the_controller(named, Alteration(resource, changes)):
                raise ConfigRefused(ErrorCode.UNKNOWN_SERVER_ERROR, None)
            _alter(broker, call, resource, changes, replace=replace, validate_only=validate_only)
        except ConfigRefused as refused:
            told.error_code, told.error_message = refused.code, refused.message
        responses.append(told)
    return responses


def _reaches_the_controller(named: Counter[tuple[int, str]], alteration: Alteration) -> bool:
    """Return True if a resource's change is forwarded to the controller; an unknown operation fails
    all forwarded resources.
    """
    if alteration.resource[0] not in _OF_THE_CONTROLLER or named[alteration.resource] > 1:
        return False
    try:
        check_form(alteration.changes)
    except ConfigRefused:
        return False
    return True


def _alter(
    broker: Broker,
    call: Call,
    resource: tuple[int, str],
    changes: list[Change],
    *,
    replace: bool,
    validate_only: bool,
) -> None:
    """Change one resource's configuration, or only check it. Raises ConfigRefused."""
    kind, name = resource
    check_form(changes)
    if not broker.reaches_controller:
        raise ConfigRefused(ErrorCode.REQUEST_TIMED_OUT, None)
    if not validate_only and broker.log_is_blocked:
        raise ConfigRefused(ErrorCode.KAFKA_STORAGE_ERROR, UNWRITTEN)
    match kind:
        case ResourceType.TOPIC:
            values = altered_topic(
                broker.controller.cluster,
                name,
                changes,
                replace=replace,
                release=broker.controller_release,
            )
            if not validate_only:
                broker.controller.configure_topic(name, values, call.now, call.cause)
        case ResourceType.BROKER:
            for configs in broker.configs_of_all if not name else [broker.configs]:
                alter_broker(
                    configs,
                    broker.node_id,
                    name,
                    changes,
                    replace=replace,
                    validate_only=validate_only,
                    eligible=broker.controller.keeps_eligible,
                )
            if not validate_only and any(
                change.name == MIN_ISR for change in changes
            ):  # to the same value, too
                broker.controller.forget_eligible(
                    broker.controller.cluster.topics, call.now, call.cause
                )
        case ResourceType.GROUP if broker.controller_release.has("CFG-40-1"):
            alter_group(
                broker.cluster,
                broker.configs,
                name,
                changes,
                replace=replace,
                validate_only=validate_only,
            )
        case ResourceType.CLIENT_METRICS:
            alter_client_metrics(
                broker.cluster, name, changes, replace=replace, validate_only=validate_only
            )
        case ResourceType.BROKER_LOGGER if not replace:
            check_node(broker.node_id, name, "Unexpected node id. Expected {}, but received {}")
            broker.loggers.alter(changes, broker.configs.release, validate_only=validate_only)
        case _:
            raise ConfigRefused(ErrorCode.INVALID_REQUEST, f"Unknown resource type {kind}")
    if not validate_only and broker.log is not None and kind in _STREAM_NAMES:
        broker.log.append(
            ConfigChanged(
                _STREAM_NAMES[ResourceType(kind)],
                name,
                replace,
                tuple([(change.name, change.operation, change.value) for change in changes]),
            ),
            at_ms=call.now,
            cause=call.cause,
            topic=name if kind == ResourceType.TOPIC else None,
        )
