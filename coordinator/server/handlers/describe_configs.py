"""DescribeConfigs (key 32), v1-4: v3 adds types and documentation.

Resources are topics, brokers (by id; the empty name means the default of all brokers), groups,
client metrics subscriptions (which have no effect), and some of Kafka's loggers. Entries are
sorted by name. Documentation is this project's, not Kafka's text.
"""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING

from coordinator.base.errors import ErrorCode
from coordinator.base.slices import ITEMS_A_STEP
from coordinator.wire.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)

from ..cluster.topic_names import why_invalid
from ..requests.call import Sliced
from ..requests.refusals import refused_whole_in_slices
from ..settings.definitions import ConfigSource, ResourceType, parse_whole
from ..settings.documentation import texts
from ..settings.views import (
    ALL,
    ConfigEntry,
    broker_default_entries,
    broker_entries,
    client_metrics_entries,
    group_entries,
    topic_entries,
)
from ..topics import Refused

if TYPE_CHECKING:
    from coordinator.base.slices import Slices

    from ..broker import Broker
    from ..requests.call import Call, Result


_KINDS = frozenset(ResourceType)


def handle(broker: Broker, call: Call) -> Sliced:
    """Handle a DescribeConfigs, each resource independently; a resource of an unknown type refuses
    all of them.
    """
    return Sliced(_describe(broker, call))


def _describe(broker: Broker, call: Call) -> Slices[Result]:
    """Describe the resources in slices. A resource named often is described once; resources of one
    kind without own values share their entries.
    """
    request = call.message
    assert isinstance(request, DescribeConfigsRequest)
    if any(resource.resource_type not in _KINDS for resource in request.resources):
        error = ErrorCode.INVALID_REQUEST
        return (yield from refused_whole_in_slices(request, call.version, error, error.message))
    results: dict[tuple[int, str, tuple[str, ...]], DescribeConfigsResult] = {}
    plain: dict[tuple[int, tuple[str, ...]], list[DescribeConfigsResourceResult]] = {}
    answers = []
    for count, resource in enumerate(request.resources, 1):
        keys = tuple(resource.configuration_keys or ())
        key = (resource.resource_type, resource.resource_name, keys)
        result = results.get(key)
        if result is None:
            result = results[key] = _result(broker, resource, request, plain, keys)
            yield
        elif not count % ITEMS_A_STEP:
            yield
        answers.append(result)
    return DescribeConfigsResponse(results=answers)


def _result(
    broker: Broker,
    resource: DescribeConfigsResource,
    request: DescribeConfigsRequest,
    plain: dict[tuple[int, tuple[str, ...]], list[DescribeConfigsResourceResult]],
    keys: tuple[str, ...],
) -> DescribeConfigsResult:
    kind, name = resource.resource_type, resource.resource_name
    result = DescribeConfigsResult(resource_type=kind, resource_name=name)
    shared = plain.get((kind, keys)) if _has_no_values(broker, kind, name) else None
    if shared is not None:
        result.configs = shared
        return result
    try:
        entries = _entries(broker, resource)
    except Refused as refused:
        result.error_code, result.error_message = refused.code, refused.message
        return result
    documented = texts(kind) if request.include_documentation else {}
    result.configs = [_entry(entry, request, documented) for entry in entries]
    if _has_no_values(broker, kind, name):
        plain[kind, keys] = result.configs
    return result


def _has_no_values(broker: Broker, kind: int, name: str) -> bool:
    """Return True for a group, or an existing topic, without own values."""
    if kind == ResourceType.GROUP:
        return bool(name) and name not in broker.cluster.group_configs
    topic = broker.cluster.topics.get(name)
    return kind == ResourceType.TOPIC and topic is not None and not topic.configs


def _entries(broker: Broker, resource: DescribeConfigsResource) -> list[ConfigEntry]:
    name, configs = resource.resource_name, broker.configs
    names: Container[str] = (
        frozenset(resource.configuration_keys) if resource.configuration_keys else ALL
    )
    match resource.resource_type:
        case ResourceType.TOPIC:
            why = why_invalid(name)
            if why is not None:
                raise Refused(ErrorCode.INVALID_TOPIC_EXCEPTION, why)
            if name not in broker.cluster.topics:
                raise Refused(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "")
            return topic_entries(broker.cluster.topics[name].configs, configs, names)
        case ResourceType.BROKER:
            if not name:
                return broker_default_entries(configs, names)
            _check_node(
                broker, name, "Unexpected broker id, expected {} or empty string, but received {}"
            )
            return broker_entries(configs, names)
        case ResourceType.BROKER_LOGGER:
            if not name:
                raise Refused(ErrorCode.INVALID_REQUEST, "Broker id must not be empty")
            _check_node(broker, name, "Unexpected broker id, expected {} but received {}")
            return broker.loggers.entries(names)
        case ResourceType.CLIENT_METRICS:
            if not name:
                raise Refused(
                    ErrorCode.INVALID_REQUEST, "Client metrics subscription name must not be empty"
                )
            return client_metrics_entries(broker.cluster.client_metrics.get(name, {}), names)
        case _:  # a group
            if not name:
                raise Refused(ErrorCode.INVALID_REQUEST, "Group name must not be empty")
            return group_entries(broker.cluster.group_configs.get(name, {}), configs, names)


def _check_node(broker: Broker, name: str, otherwise: str) -> None:
    node_id = parse_whole(name)
    if node_id is None:
        raise Refused(ErrorCode.INVALID_REQUEST, f"Broker id must be an integer, but it is: {name}")
    if node_id != broker.node_id:
        raise Refused(ErrorCode.INVALID_REQUEST, otherwise.format(broker.node_id, node_id))


def _entry(
    entry: ConfigEntry, request: DescribeConfigsRequest, documented: dict[str, str]
) -> DescribeConfigsResourceResult:
    synonyms = [
        DescribeConfigsSynonym(name=name, value=value, source=int(source))
        for name, value, source in (entry.synonyms if request.include_synonyms else ())
    ]
    logger = entry.source is ConfigSource.DYNAMIC_BROKER_LOGGER
    return DescribeConfigsResourceResult(
        name=entry.name,
        value=entry.value,
        read_only=entry.read_only,
        config_source=int(entry.source),
        is_sensitive=entry.sensitive,
        synonyms=synonyms,
        config_type=int(entry.type),
        documentation="" if logger else documented.get(entry.name),
    )
