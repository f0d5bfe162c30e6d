"""DescribeConfigs and ListConfigResources: configurations of resources, and the list of resources
that have one.
"""

from __future__ import annotations

from ..schema import Request, Response, Struct, array, boolean, int16, int32, int8, string


class DescribeConfigsResource(Struct):
    resource_type: int = int8(default=0)
    resource_name: str = string(default="")
    configuration_keys: list[str] | None = array(string, nullable=0, default=())


class DescribeConfigsRequest(Request, key=32, versions=(0, 4), flexible=4):
    """DescribeConfigs (key 32): configurations of topics, brokers and groups, and where they come
    from.

    1: sources and synonyms (KIP-226). 3: types and documentation (KIP-569). 4: flexible. 0 was
    removed in Kafka 4.0.
    """

    resources: list[DescribeConfigsResource] = array(DescribeConfigsResource, default=())
    include_synonyms: bool = boolean(since=1, default=False)
    include_documentation: bool = boolean(since=3, default=False)


class DescribeConfigsSynonym(Struct):
    name: str = string(since=1, default="")
    value: str | None = string(since=1, nullable=1, default="")
    source: int = int8(since=1, default=0)


class DescribeConfigsResourceResult(Struct):
    name: str = string(default="")
    value: str | None = string(nullable=0, default="")
    read_only: bool = boolean(default=False)
    is_default: bool = boolean(until=0, default=False)
    config_source: int = int8(since=1, default=-1)
    is_sensitive: bool = boolean(default=False)
    synonyms: list[DescribeConfigsSynonym] = array(DescribeConfigsSynonym, since=1, default=())
    config_type: int = int8(since=3, default=0)
    documentation: str | None = string(since=3, nullable=3, default="")


class DescribeConfigsResult(Struct):
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable=0, default="")
    resource_type: int = int8(default=0)
    resource_name: str = string(default="")
    configs: list[DescribeConfigsResourceResult] = array(DescribeConfigsResourceResult, default=())


class DescribeConfigsResponse(Response, key=32, versions=(0, 4), flexible=4):
    throttle_time_ms: int = int32(default=0)
    results: list[DescribeConfigsResult] = array(DescribeConfigsResult, default=())


class ListConfigResourcesRequest(Request, key=74, versions=(0, 1), flexible=0):
    """ListConfigResources (key 74): list the resources that have a configuration, by type."""

    resource_types: list[int] = array(int8, since=1, default=())


class ConfigResource(Struct):
    resource_name: str = string(default="")
    resource_type: int = int8(since=1, default=16)


class ListConfigResourcesResponse(Response, key=74, versions=(0, 1), flexible=0):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    config_resources: list[ConfigResource] = array(ConfigResource, default=())
