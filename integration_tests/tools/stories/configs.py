"""kafka-configs: of topics, brokers, groups, client metrics, users, clients and addresses;
kafka-client-metrics."""

from __future__ import annotations

from integration_tests.tools.registry import story
from integration_tests.tools.shell import Shell

CONFIGS, METRICS = "kafka-configs", "kafka-client-metrics"


@story()
def of_a_topic(sh: Shell) -> None:
    """Added, shown, changed in lists, deleted; all of them."""
    name = sh.topic("t", retention_ms="1000")
    at = ("--entity-type", "topics", "--entity-name", name)
    sh.run(CONFIGS, "--describe", *at)
    sh.run(
        CONFIGS,
        "--alter",
        *at,
        "--add-config",
        "cleanup.policy=[compact,delete],segment.bytes=1048576",
    )
    _settled(sh, at, "segment.bytes=1048576")
    sh.run(CONFIGS, "--describe", *at, shuffled=True)
    sh.run(CONFIGS, "--alter", *at, "--delete-config", "cleanup.policy,retention.ms")
    _settled(sh, at, "segment.bytes=1048576", without="retention.ms=")
    sh.run(CONFIGS, "--describe", *at)
    sh.run(CONFIGS, "--describe", "--topic", name)
    for key in (
        "segment.bytes",
        "min.insync.replicas",
        "retention.ms",
        "cleanup.policy",
        "max.message.bytes",
        "compression.type",
    ):
        sh.run(CONFIGS, "--describe", *at, "--all", only=f" {key}=")


def _settled(sh: Shell, at: tuple[str, ...], text: str, without: str = "\0") -> None:
    """Wait until a change is seen: asked by the same tool, without a line."""
    sh.until(
        lambda: (
            text in (said := sh.quietly(CONFIGS, "--describe", *at).output) and without not in said
        )
    )


@story()
def of_a_topic_refused(sh: Shell) -> None:
    """Unknown keys, values that cannot be, topics that are not there."""
    name = sh.topic("t")
    at = ("--entity-type", "topics", "--entity-name", name)
    for change in (
        "nope=1",
        "retention.ms=soon",
        "cleanup.policy=never",
        "min.insync.replicas=0",
        "segment.bytes",
    ):
        sh.run(CONFIGS, "--alter", *at, "--add-config", change)
    sh.run(CONFIGS, "--alter", *at, "--delete-config", "segment.bytes")
    missing = ("--entity-type", "topics", "--entity-name", sh.name("missing"))
    sh.run(CONFIGS, "--alter", *missing, "--add-config", "retention.ms=5")
    sh.run(CONFIGS, "--describe", *missing)


@story()
def of_brokers(sh: Shell) -> None:
    """What is set at run time for all, and for the one; what cannot be set."""
    every, one = (
        ("--entity-type", "brokers", "--entity-default"),
        ("--entity-type", "brokers", "--entity-name", "1"),
    )
    key = "log.cleaner.backoff.ms"
    sh.run(CONFIGS, "--alter", *one, "--add-config", f"{key}=14000")
    _settled(sh, one, f"{key}=14000")
    sh.run(CONFIGS, "--describe", *one, only=key)
    sh.run(CONFIGS, "--alter", *every, "--add-config", f"{key}=13000")
    _settled(sh, every, f"{key}=13000")
    sh.run(CONFIGS, "--describe", *every, only=key)
    sh.run(CONFIGS, "--describe", *one, "--all", only=f" {key}=")
    sh.run(CONFIGS, "--alter", *one, "--delete-config", key)
    _settled(sh, one, "", without=f"{key}=14000")
    sh.run(CONFIGS, "--describe", *one, only=key)
    sh.run(CONFIGS, "--alter", *every, "--delete-config", key)
    _settled(sh, every, "", without=key)
    sh.run(CONFIGS, "--describe", *every, only=key)
    for change in ("node.id=5", f"{key}=never", "no.such.thing=1"):
        sh.run(CONFIGS, "--alter", *one, "--add-config", change)
    sh.run(CONFIGS, "--alter", *every, "--delete-config", "no.such.thing")
    sh.quietly(CONFIGS, "--alter", *one, "--delete-config", "no.such.thing")
    for key in (
        "group.initial.rebalance.delay.ms",
        "group.max.session.timeout.ms",
        "auto.create.topics.enable",
        "num.partitions",
    ):
        sh.run(CONFIGS, "--describe", *one, "--all", only=f" {key}=")


@story()
def of_brokers_that_are_not_there(sh: Shell) -> None:
    """Another id, no number; loggers."""
    sh.run(CONFIGS, "--describe", "--entity-type", "brokers", "--entity-name", "x")
    sh.run(
        CONFIGS, "--alter", "--entity-type", "brokers", "--entity-name", "x", "--add-config", "a=b"
    )
    sh.run(CONFIGS, "--describe", "--entity-type", "broker-loggers")


