"""Configurations of single brokers and of all, as they act on topics that have none of their own;
and the older AlterConfigs."""

from __future__ import annotations

from integration_tests.cluster.registry import scenario
from integration_tests.cluster.scenarios.assignments import BROKER, DELETE, TOPIC, alter, described
from integration_tests.cluster.scenarios.positions import served
from integration_tests.cluster.stage import BROKERS, Cluster
from integration_tests.wire.raw import Plain

SIZE = "message.max.bytes"
OF_ONE_BROKER = 2
"""Where a value comes from: DYNAMIC_BROKER_CONFIG."""


def topic_told(c: Cluster, name: str, *keys: str) -> None:
    """DescribeConfigs of a topic at each broker, one by one, with what each value hides."""
    for key in keys:
        wanted: Plain = {"resource_type": TOPIC, "resource_name": name, "configuration_keys": [key]}
        for broker in BROKERS:
            c.at(broker).ask("DescribeConfigs", 4, resources=[wanted], include_synonyms=True)


def gone(c: Cluster, broker: int, key: str) -> None:
    """Wait until a broker has no value of its own."""
    wanted: Plain = {
        "resource_type": BROKER,
        "resource_name": str(broker),
        "configuration_keys": [key],
    }

    def away() -> bool:
        (found,) = c.quietly("DescribeConfigs", 4, broker, resources=[wanted])["results"][0][
            "configs"
        ]
        return bool(found["config_source"] != OF_ONE_BROKER)

    c.s.until(away, f"{broker} kept its {key}")


@scenario
def limits_of_one_broker(c: Cluster) -> None:
    """message.max.bytes of one broker and of all: a topic without max.message.bytes of its own has
    that of whichever broker leads it."""
    name, own = c.topic("t", [1, 2]), c.topic("own", [1, 2], max_message_bytes="150")
    alter(c, BROKER, "1", SIZE, "100", broker=1)
    described(c, BROKER, "1", SIZE, "100", broker=1)
    topic_told(c, name, "max.message.bytes")
    topic_told(c, own, "max.message.bytes")
    c.produce(name, b"v" * 60, broker=1)
    c.produce(own, b"v" * 60, broker=1)
    c.lead(name, 0, 2)
    served(c, name, 2)
    c.produce(name, b"v" * 60, broker=2)
    alter(c, BROKER, "", SIZE, "90", broker=3)
    described(c, BROKER, "", SIZE, "90", broker=2)
    topic_told(c, name, "max.message.bytes")
    c.produce(name, b"v" * 60, broker=2)
    c.produce(own, b"v" * 60, broker=1)
    c.produce(own, b"v" * 100, broker=1)
    alter(c, BROKER, "1", SIZE, None, DELETE, broker=1)
    alter(c, BROKER, "", SIZE, None, DELETE, broker=1)
    for broker in BROKERS:
        described(c, BROKER, "", SIZE, None, broker=broker)
    topic_told(c, name, "max.message.bytes")
    c.produce(name, b"v" * 60, broker=2)


@scenario
def what_each_value_hides(c: Cluster) -> None:
    """Synonyms of a topic's configurations at each broker: its own, that of the broker, that of
    all, Kafka's default."""
    name = c.topic("t", [1, 2], retention_ms="1000", compression_type="gzip")
    for key, value in (
        ("log.retention.ms", "2000"),
        ("compression.type", "lz4"),
        ("log.cleanup.policy", "compact"),
    ):
        alter(c, BROKER, "", key, value)
        described(c, BROKER, "", key, value, broker=2)
        described(c, BROKER, "", key, value, broker=3)
    for key, value in (("log.retention.ms", "3000"), ("log.segment.bytes", "1048576")):
        alter(c, BROKER, "2", key, value, broker=2)
        described(c, BROKER, "2", key, value, broker=2)
    for key in (
        "retention.ms",
        "compression.type",
        "cleanup.policy",
        "segment.bytes",
        "segment.ms",
        "min.insync.replicas",
        "flush.ms",
    ):
        topic_told(c, name, key)
    c.stop(2)
    c.start(2)
    topic_told(c, name, "retention.ms", "segment.bytes")
    for key in ("log.retention.ms", "compression.type", "log.cleanup.policy"):
        alter(c, BROKER, "", key, None, DELETE)
    for key in ("log.retention.ms", "log.segment.bytes"):
        alter(c, BROKER, "2", key, None, DELETE, broker=2)
        gone(c, 2, key)
    topic_told(c, name, "retention.ms")


@scenario
def whole_configurations(c: Cluster) -> None:
    """AlterConfigs replaces all that was set: of topics at any broker, of brokers at their own, of
    all; what is refused changes nothing."""
    name = c.topic("t", [1, 2], retention_ms="1000", max_message_bytes="500")

    def replace(
        kind: int,
        resource: str,
        broker: int,
        *configs: tuple[str, str | None],
        version: int = 2,
        check: bool = False,
    ) -> None:
        listed = [{"name": key, "value": value} for key, value in configs]
        resources = [{"resource_type": kind, "resource_name": resource, "configs": listed}]
        c.at(broker).ask("AlterConfigs", version, resources=resources, validate_only=check)

    replace(TOPIC, name, 3, ("retention.ms", "2000"))
    described(c, TOPIC, name, "retention.ms", "2000", broker=2)
    topic_told(c, name, "max.message.bytes", "retention.ms")
    for version in (0, 1, 2):
        replace(TOPIC, name, 2, ("retention.ms", "x"), version=version)
        replace(TOPIC, name, 2, ("nope", "1"), version=version)
        replace(TOPIC, name, 2, ("retention.ms", None), version=version, check=True)
        replace(TOPIC, c.s.name("nope"), 2, ("retention.ms", "1"), version=version)
    replace(TOPIC, name, 1, ("retention.ms", "3000"), check=True)
    replace(TOPIC, name, 1)
    described(c, TOPIC, name, "retention.ms", "604800000", broker=3)
    for broker in (1, 2):
        replace(BROKER, "2", broker, ("log.retention.ms", "4000"), check=True)
        replace(BROKER, "2", broker, ("log.retention.ms", "4000"))
    described(c, BROKER, "2", "log.retention.ms", "4000", broker=2)
    replace(BROKER, "2", 2, ("log.cleaner.threads", "2"))
    gone(c, 2, "log.retention.ms")
    described(c, BROKER, "2", "log.cleaner.threads", "2", broker=2)
    replace(BROKER, "2", 2, ("broker.id", "2"))
    replace(BROKER, "2", 2, ("nope", "2"))
    replace(BROKER, "9", 2, ("log.cleaner.threads", "2"))
    replace(BROKER, "x", 2, ("log.cleaner.threads", "2"))
    replace(BROKER, "2", 2)
    described(c, BROKER, "2", "log.cleaner.threads", "1", broker=2)
    replace(9, name, 2, ("a", "b"))
