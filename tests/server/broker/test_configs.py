"""DescribeConfigs, AlterConfigs, IncrementalAlterConfigs: sources, synonyms, codes and texts as
Kafka 4.4.0 answered them."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator.server.settings.broker_configs import BrokerConfigs, ConfigError
from coordinator.server.settings.definitions import ConfigType
from coordinator.server.settings.documentation import texts
from coordinator.server.settings.group_configs import settable_defs
from coordinator.server.settings.views import broker_entries, group_entries
from coordinator.wire.messages import incremental_alter_configs
from coordinator.wire.messages.describe_configs import (
    DescribeConfigsResource,
    DescribeConfigsResult,
)
from tests.server.broker.admin import Admin

TOPIC, BROKER, LOGGER, METRICS, GROUP = 2, 4, 8, 16, 32
SET, DELETE, APPEND, SUBTRACT = 0, 1, 2, 3


def describe(
    admin: Admin, kind: int, name: str, *keys: str, version: int = 4, synonyms: bool = True
) -> DescribeConfigsResult:
    resource = DescribeConfigsResource(
        resource_type=kind, resource_name=name, configuration_keys=list(keys) or None
    )
    result: DescribeConfigsResult = admin.ask(
        32, version, resources=[resource], include_synonyms=synonyms
    ).results[0]
    return result


def entry(
    admin: Admin, kind: int, name: str, key: str
) -> tuple[str | None, int, list[tuple[str, str | None, int]]]:
    """Value, source and synonyms."""
    [config] = describe(admin, kind, name, key).configs
    return (
        config.value,
        config.config_source,
        [(each.name, each.value, each.source) for each in config.synonyms],
    )


def change(
    admin: Admin,
    kind: int,
    name: str,
    *operations: tuple[str, int, str | None],
    validate_only: bool = False,
) -> tuple[int, str | None]:
    configs = [
        incremental_alter_configs.AlterableConfig(name=key, config_operation=operation, value=value)
        for key, operation, value in operations
    ]
    resource = incremental_alter_configs.AlterConfigsResource(
        resource_type=kind, resource_name=name, configs=configs
    )
    [response] = admin.ask(44, 1, resources=[resource], validate_only=validate_only).responses
    assert (response.resource_type, response.resource_name) == (kind, name)
    return response.error_code, response.error_message


def replace(
    admin: Admin, kind: int, name: str, validate_only: bool = False, **values: str | None
) -> tuple[int, str | None]:
    configs = [
        incremental_alter_configs.WholeConfig(name=key.replace("_", "."), value=value)
        for key, value in values.items()
    ]
    resource = incremental_alter_configs.WholeResource(
        resource_type=kind, resource_name=name, configs=configs
    )
    [response] = admin.ask(33, 2, resources=[resource], validate_only=validate_only).responses
    return response.error_code, response.error_message


OK = (0, None)
THREADS = (
    "Invalid value org.apache.kafka.common.config.ConfigException: Dynamic thread count update validation failed for num.io.threads=17, "
    "value should not be greater than double the current value 8 for configuration Invalid dynamic configuration"
)
OFFSET_RESET = (
    "Invalid value x for configuration share.auto.offset.reset: Invalid value `x` for configuration share.auto.offset.reset. The value "
    "must be either 'earliest', 'latest' or of the format 'by_duration:<PnDTnHnMn.nS>'."
)


class TestDescribe:
    def test_a_topic(self) -> None:
        admin = Admin("t")
        result = describe(admin, TOPIC, "t")
        assert (result.error_code, result.error_message, len(result.configs)) == (0, "", 37)
        assert entry(admin, TOPIC, "t", "retention.ms") == ("604800000", 5, [])
        assert entry(admin, TOPIC, "t", "cleanup.policy") == (
            "delete",
            5,
            [("log.cleanup.policy", "delete", 5)],
        )
        synonyms = [("min.insync.replicas", "1", 3), ("min.insync.replicas", "1", 5)]
        assert entry(admin, TOPIC, "t", "min.insync.replicas") == ("1", 3, synonyms)

    @pytest.mark.parametrize(("kind", "name"), [(TOPIC, "t"), (METRICS, "m"), (GROUP, "g")])
    def test_every_entry_is_documented_for_who_asks(self, kind: int, name: str) -> None:
        admin = Admin("t")
        resource = DescribeConfigsResource(
            resource_type=kind, resource_name=name, configuration_keys=None
        )
        [asked] = admin.ask(32, 4, resources=[resource], include_documentation=True).results
        assert {entry.name for entry in asked.configs if not entry.documentation} == set()
        hidden = {GROUP: settable_defs}.get(kind, dict)()
        undescribed = set(texts(kind)) - {entry.name for entry in asked.configs}
        assert undescribed <= set(hidden)  # and none is documented that there is not
        assert {entry.documentation for entry in describe(admin, kind, name).configs} == {None}

    def test_a_brokers_value_shows_in_its_topics(self) -> None:
        admin = Admin("t", message_max_bytes="5000", log_retention_hours="1")
        synonyms = [("message.max.bytes", "5000", 4), ("message.max.bytes", "1048588", 5)]
        assert entry(admin, TOPIC, "t", "max.message.bytes") == ("5000", 4, synonyms)
        # The source is looked up by log.retention.ms, the value by all its synonyms, as Kafka does.
        assert entry(admin, TOPIC, "t", "retention.ms") == ("3600000", 5, [])

    def test_a_broker(self) -> None:
        admin = Admin(num_partitions="3")
        result = describe(admin, BROKER, "1")
        configs = {config.name: config for config in result.configs}
        assert len(configs) == 350
        assert configs["num.partitions"].read_only
        assert not configs["message.max.bytes"].read_only
        assert (configs["ssl.key.password"].is_sensitive, configs["ssl.key.password"].value) == (
            True,
            None,
        )
        assert [
            configs[name].config_type
            for name in ("num.partitions", "message.max.bytes", "log.cleanup.policy")
        ] == [3, 3, 7]
        assert entry(admin, BROKER, "1", "num.partitions") == (
            "3",
            4,
            [("num.partitions", "3", 4), ("num.partitions", "1", 5)],
        )
        delay = (
            "0",
            4,
            [
                ("group.initial.rebalance.delay.ms", "0", 4),
                ("group.initial.rebalance.delay.ms", "3000", 5),
            ],
        )
        assert entry(admin, BROKER, "1", "group.initial.rebalance.delay.ms") == delay
        assert entry(admin, BROKER, "1", "log.retention.ms") == (None, 5, [])
        assert [config.name for config in describe(admin, BROKER, "").configs] == [
            "min.insync.replicas"
        ]

    def test_a_group(self) -> None:
        admin = Admin()
        assert len(describe(admin, GROUP, "g").configs) == 21
        synonyms = [("group.consumer.session.timeout.ms", "45000", 5)]
        assert entry(admin, GROUP, "g", "consumer.session.timeout.ms") == ("45000", 5, synonyms)
        assert entry(admin, GROUP, "g", "share.auto.offset.reset") == (
            "latest",
            5,
            [("share.auto.offset.reset", "latest", 5)],
        )

    def test_only_what_was_asked_for(self) -> None:
        admin = Admin("t")
        asked = describe(
            admin, TOPIC, "t", "retention.ms", "nope", version=1, synonyms=False
        ).configs
        assert [(config.name, config.synonyms) for config in asked] == [("retention.ms", [])]

    @pytest.mark.parametrize(
        ("kind", "name", "code", "message"),
        [
            (TOPIC, "nope", 3, ""),
            (TOPIC, "", 17, "Topic name is invalid: the empty string is not allowed"),
            (BROKER, "2", 42, "Unexpected broker id, expected 1 or empty string, but received 2"),
            (BROKER, "x", 42, "Broker id must be an integer, but it is: x"),
            (LOGGER, "2", 42, "Unexpected broker id, expected 1 but received 2"),
            (LOGGER, "", 42, "Broker id must not be empty"),
            (METRICS, "", 42, "Client metrics subscription name must not be empty"),
            (GROUP, "", 42, "Group name must not be empty"),
        ],
    )
    def test_refusals(self, kind: int, name: str, code: int, message: str) -> None:
        result = describe(Admin(), kind, name)
        assert (result.error_code, result.error_message, result.configs) == (code, message, [])

    def test_unknown_type(self) -> None:
        result = describe(Admin(), 3, "x")
        assert result.error_code == 42
        assert (result.error_message or "").startswith(
            "This most likely occurs because of a request being malformed"
        )

    def test_an_unknown_type_refuses_all_that_is_asked_with_it(self) -> None:
        admin = Admin("t")
        resources = [
            DescribeConfigsResource(resource_type=kind, resource_name="t") for kind in (TOPIC, 3)
        ]
        results = admin.ask(32, 4, resources=resources).results
        assert [(row.resource_type, row.error_code, row.configs) for row in results] == [
            (TOPIC, 42, []),
            (3, 42, []),
        ]


class TestTopics:
    def test_set_and_delete(self) -> None:
        admin = Admin("t")
        assert change(admin, TOPIC, "t", ("max.message.bytes", SET, "100")) == OK
        assert admin.cluster.topics["t"].effective_int("max.message.bytes") == 100
        synonyms = [("max.message.bytes", "100", 1), ("message.max.bytes", "1048588", 5)]
        assert entry(admin, TOPIC, "t", "max.message.bytes") == ("100", 1, synonyms)
        [event] = admin.logged("ConfigChanged")
        assert (event["topic"], event["changes"], event["cause"]) == (
            "t",
            [["max.message.bytes", SET, "100"]],
            7,
        )
        assert (
            change(admin, TOPIC, "t", ("max.message.bytes", DELETE, None), ("nope", DELETE, None))
            == OK
        )
        assert admin.cluster.topics["t"].effective_int("max.message.bytes") == 1048588

    def test_an_operation_that_there_is_not_fails_all_that_go_to_the_controller(self) -> None:
        admin = Admin("t")

        def of(kind: int, name: str, operation: int, *values: str | None) -> Any:
            return incremental_alter_configs.AlterConfigsResource(
                resource_type=kind,
                resource_name=name,
                configs=[
                    incremental_alter_configs.AlterableConfig(
                        name="retention.ms", config_operation=operation, value=value
                    )
                    for value in values
                ],
            )

        resources = [
            of(TOPIC, "t", SET, "1"),
            of(GROUP, "g", 7, "1"),
            of(TOPIC, "u", SET, None),
            of(3, "x", SET, "1"),
        ]
        told = admin.ask(44, 1, resources=resources).responses
        assert [(row.resource_name, row.error_code) for row in told] == [
            ("t", -1),
            ("g", -1),
            ("u", 42),
            ("x", 42),
        ]
        assert not admin.cluster.topics["t"].configs

    def test_append_and_subtract(self) -> None:
        admin = Admin("t")

        def policy() -> str | None:
            return entry(admin, TOPIC, "t", "cleanup.policy")[0]

        for operation, value, after in [
            (APPEND, "compact", "delete,compact"),
            (APPEND, "compact", "delete,compact"),
            (SUBTRACT, "delete", "compact"),
            (SUBTRACT, "compact", ""),
            (SUBTRACT, "compact", ""),
            (APPEND, "delete,compact", "delete,compact"),
        ]:
            assert change(admin, TOPIC, "t", ("cleanup.policy", operation, value)) == OK
            assert policy() == after

    @pytest.mark.parametrize(
        ("before", "operation", "value", "after"),
        [
            ("delete", APPEND, " compact", "delete,compact"),
            ("delete", APPEND, "compact,", "delete,compact"),
            ("delete", APPEND, ",", "delete"),
            ("delete", SUBTRACT, "", "delete"),
            ("", APPEND, "", ""),
            ("", SUBTRACT, "", ""),
            ("delete,compact", SUBTRACT, " delete", "delete,compact"),
            ("delete,compact", SUBTRACT, "delete,", "compact"),
            ("delete, compact", SUBTRACT, "compact", "delete,compact"),
            ("delete, compact", APPEND, "delete", "delete,compact"),
            ("delete", APPEND, "", None),
            ("delete", APPEND, ",compact", None),
        ],
    )
    def test_lists_are_split_as_java_splits(
        self, before: str, operation: int, value: str, after: str | None
    ) -> None:
        """Spaces count, empty items at the end do not. Nothing at all is one empty item, which
        Kafka 4.4.0 refuses to append."""
        admin = Admin("t")
        assert change(admin, TOPIC, "t", ("cleanup.policy", SET, before)) == OK
        refused = (40, "Configuration 'cleanup.policy' values must not be empty.")
        assert change(admin, TOPIC, "t", ("cleanup.policy", operation, value)) == (
            OK if after is not None else refused
        )
        assert entry(admin, TOPIC, "t", "cleanup.policy")[0] == (before if after is None else after)

    def test_items_that_are_listed_twice(self) -> None:
        """As Kafka's controller: what is appended twice is there once, and one occurrence is
        subtracted for each time it is named."""
        admin = Admin("t")
        name = "leader.replication.throttled.replicas"
        for operation, value, after in [
            (APPEND, "0:1,1:1,0:1", "0:1,1:1"),
            (SET, "0:1,1:1,0:1,0:1", "0:1,1:1,0:1,0:1"),
            (SUBTRACT, "0:1", "1:1,0:1,0:1"),
            (SUBTRACT, "0:1,0:1,0:1", "1:1"),
        ]:
            assert change(admin, TOPIC, "t", (name, operation, value)) == OK
            assert entry(admin, TOPIC, "t", name)[0] == after

    def test_a_list_does_not_grow_beyond_what_a_record_holds(self) -> None:
        """As Kafka's controller: 32,767 chars. Beyond, DescribeConfigs could not say the value."""
        admin = Admin("t")
        name = "leader.replication.throttled.replicas"
        first = ",".join(f"{number}:1" for number in range(4_000))
        assert change(admin, TOPIC, "t", (name, SET, first)) == OK
        told = "The configuration value cannot be added because it exceeds the maximum value size of 32767 bytes."
        more = ",".join(f"{number}:1" for number in range(4_000, 6_000))
        assert change(admin, TOPIC, "t", (name, APPEND, more)) == (40, told)
        assert entry(admin, TOPIC, "t", name)[0] == first
        fits = "9" * (32_767 - len(first) - 3) + ":1"
        assert change(admin, TOPIC, "t", (name, APPEND, fits)) == OK
        assert change(admin, TOPIC, "t", (name, APPEND, "1:2")) == (40, told)

    @pytest.mark.parametrize("kind", [TOPIC, METRICS, GROUP])
    def test_of_two_faults_the_first_in_javas_order_is_told(self, kind: int) -> None:
        """The changes of a resource are a Java HashMap (HM-1 to HM-3): the order of the request
        counts within a bucket only."""
        admin = Admin("t")
        one, other = ("flush.messages", APPEND, "1"), ("max.compaction.lag.ms", SUBTRACT, "1")
        told = (40, "Can't SUBTRACT to key max.compaction.lag.ms because its type is not LIST.")
        assert change(admin, kind, "t", one, other) == change(admin, kind, "t", other, one) == told
        one, other = ("segment.ms", APPEND, "1"), ("retention.ms", SUBTRACT, "1")
        assert change(admin, kind, "t", one, other) == (
            40,
            "Can't APPEND to key segment.ms because its type is not LIST.",
        )
        assert change(admin, kind, "t", other, one) == (
            40,
            "Can't SUBTRACT to key retention.ms because its type is not LIST.",
        )

    def test_alter_replaces_everything(self) -> None:
        admin = Admin("t")
        assert replace(admin, TOPIC, "t", retention_ms="9", segment_ms="100") == OK
        assert replace(admin, TOPIC, "t", retention_ms="8") == OK
        assert admin.cluster.topics["t"].configs == {"retention.ms": "8"}
        assert replace(admin, TOPIC, "t") == OK
        assert admin.cluster.topics["t"].configs == {}

    def test_validate_only(self) -> None:
        admin = Admin("t")
        assert change(admin, TOPIC, "t", ("retention.ms", SET, "5"), validate_only=True) == OK
        assert replace(admin, TOPIC, "t", validate_only=True, retention_ms="5") == OK
        assert admin.cluster.topics["t"].configs == {}
        assert admin.logged("ConfigChanged") == []

    @pytest.mark.parametrize(
        ("name", "operations", "code", "message"),
        [
            ("nope", [("retention.ms", SET, "1")], 3, "The topic 'nope' does not exist."),
            ("", [("retention.ms", SET, "1")], 42, "Default topic resources are not allowed."),
            ("..", [("retention.ms", SET, "1")], 17, "Topic name is invalid: '..' is not allowed"),
            ("t", [("nope", SET, "1")], 40, "Unknown topic config name: nope"),
            (
                "t",
                [("nope", APPEND, "1")],
                40,
                "Can't APPEND to key nope because its type is not LIST.",
            ),
            (
                "t",
                [("retention.ms", SUBTRACT, "1")],
                40,
                "Can't SUBTRACT to key retention.ms because its type is not LIST.",
            ),
            ("t", [("retention.ms", 4, "1")], -1, None),
            # First the operations, then the name, then the values in the order of Kafka's
            # definitions, last whether there is a topic.
            (
                "..",
                [("nope", APPEND, "1")],
                40,
                "Can't APPEND to key nope because its type is not LIST.",
            ),
            ("..", [("nope", SET, "1")], 17, "Topic name is invalid: '..' is not allowed"),
            ("nope", [("nope", SET, "1")], 40, "Unknown topic config name: nope"),
            (
                "t",
                [("compression.type", SET, "x"), ("segment.bytes", SET, " x ")],
                40,
                "Invalid value  x  for configuration segment.bytes: Not a number of type INT",
            ),
            ("t", [("retention.ms", SET, None)], 42, "Null value not supported for : retention.ms"),
            (
                "t",
                [
                    ("retention.ms", SET, None),
                    ("nope", APPEND, "1"),
                    ("cleanup.policy", SUBTRACT, None),
                ],
                42,
                "Null value not supported for : retention.ms, cleanup.policy",
            ),
            (
                "nope",
                [("cleanup.policy", APPEND, "")],
                40,
                "Configuration 'cleanup.policy' values must not be empty.",
            ),
            (
                "t",
                [("retention.ms", SET, "x")],
                40,
                "Invalid value x for configuration retention.ms: Not a number of type LONG",
            ),
            (
                "t",
                [("segment.ms", SET, "1"), ("segment.ms", DELETE, None)],
                42,
                "Error due to duplicate config keys",
            ),
            (
                "t",
                [("cleanup.policy", APPEND, "bogus")],
                40,
                "Invalid value bogus for configuration cleanup.policy: String must be one of: compact, delete",
            ),
        ],
    )
    def test_refusals_change_nothing(
        self, name: str, operations: list[Any], code: int, message: str | None
    ) -> None:
        admin = Admin("t")
        assert change(admin, TOPIC, name, ("segment.index.bytes", SET, "99"), *operations) == (
            code,
            message,
        )
        assert admin.cluster.topics["t"].configs == {}