@story()
def of_a_group(sh: Shell) -> None:
    """Only keys of KIP-848, share and streams groups; shown when set."""
    at = ("--entity-type", "groups", "--entity-name", sh.name("g"))
    sh.run(CONFIGS, "--describe", *at)
    sh.run(
        CONFIGS,
        "--alter",
        *at,
        "--add-config",
        "consumer.session.timeout.ms=50000,consumer.heartbeat.interval.ms=6000",
    )
    _settled(sh, at, "consumer.session.timeout.ms=50000")
    sh.run(CONFIGS, "--describe", *at, shuffled=True)
    sh.run(CONFIGS, "--describe", "--group", sh.name("g"), shuffled=True)
    for change in (
        "consumer.session.timeout.ms=1",
        "session.timeout.ms=50000",
        "consumer.session.timeout.ms=soon",
    ):
        sh.run(CONFIGS, "--alter", *at, "--add-config", change)
    sh.run(
        CONFIGS,
        "--alter",
        *at,
        "--delete-config",
        "consumer.session.timeout.ms,consumer.heartbeat.interval.ms",
    )
    _settled(sh, at, "", without="consumer.session.timeout.ms=")
    sh.run(CONFIGS, "--describe", *at)


@story()
def of_client_metrics(sh: Shell) -> None:
    """Subscriptions by either tool."""
    name = sh.name("m")
    at = ("--entity-type", "client-metrics", "--entity-name", name)
    sh.run(CONFIGS, "--describe", *at)
    sh.run(
        CONFIGS,
        "--alter",
        *at,
        "--add-config",
        "interval.ms=5000,metrics=[org.apache.kafka.consumer.],match=[client_id=app.*]",
    )
    _settled(sh, at, "interval.ms=5000")
    sh.run(CONFIGS, "--describe", *at, shuffled=True)
    sh.run(METRICS, "--list", only=name)
    sh.run(METRICS, "--describe", "--name", name, shuffled=True)
    sh.run(CONFIGS, "--describe", "--entity-type", "client-metrics", only=name)
    sh.run(METRICS, "--alter", "--name", name, "--interval", "6000", "--match", "client_id=other")
    _settled(sh, at, "interval.ms=6000")
    sh.run(METRICS, "--describe", "--name", name, shuffled=True)
    for bad in (("--interval", "5"), ("--match", "nonsense"), ("--match", "nope=1")):
        sh.run(METRICS, "--alter", "--name", name, *bad)
    sh.run(METRICS, "--delete", "--name", name)
    _settled(sh, at, "", without="interval.ms=6000")
    sh.run(METRICS, "--describe", "--name", name)
    sh.run(METRICS, "--list", only=name)
    sh.run(METRICS, "--delete", "--name", name)


@story()
def of_users_and_clients(sh: Shell) -> None:
    """Quotas for a user, a client id, both, their defaults; for an address."""
    user, client = sh.name("u"), sh.name("c")
    one = ("--entity-type", "users", "--entity-name", user)
    two = (*one, "--entity-type", "clients", "--entity-name", client)
    sh.run(
        CONFIGS, "--alter", *one, "--add-config", "producer_byte_rate=1024,request_percentage=50"
    )
    _settled(sh, one, "producer_byte_rate=1024.0")
    sh.run(CONFIGS, "--describe", *one, shuffled=True)
    sh.run(CONFIGS, "--alter", *two, "--add-config", "consumer_byte_rate=2048")
    _settled(sh, two, "consumer_byte_rate=2048.0")
    sh.run(CONFIGS, "--describe", *two)
    sh.run(CONFIGS, "--describe", "--entity-type", "clients", "--entity-name", client)
    sh.run(CONFIGS, "--describe", "--user", user, "--entity-type", "clients")
    for change in (
        "producer_byte_rate=0",
        "producer_byte_rate=1.5",
        "nope=1",
        "producer_byte_rate=many",
    ):
        sh.run(CONFIGS, "--alter", *one, "--add-config", change)
    sh.run(CONFIGS, "--alter", *one, "--delete-config", "producer_byte_rate,request_percentage")
    sh.run(CONFIGS, "--alter", *two, "--delete-config", "consumer_byte_rate")
    _settled(sh, two, "", without="consumer_byte_rate")
    sh.run(CONFIGS, "--describe", *one)
    sh.run(CONFIGS, "--describe", *two)


@story()
def of_users_credentials(sh: Shell) -> None:
    """SCRAM: iterations are shown, never passwords."""
    at = ("--entity-type", "users", "--entity-name", sh.name("u"))
    sh.run(
        CONFIGS, "--alter", *at, "--add-config", "SCRAM-SHA-256=[iterations=8192,password=secret]"
    )
    _settled(sh, at, "SCRAM-SHA-256=iterations=8192")
    sh.run(CONFIGS, "--describe", *at)
    sh.run(CONFIGS, "--alter", *at, "--add-config", "SCRAM-SHA-512=[iterations=5,password=secret]")
    sh.run(CONFIGS, "--alter", *at, "--delete-config", "SCRAM-SHA-512")
    sh.run(CONFIGS, "--alter", *at, "--delete-config", "SCRAM-SHA-256")
    _settled(sh, at, "", without="SCRAM")
    sh.run(CONFIGS, "--describe", *at)


@story()
def options_that_do_not_go_together(sh: Shell) -> None:
    """Refused by the tool itself."""
    sh.run(CONFIGS, "--describe")
    sh.run(CONFIGS, "--alter", "--entity-type", "topics")
    sh.run(CONFIGS, "--alter", "--entity-type", "topics", "--entity-name", "t")
    sh.run(CONFIGS, "--describe", "--entity-type", "nonsense")
