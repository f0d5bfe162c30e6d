"""The broker's configuration at start (CFG-1), Kafka's definitions and validators, and what is in
force."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import coordinator
from coordinator.base.releases import RELEASES
from coordinator.server.settings.broker_configs import (
    BROKER_SYNONYMS,
    DECIDED_ELSEWHERE,
    HONOURED,
    HONOURED_BY_SEVERAL,
    HONOURED_IF_GIVEN,
    BrokerConfigs,
    ConfigError,
    broker_defs,
)
from coordinator.server.settings.definitions import (
    ConfigException,
    ConfigSource,
    ConfigType,
    read_table,
    show,
)
from coordinator.server.settings.group_configs import broker_synonym, group_defs
from coordinator.server.settings.topic_configs import (
    SYNONYMS,
    effective_texts,
    topic_defs,
    validate,
)
from coordinator.server.settings.topic_configs import effective_value as effective


def parsed(name: str, text: str) -> object:
    return broker_defs()[name].parse(text)


def refusal(name: str, text: str) -> str:
    with pytest.raises(ConfigException) as refused:
        parsed(name, text)
    return str(refused.value)


def test_defaults_of_the_release() -> None:
    """CFG-1; the initial rebalance delay is the one default that differs, unless Kafka's are asked
    for."""
    configs = BrokerConfigs()
    assert configs.group_config() == {
        "min_session_timeout_ms": 6000,
        "max_session_timeout_ms": 1_800_000,
        "initial_rebalance_delay_ms": 0,
        "max_size": 2_147_483_647,
        "offset_metadata_max_bytes": 4096,
        "offsets_retention_ms": 7 * 24 * 3_600_000,
        "offsets_retention_check_interval_ms": 600_000,
        "offsets_topic_partitions": 50,
    }
    assert BrokerConfigs(kafka_defaults=True).get_int("group.initial.rebalance.delay.ms") == 3000
    assert configs.text("group.initial.rebalance.delay.ms") == ("0", ConfigSource.STATIC_BROKER)
    assert configs.get_int("offsets.commit.timeout.ms") == 5000
    assert configs.get_int("group.coordinator.append.linger.ms") == -1
    assert configs.get_list("group.coordinator.rebalance.protocols") == [
        "classic",
        "consumer",
        "streams",
    ]
    assert configs.get_bool("auto.create.topics.enable") is True
    assert configs.get_int("num.partitions") == 1
    assert configs.get_int("message.max.bytes") == 1_048_588
    assert configs.get_int("socket.request.max.bytes") == 104_857_600
    assert configs.get_int("producer.id.expiration.ms") == 86_400_000
    assert configs.get_str("log.message.timestamp.type") == "CreateTime"


def test_every_table_is_sound() -> None:
    assert (len(broker_defs()), len(topic_defs()), len(group_defs())) == (350, 37, 21)
    without_default = {"controller.listener.names", "node.id", "process.roles"}
    for table in (broker_defs(), topic_defs(), group_defs()):
        for of in table.values():
            if of.name not in without_default:
                assert show(of.parse(of.default)) == of.default
    assert broker_defs().keys() >= HONOURED
    assert broker_defs().keys() >= {name for names in BROKER_SYNONYMS.values() for name in names}
    of_topics, of_brokers = (
        {name for release in RELEASES.values() for name in defs(release)}
        for defs in (topic_defs, broker_defs)
    )
    assert of_topics >= SYNONYMS.keys()
    assert of_brokers >= {name for names in SYNONYMS.values() for name, _ in names}
    assert broker_defs().keys() >= {name for name in map(broker_synonym, group_defs()) if name}


def test_a_topics_default_is_the_brokers() -> None:
    configs = BrokerConfigs()
    for name in topic_defs():
        assert show(effective(name, {}, configs)) == topic_defs()[name].default


def test_given_values() -> None:
    configs = BrokerConfigs.from_options(
        ["num.partitions=3", " num.partitions = 4 ", "group.max.size=2"]
    )
    assert configs.get_int("num.partitions") == 4
    assert configs.group_config()["max_size"] == 2
    assert (
        BrokerConfigs.from_options(["offsets.retention.minutes=1"]).group_config()[
            "offsets_retention_ms"
        ]
        == 60_000
    )


@pytest.mark.parametrize(
    ("option", "told"),
    [
        (
            "num.partition=3",
            "num.partition is no broker configuration of Kafka 4.4.0; did you mean num.partitions",
        ),
        ("zzzz=1", "zzzz is no broker configuration of Kafka 4.4.0"),
        ("num.partitions", "'num.partitions' is no configuration: write name=value"),
        ("=3", "'=3' is no configuration: write name=value"),
        (
            "num.partitions=x",
            "num.partitions=x: Invalid value x for configuration num.partitions: Not a number of type INT",
        ),
        (
            "num.partitions=0",
            "num.partitions=0: Invalid value 0 for configuration num.partitions: Value must be at least 1",
        ),
        ("listeners=PLAINTEXT://:1", "listeners follows from the server's own options"),
        (
            "group.min.session.timeout.ms=1800001",
            "group.min.session.timeout.ms=1800001 must not be above group.max.session.timeout.ms=1800000",
        ),
        (
            "group.initial.rebalance.delay.ms=-1",
            "group.initial.rebalance.delay.ms must be 0 or more",
        ),
        (
            "group.coordinator.rebalance.protocols=consumer",
            "group.coordinator.rebalance.protocols must contain classic",
        ),
    ],
)
def test_wrong_options_are_told_what_would_be_right(option: str, told: str) -> None:
    with pytest.raises(ConfigError) as refused:
        BrokerConfigs.from_options([option])
    assert str(refused.value).startswith(told)


def test_precedence() -> None:
    configs = BrokerConfigs({"message.max.bytes": "1"})
    changes: list[int] = []
    configs.on_change(lambda: changes.append(configs.get_int("message.max.bytes")))
    assert configs.text("message.max.bytes") == ("1", ConfigSource.STATIC_BROKER)
    configs.replace_dynamic({"message.max.bytes": "2"}, for_all_brokers=True)
    assert configs.get_int("message.max.bytes") == 2
    configs.replace_dynamic({"message.max.bytes": "3"}, for_all_brokers=False)
    assert (configs.get_int("message.max.bytes"), configs.text("message.max.bytes")[1]) == (
        3,
        ConfigSource.DYNAMIC_BROKER,
    )
    configs.replace_dynamic({}, for_all_brokers=False)
    assert configs.get_int("message.max.bytes") == 2
    assert changes == [2, 3, 2]


def test_what_is_in_force() -> None:
    configs = BrokerConfigs(
        {"num.partitions": "3", "num.io.threads": "2", "ssl.key.password": "secret"}
    )
    configs.publish("listeners", "PLAINTEXT://127.0.0.1:9092")
    lines = {line.name: line for line in configs.in_force()}
    assert lines.keys() >= HONOURED
    assert (
        lines["num.partitions"].value,
        lines["num.partitions"].source,
        lines["num.partitions"].honoured,
    ) == ("3", 4, True)
    assert (lines["num.io.threads"].value, lines["num.io.threads"].honoured) == ("2", False)
    assert lines["ssl.key.password"].value == "[hidden]"
    assert not lines.keys() & DECIDED_ELSEWHERE
    assert configs.get_list("listeners") == ["PLAINTEXT://127.0.0.1:9092"]
    assert list(lines) == sorted(lines)


_READ = re.compile(r'(?:configs?\.get\w*|\bvalue)\(\s*"([a-z.]+)"')


def test_what_is_read_is_not_called_shown_only() -> None:
    """`serve` said of a queue's lock duration, of quotas' windows and of others that nothing depends
    on them."""
    package = Path(coordinator.__file__).parent
    read = {
        name
        for file in package.rglob("*.py")
        for name in _READ.findall(file.read_text(encoding="utf-8"))
    }
    assert read & broker_defs().keys()
    acted_on = HONOURED | HONOURED_IF_GIVEN | HONOURED_BY_SEVERAL | DECIDED_ELSEWHERE
    assert sorted((read & broker_defs().keys()) - acted_on) == []
    configs = BrokerConfigs({"group.share.record.lock.duration.ms": "15000"})
    (line,) = [each for each in configs.in_force() if "record.lock.duration" in each.name]
    assert (line.value, line.honoured) == ("15000", True)


PROTOCOLS = "group.coordinator.rebalance.protocols"


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("num.partitions", "1.5", "Not a number of type INT"),
        ("num.partitions", "1_0", "Not a number of type INT"),
        ("num.partitions", "2147483648", "Not a number of type INT"),
        ("log.retention.ms", "9223372036854775808", "Not a number of type LONG"),
        ("offsets.topic.replication.factor", "99999", "Not a number of type SHORT"),
        ("group.share.max.size", "1001", "Value must be no more than 1000"),
        ("auto.create.topics.enable", "1", "Expected value to be either true or false"),
        ("log.cleaner.min.cleanable.ratio", "1.5", "Value must be no more than 1"),
        ("log.cleaner.min.cleanable.ratio", "x", "Not a number of type DOUBLE"),
        (
            "compression.type",
            "GZIP",
            "String must be one of: uncompressed, zstd, lz4, snappy, gzip, producer",
        ),
        (
            "group.consumer.migration.policy",
            "x",
            "String must be one of (case insensitive): DISABLED, DOWNGRADE, UPGRADE, BIDIRECTIONAL",
        ),
        ("remote.log.storage.manager.class.name", "", "String must be non-empty"),
        (PROTOCOLS, "bogus", "String must be one of: consumer, classic, share, streams"),
        ("compression.gzip.level", "0", "Value must be between 1 and 9 or equal to -1"),
    ],
)
def test_values_kafka_refuses(name: str, text: str, why: str) -> None:
    assert refusal(name, text) == f"Invalid value {text} for configuration {name}: {why}"


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        (
            PROTOCOLS,
            "",
            "must not be empty. Valid values include: [consumer, classic, share, streams]",
        ),
        (
            "group.consumer.assignors",
            "",
            "must not be empty. Valid values include: any non-empty value",
        ),
        ("group.consumer.assignors", "a,,b", "values must not be empty."),
    ],
)
def test_lists_kafka_refuses(name: str, text: str, why: str) -> None:
    assert refusal(name, text) == f"Configuration '{name}' {why}"


@pytest.mark.parametrize(
    ("name", "text", "value", "shown"),
    [
        ("num.partitions", " +5 ", 5, "5"),
        ("auto.create.topics.enable", "TRUE", True, "true"),
        ("log.cleaner.io.buffer.load.factor", "1e3", 1000.0, "1000.0"),
        ("log.cleaner.io.buffer.load.factor", "1e-5", 1e-5, "1.0E-5"),
        ("log.cleaner.io.buffer.load.factor", "123456789", 123456789.0, "1.23456789E8"),
        ("log.cleaner.io.buffer.load.factor", "1d", 1.0, "1.0"),
        ("log.cleaner.io.buffer.load.factor", "-Infinity", float("-inf"), "-Infinity"),
        ("group.coordinator.rebalance.protocols", " classic , classic", ["classic"], "classic"),
        ("log.cleanup.policy", "", [], ""),
        ("group.consumer.migration.policy", "Upgrade", "Upgrade", "Upgrade"),
        ("compression.gzip.level", "-1", -1, "-1"),
    ],
)
def test_values_as_java_reads_and_shows_them(
    name: str, text: str, value: object, shown: str
) -> None:
    assert parsed(name, text) == value
    assert show(broker_defs()[name].parse(text)) == shown


def test_throttled_replicas() -> None:
    for text in ("*", "", "0:1,1:1"):
        validate({"leader.replication.throttled.replicas": text})
    with pytest.raises(ConfigException) as refused:
        validate({"leader.replication.throttled.replicas": "x"})
    assert str(refused.value) == (
        "Invalid value [x] for configuration leader.replication.throttled.replicas: leader.replication.throttled.replicas must be the "
        "literal '*' or a list of replicas in the following format: [partitionId]:[brokerId],[partitionId]:[brokerId],..."
    )


def test_sources_of_a_new_topics_values() -> None:
    configs = BrokerConfigs({"log.retention.hours": "1"})
    texts = {
        name: (value, int(source))
        for name, value, source in effective_texts({"segment.ms": "7"}, configs)
    }
    assert texts["segment.ms"] == ("7", 1)
    assert texts["min.insync.replicas"] == ("1", 3)
    assert texts["retention.ms"] == ("3600000", 4)
    assert texts["flush.ms"] == ("9223372036854775807", 5)


def test_the_notation_of_tables() -> None:
    table = read_table("a int 1 1.. cluster\nb list '' [] -\nc password null - broker\n")
    assert (table["a"].type, table["a"].default, table["a"].update) == (
        ConfigType.INT,
        "1",
        "cluster",
    )
    assert (table["b"].default, table["c"].default, table["c"].sensitive) == ("", None, True)