class TestBrokers:
    def test_precedence_at_run_time(self) -> None:
        admin = Admin("t")
        assert change(admin, BROKER, "", ("message.max.bytes", SET, "3000000")) == OK
        assert change(admin, BROKER, "1", ("message.max.bytes", SET, "2000000")) == OK
        layers = [
            ("message.max.bytes", "2000000", 2),
            ("message.max.bytes", "3000000", 3),
            ("message.max.bytes", "1048588", 5),
        ]
        assert entry(admin, BROKER, "1", "message.max.bytes") == ("2000000", 2, layers)
        assert entry(admin, BROKER, "", "message.max.bytes") == ("3000000", 3, layers[1:2])
        assert admin.cluster.topics["t"].effective_int("max.message.bytes") == 2000000
        assert change(admin, BROKER, "1", ("message.max.bytes", DELETE, None)) == OK
        assert admin.cluster.topics["t"].effective_int("max.message.bytes") == 3000000
        assert change(admin, BROKER, "", ("message.max.bytes", DELETE, None)) == OK
        assert admin.broker.configs.get_int("message.max.bytes") == 1048588

    def test_lists(self) -> None:
        admin = Admin()
        assert change(admin, BROKER, "1", ("log.cleanup.policy", APPEND, "compact")) == OK
        assert entry(admin, BROKER, "1", "log.cleanup.policy")[0] == "delete,compact"
        assert change(admin, BROKER, "1", ("log.cleanup.policy", APPEND, ",")) == OK
        refused = (42, "Configuration 'log.cleanup.policy' values must not be empty.")
        assert change(admin, BROKER, "1", ("log.cleanup.policy", APPEND, "")) == refused

    def test_a_brokers_changes_are_looked_at_as_asked(self) -> None:
        one, other = ("message.max.bytes", APPEND, "1"), ("num.io.threads", SUBTRACT, "1")
        admin = Admin()
        assert change(admin, BROKER, "1", one, other) == (
            40,
            "Config value append is not allowed for config key: message.max.bytes",
        )
        assert change(admin, BROKER, "1", other, one) == (
            40,
            "Config value subtract is not allowed for config key: num.io.threads",
        )

    def test_names_kafka_does_not_know_are_kept_and_hidden(self) -> None:
        admin = Admin()
        assert change(admin, BROKER, "1", ("my.plugin.password", SET, "secret")) == OK
        [config] = describe(admin, BROKER, "1", "my.plugin.password").configs
        assert (config.value, config.is_sensitive, config.read_only, config.config_type) == (
            None,
            True,
            True,
            0,
        )
        assert [(each.value, each.source) for each in config.synonyms] == [(None, 2)]

    @pytest.mark.parametrize(
        ("name", "operations", "code", "message"),
        [
            (
                "2",
                [("message.max.bytes", SET, "5")],
                42,
                "Unexpected broker id, expected 1, but received 2",
            ),
            (
                "x",
                [("message.max.bytes", SET, "5")],
                42,
                "Node id must be an integer, but it is: x",
            ),
            (
                "1",
                [("num.partitions", SET, "5"), ("node.id", SET, "4")],
                42,
                "Cannot update these configs dynamically: [node.id, num.partitions]",
            ),
            (
                "",
                [("group.initial.rebalance.delay.ms", SET, "5")],
                42,
                "Cannot update these configs dynamically: [group.initial.rebalance.delay.ms]",
            ),
            (
                "",
                [("listeners", SET, "PLAINTEXT://:1")],
                42,
                "Cannot update these configs at default cluster level, broker id must be specified: [listeners]",
            ),
            (
                "1",
                [("ssl.keystore.location", SET, "/x")],
                42,
                "These security configs can be dynamically updated only per-listener using the listener prefix: [ssl.keystore.location]",
            ),
            (
                "1",
                [("message.max.bytes", SET, "x")],
                42,
                "Invalid value x for configuration message.max.bytes: Not a number of type INT",
            ),
            (
                "1",
                [("message.max.bytes", APPEND, "1")],
                40,
                "Config value append is not allowed for config key: message.max.bytes",
            ),
            ("1", [("message.max.bytes", 7, "1")], 42, "Unknown operations type 7"),
            ("1", [("nope", APPEND, "1")], 40, "Unknown config name: nope"),
            (
                "1",
                [("min.insync.replicas", SET, "2")],
                40,
                "Broker-level min.insync.replicas cannot be altered while ELR is enabled.",
            ),
            (
                "",
                [("min.insync.replicas", DELETE, None)],
                40,
                "Cluster-level min.insync.replicas cannot be removed while ELR is enabled.",
            ),
            (
                "1",
                [("log.retention.ms", SET, "0")],
                42,
                "requirement failed: log.retention.ms must be unlimited (-1) or, greater than or equal to 1",
            ),
            (
                "1",
                [("group.consumer.assignment.interval.ms", SET, "20000")],
                42,
                "group.consumer.assignment.interval.ms must be less than or equal to group.consumer.max.assignment.interval.ms",
            ),
            ("1", [("num.io.threads", SET, "17")], 42, THREADS),
        ],
    )
    def test_refusals_change_nothing(
        self, name: str, operations: list[Any], code: int, message: str
    ) -> None:
        admin = Admin()
        changes: list[int] = []
        admin.broker.configs.on_change(lambda: changes.append(1))
        assert change(admin, BROKER, name, *operations) == (code, message)
        assert not changes

    def test_alter_replaces_everything(self) -> None:
        admin = Admin()
        assert replace(admin, BROKER, "1", message_max_bytes="5", log_retention_ms="9") == OK
        assert replace(admin, BROKER, "1", message_max_bytes="6") == OK
        assert admin.broker.configs.dynamic == {"message.max.bytes": "6"}
        assert replace(admin, BROKER, "1", num_partitions="6") == (
            42,
            "Cannot update these configs dynamically: [num.partitions]",
        )
        removed = "Cluster-level min.insync.replicas cannot be removed while ELR is enabled."
        assert replace(admin, BROKER, "", message_max_bytes="6") == (40, removed)


