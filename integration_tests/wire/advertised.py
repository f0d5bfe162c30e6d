"""What a broker says of itself: the versions it advertises, its features, the settings it knows.

One text a fact, by what it is about, so that two brokers' are compared like tables. Values of
settings are compared where they are defaults: all others are of the machine or the profile.
"""

from __future__ import annotations

import time
from typing import Any, Final

from coordinator.server.settings.definitions import ConfigType, ResourceType
from coordinator.wire.messages import API_KEYS
from integration_tests.wire.codec import TableCodec
from integration_tests.wire.raw import Plain, RawConnection
from integration_tests.wire.recorder import new_nonce

_DEFAULT: Final = 5
OF_THE_MACHINE: Final = frozenset(
    {
        "advertised.listeners",
        "controller.quorum.voters",
        "listener.security.protocol.map",
        "log.dirs",
        "log.initial.task.delay.ms",
        "metadata.max.idle.interval.ms",
        "offsets.topic.replication.factor",
        "share.coordinator.state.topic.min.isr",
        "share.coordinator.state.topic.prune.interval.ms",
        "share.coordinator.state.topic.replication.factor",
        "transaction.state.log.min.isr",
        "transaction.state.log.replication.factor",
    }
)
"""Settings that a real broker is started with here (integration_tests.java_broker)."""


def advertised(address: str) -> dict[str, str]:
    """Every fact by its name, such as `api 28 TxnOffsetCommit`: `0-5`."""
    connection = RawConnection(address, TableCodec())
    try:
        return {**_versions(connection), **_settings(connection)}
    finally:
        connection.close()


def _ask(connection: RawConnection, api: str, version: int, /, **fields: Any) -> Plain:
    connection.send(api, version, fields)
    return connection.receive()[1]


def _versions(connection: RawConnection) -> dict[str, str]:
    software = {"client_software_name": "raw", "client_software_version": "1"}
    # v4 also tells features whose lowest level is 0
    answer = _ask(connection, "ApiVersions", 4, **software)
    version = 4 if answer["error_code"] == 0 else 3
    if version == 3:
        answer = _ask(connection, "ApiVersions", 3, **software)
    facts = {
        f"api {row['api_key']} {API_KEYS.get(row['api_key'], '?')}": (
            f"{row['min_version']}-{row['max_version']}"
        )
        for row in answer["api_keys"]
    }
    at = {row["name"]: row["max_version_level"] for row in answer["finalized_features"]}
    for row in answer["supported_features"]:
        name = row["name"]
        facts[f"feature {name}"] = f"{row['min_version']}-{row['max_version']} at {at.get(name, 0)}"
    return facts


def _settings(connection: RawConnection) -> dict[str, str]:
    topic = f"facts-{new_nonce()}"
    _ask(
        connection,
        "CreateTopics",
        5,
        topics=[{"name": topic, "num_partitions": 1, "replication_factor": 1}],
        timeout_ms=30_000,
    )
    node = _ask(connection, "DescribeCluster", 0)["brokers"][0]["broker_id"]
    facts: dict[str, str] = {}
    for kind, what, name in (
        (ResourceType.BROKER, "broker", str(node)),
        (ResourceType.TOPIC, "topic", topic),
        (ResourceType.GROUP, "group", topic),
    ):
        for row in _described(connection, kind, name):
            if row["name"] not in OF_THE_MACHINE:
                facts[f"{what} setting {row['name']}"] = _setting(row)
    _ask(connection, "DeleteTopics", 5, topic_names=[topic], timeout_ms=30_000)
    return facts


def _described(connection: RawConnection, kind: int, name: str) -> list[Plain]:
    """The settings of a resource, once it is known."""
    while True:
        found: Plain = _ask(
            connection,
            "DescribeConfigs",
            4,
            resources=[{"resource_type": kind, "resource_name": name, "configuration_keys": None}],
            include_synonyms=False,
            include_documentation=False,
        )["results"][0]
        if found["error_code"] != 3:
            configs: list[Plain] = found["configs"]
            return configs
        time.sleep(0.05)  # the broker has not heard of the topic yet


def _setting(row: Plain) -> str:
    value = f" {row['value']!r}" if row["config_source"] == _DEFAULT else ""
    return (
        f"{ConfigType(row['config_type']).name.lower()}{value}"
        f"{' read-only' if row['read_only'] else ''}{' sensitive' if row['is_sensitive'] else ''}"
    )
