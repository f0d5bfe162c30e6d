"""DescribeConfigs (key 32), v1-4: v3 adds types and documentation.

Topics, brokers (by id; the empty name means what is set for all brokers) and groups, entries by name. Documentation is a sentence
of this project, not Kafka's text. Loggers are none. Client metrics subscriptions are stored and shown, no more.
"""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING

from ...cluster.config_changes import ResourceType
from ...cluster.config_defs import parse_whole
from ...cluster.config_views import (
    ALL,
    ConfigEntry,
    broker_default_entries,
    broker_entries,
    client_metrics_entries,
    group_entries,
    topic_entries,
)
from ...cluster.topic_names import why_invalid
from ...errors import ErrorCode
from ...wire.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)
from ..topics import Refused

if TYPE_CHECKING:
    from ..call import Call
    from ..core import Broker


def handle(broker: Broker, call: Call) -> DescribeConfigsResponse:
    """Answered at once, each resource on its own."""
    request = call.message
    assert isinstance(request, DescribeConfigsRequest)
    results: dict[tuple[int, str, tuple[str, ...]], DescribeConfigsResult] = {}  # a resource named often is looked up once
    answers = []
    for resource in request.resources:
        key = (resource.resource_type, resource.resource_name, tuple(resource.configuration_keys or ()))
        result = results.get(key)
        if result is None:
            result = results[key] = _result(broker, resource, request)
        answers.append(result)
    return DescribeConfigsResponse(results=answers)


def _result(broker: Broker, resource: DescribeConfigsResource, request: DescribeConfigsRequest) -> DescribeConfigsResult:
    result = DescribeConfigsResult(resource_type=resource.resource_type, resource_name=resource.resource_name)
    try:
        entries = _entries(broker, resource)
    except Refused as refused:
        result.error_code, result.error_message = refused.code, refused.message
        return result
    documented = _documentation(resource.resource_type) if request.include_documentation else {}
    result.configs = [_entry(entry, request, documented) for entry in entries]
    return result


def _documentation(resource_type: int) -> dict[str, str]:
    from ...cluster.config_docs import texts  # few ask for it, and it is long

    return texts(resource_type)


def _entries(broker: Broker, resource: DescribeConfigsResource) -> list[ConfigEntry]:
    name, configs = resource.resource_name, broker.configs
    names: Container[str] = frozenset(resource.configuration_keys) if resource.configuration_keys else ALL
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
            _check_node(broker, name, "Unexpected broker id, expected {} or empty string, but received {}")
            return broker_entries(configs, names)
        case ResourceType.BROKER_LOGGER:
            if not name:
                raise Refused(ErrorCode.INVALID_REQUEST, "Broker id must not be empty")
            _check_node(broker, name, "Unexpected broker id, expected {} but received {}")
            return []
        case ResourceType.CLIENT_METRICS:
            if not name:
                raise Refused(ErrorCode.INVALID_REQUEST, "Client metrics subscription name must not be empty")
            return client_metrics_entries(broker.cluster.client_metrics.get(name, {}), names)
        case ResourceType.GROUP:
            if not name:
                raise Refused(ErrorCode.INVALID_REQUEST, "Group name must not be empty")
            return group_entries(broker.cluster.group_configs.get(name, {}), configs, names)
        case _:
            raise Refused(ErrorCode.INVALID_REQUEST, ErrorCode.INVALID_REQUEST.message)


def _check_node(broker: Broker, name: str, otherwise: str) -> None:
    node_id = parse_whole(name)
    if node_id is None:
        raise Refused(ErrorCode.INVALID_REQUEST, f"Broker id must be an integer, but it is: {name}")
    if node_id != broker.node_id:
        raise Refused(ErrorCode.INVALID_REQUEST, otherwise.format(broker.node_id, node_id))


def _entry(entry: ConfigEntry, request: DescribeConfigsRequest, documented: dict[str, str]) -> DescribeConfigsResourceResult:
    synonyms = [
        DescribeConfigsSynonym(name=name, value=value, source=int(source))
        for name, value, source in (entry.synonyms if request.include_synonyms else ())
    ]
    return DescribeConfigsResourceResult(
        name=entry.name, value=entry.value, read_only=entry.read_only, config_source=int(entry.source), is_sensitive=entry.sensitive,
        synonyms=synonyms, config_type=int(entry.type), documentation=documented.get(entry.name),
    )  # fmt: skip