class TestOthers:
    def test_groups(self) -> None:
        admin = Admin()
        assert change(admin, GROUP, "g", ("consumer.session.timeout.ms", SET, "46000")) == OK
        synonyms = [
            ("consumer.session.timeout.ms", "46000", 8),
            ("group.consumer.session.timeout.ms", "45000", 5),
        ]
        assert entry(admin, GROUP, "g", "consumer.session.timeout.ms") == ("46000", 8, synonyms)
        assert replace(admin, GROUP, "g") == OK
        assert admin.cluster.group_configs == {}

    @pytest.mark.parametrize(
        ("name", "key", "value", "code", "message"),
        [
            (
                "",
                "consumer.session.timeout.ms",
                "46000",
                42,
                "Default group resources are not allowed.",
            ),
            ("g", "nope", "1", 40, "Unknown group config name: nope"),
            (
                "g",
                "consumer.session.timeout.ms",
                "1",
                40,
                "consumer.session.timeout.ms must be in the range 45000 to 60000 inclusive.",
            ),
            (
                "g",
                "streams.num.standby.replicas",
                "3",
                40,
                "streams.num.standby.replicas must be less than or equal to 2",
            ),
            ("g", "share.auto.offset.reset", "x", 40, OFFSET_RESET),
        ],
    )
    def test_group_refusals(self, name: str, key: str, value: str, code: int, message: str) -> None:
        assert change(Admin(), GROUP, name, (key, SET, value)) == (code, message)

    @pytest.mark.parametrize("pair", [(0, 1), (1, 0)])
    @pytest.mark.parametrize(
        ("first", "second"),
        [
            (("share.auto.offset.reset", "x"), ("share.isolation.level", "x")),
            (("consumer.assignor.offload.enable", "x"), ("share.isolation.level", "x")),
            (("consumer.heartbeat.interval.ms", "1"), ("consumer.session.timeout.ms", "1")),
            (("streams.assignor.name", "x"), ("errors.deadletterqueue.topic.name", "__x")),
        ],
    )
    def test_of_two_faults_of_a_group_the_first_is_told(
        self, first: tuple[str, str], second: tuple[str, str], pair: tuple[int, int]
    ) -> None:
        """In the order in which Kafka reads settings, whatever the order in the request."""
        admin = Admin()
        alone = change(admin, GROUP, "g", (first[0], SET, first[1]))
        assert alone[0] == 40
        both = [(name, SET, value) for name, value in (first, second)]
        assert change(admin, GROUP, "g", *(both[at] for at in pair)) == alone

    def test_nothing_is_added_to_a_list_of_a_group(self) -> None:
        name = "streams.rack.aware.assignment.tags"
        refused = (40, f"Can't APPEND to key {name} because its type is not LIST.")
        assert change(Admin(), GROUP, "g", (name, APPEND, "a")) == refused

    def test_client_metrics(self) -> None:
        admin = Admin()
        assert (
            change(
                admin, METRICS, "m", ("interval.ms", SET, "1000"), ("match", SET, "client_id=a.*")
            )
            == OK
        )
        assert entry(admin, METRICS, "m", "interval.ms") == (
            "1000",
            7,
            [("interval.ms", "1000", 7)],
        )
        assert entry(admin, METRICS, "m", "metrics") == ("", 5, [])
        too_short = (
            "Invalid value 10 for interval.ms, interval must be between 100 and 3600000 (1 hour)"
        )
        assert change(admin, METRICS, "m", ("interval.ms", SET, "10")) == (42, too_short)
        assert change(admin, METRICS, "m", ("nope", SET, "10")) == (
            42,
            "Unknown client metrics configuration: nope",
        )
        assert change(admin, METRICS, "m", ("match", SET, "x=[")) == (
            40,
            "Illegal client matching pattern: x=[",
        )
        assert change(admin, METRICS, "", ("match", SET, "x")) == (
            42,
            "Subscription name can't be empty",
        )
        assert replace(admin, METRICS, "m") == OK
        assert admin.cluster.client_metrics == {}

    def test_levels_of_loggers(self) -> None:
        """A logger without a level has the root's; what is refused changes nothing."""
        admin = Admin()
        name = "org.apache.kafka.coordinator.group.GroupCoordinatorService"

        def level(of: str) -> str | None:
            (found,) = (row.value for row in describe(admin, LOGGER, "1").configs if row.name == of)
            return found

        assert (level("root"), level(name)) == ("INFO", "INFO")
        assert change(admin, LOGGER, "1", (name, SET, "DEBUG")) == OK
        assert (level("root"), level(name)) == ("INFO", "DEBUG")
        assert change(admin, LOGGER, "1", ("root", SET, "WARN")) == OK
        assert change(admin, LOGGER, "1", (name, DELETE, None)) == OK
        assert (level("root"), level(name)) == ("WARN", "WARN")
        assert change(admin, LOGGER, "1", (name, SET, "ERROR"), ("root", DELETE, None)) == (
            42,
            "Removing the log level of the root logger is not allowed",
        )
        assert change(admin, LOGGER, "1", (name, SET, "loud"))[0] == 40
        assert level(name) == "WARN"

    def test_loggers_that_there_are_not(self) -> None:
        admin = Admin()
        assert change(admin, LOGGER, "1", ("kafka", SET, "INFO")) == (
            40,
            "Logger kafka does not exist!",
        )
        not_allowed = "APPEND operation is not allowed for the BROKER_LOGGER resource"
        assert change(admin, LOGGER, "1", ("kafka", APPEND, "INFO")) == (42, not_allowed)
        assert change(admin, LOGGER, "2", ("kafka", SET, "INFO")) == (
            42,
            "Unexpected node id. Expected 1, but received 2",
        )
        assert replace(admin, LOGGER, "1", kafka="INFO") == (42, "Unknown resource type 8")
        text = "Unknown operation type 4 is not allowed for the BROKER_LOGGER resource"
        assert change(admin, LOGGER, "1", ("kafka", 4, "INFO")) == (42, text)  # CFG-44-5

    def test_unknown_types(self) -> None:
        assert change(Admin(), 3, "x", ("a", SET, "b")) == (42, "Unknown resource type 3")

    def test_a_resource_twice(self) -> None:
        admin = Admin("t", "u")
        resources = [
            incremental_alter_configs.AlterConfigsResource(
                resource_type=TOPIC,
                resource_name=name,
                configs=[incremental_alter_configs.AlterableConfig(name="retention.ms", value="5")],
            )
            for name in ("t", "u", "t")
        ]
        responses = admin.ask(44, 1, resources=resources).responses
        assert [(each.resource_name, each.error_code) for each in responses] == [
            ("t", 42),
            ("u", 0),
            ("t", 42),
        ]
        assert responses[0].error_message == "Each resource must appear at most once."


def test_what_is_internal_of_groups_is_shown_where_it_is_given() -> None:
    """Of the group or of the broker, be it the default."""
    broker = BrokerConfigs({"group.share.assignor.offload.enable": "true"})
    own = {"streams.num.warmup.replicas": "3"}
    shown = {entry.name for entry in group_entries(own, broker)}
    assert {"share.assignor.offload.enable", "streams.num.warmup.replicas"} <= shown
    assert "consumer.assignor.offload.enable" not in shown


def test_what_was_given_for_single_listeners_and_the_authorizer() -> None:
    """A listener's setting is shown as that of all listeners; secrets, and what Kafka itself does not
    know, without their value. An address that was not given is none."""
    name = "listener.name.sasl.plain.connections.max.reauth.ms"
    configs = BrokerConfigs(
        {
            name: "8000",
            "connections.max.reauth.ms": "9000",
            "listener.name.sasl.scram-sha-256.sasl.jaas.config": "secret",
            "super.users": "User:root",
        }
    )
    shown = {entry.name: entry for entry in broker_entries(configs)}
    base = "connections.max.reauth.ms"
    assert shown[name] == (name, "8000", True, 4, False, ConfigType.LONG, [
        (name, "8000", 4), (base, "9000", 4), (base, "0", 5)
    ])  # fmt: skip
    secret = "listener.name.sasl.scram-sha-256.sasl.jaas.config"
    assert shown[secret] == (secret, None, True, 4, True, ConfigType.PASSWORD, [(secret, None, 4)])
    people = "super.users"
    assert shown[people] == (people, None, True, 4, True, ConfigType.UNKNOWN, [(people, None, 4)])
    assert (shown["advertised.listeners"].value, shown["advertised.listeners"].source) == (None, 5)


@pytest.mark.parametrize("text", ["many", "-1", "1" * 20])
def test_a_wrong_size_of_the_volume(text: str) -> None:
    with pytest.raises(ConfigError, match="give a number of bytes"):
        BrokerConfigs({"log.dir.volume.usable.bytes": text})
