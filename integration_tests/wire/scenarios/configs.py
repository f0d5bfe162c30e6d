"""DescribeConfigs 1-4, AlterConfigs 0-2, IncrementalAlterConfigs 0-1: what is shown, what may
change, in what words."""

from __future__ import annotations

import itertools

from integration_tests.wire.batches import batch
from integration_tests.wire.people import topic
from integration_tests.wire.raw import Plain
from integration_tests.wire.recorder import Link, Session
from integration_tests.wire.registry import PROFILES, scenario
from integration_tests.wire.scenarios.produce import produce

TOPIC, BROKER, GROUP = 2, 4, 32
SET, DELETE, APPEND, SUBTRACT = range(4)
_MARKS = itertools.count(1)

BROKER_CONFIGS = (
    "auto.create.topics.enable",
    "group.initial.rebalance.delay.ms",
    "group.max.session.timeout.ms",
    "group.max.size",
    "group.min.session.timeout.ms",
    "message.max.bytes",
    "num.partitions",
    "offset.metadata.max.bytes",
    "offsets.commit.timeout.ms",
    "offsets.retention.check.interval.ms",
    "offsets.retention.minutes",
    "offsets.topic.num.partitions",
    "producer.id.expiration.ms",
    "socket.request.max.bytes",
    "group.coordinator.append.linger.ms",
    "group.coordinator.rebalance.protocols",
)


def describe(
    link: Link,
    kind: int,
    name: str,
    *keys: str,
    version: int = 4,
    synonyms: bool = False,
    documentation: bool = False,
) -> Plain:
    """DescribeConfigs of one resource; without keys, of all its configs. The transcript has them
    sorted by name."""
    asked = {"resource_type": kind, "resource_name": name, "configuration_keys": list(keys) or None}
    documented = {"include_documentation": documentation} if version >= 3 else {}
    answer = link.ask_quietly(
        "DescribeConfigs", version, resources=[asked], include_synonyms=synonyms, **documented
    )
    found = answer["results"][0]
    label = f"described v{version}"
    link.session.say(
        label, found | {"configs": sorted(found["configs"], key=lambda c: str(c["name"]))}
    )
    return answer


def alter(
    link: Link,
    kind: int,
    name: str,
    *changes: tuple[str, int, str | None],
    version: int = 1,
    validate_only: bool = False,
) -> Plain:
    """IncrementalAlterConfigs of one resource."""
    configs = [{"name": n, "config_operation": op, "value": v} for n, op, v in changes]
    resource = {"resource_type": kind, "resource_name": name, "configs": configs}
    answer = link.ask(
        "IncrementalAlterConfigs", version, resources=[resource], validate_only=validate_only
    )
    if kind == TOPIC and not validate_only and answer["responses"][0]["error_code"] == 0:
        settle(link, name)
    return answer


def settle(link: Link, name: str) -> None:
    """Wait until the broker goes by a topic's configs as they are now: by a mark, set after them
    and awaited."""
    marked = {
        "name": "file.delete.delay.ms",
        "config_operation": SET,
        "value": str(60_000 + next(_MARKS)),
    }
    resource = {"resource_type": TOPIC, "resource_name": name}
    link.ask_quietly("IncrementalAlterConfigs", 1, resources=[resource | {"configs": [marked]}])

    def goes_by_it() -> bool:
        found = link.ask_quietly(
            "DescribeConfigs", 1, resources=[resource | {"configuration_keys": [marked["name"]]}]
        )
        return bool(found["results"][0]["configs"][0]["value"] == marked["value"])

    link.session.until(goes_by_it, f"{name} never went by its configs")


def settle_broker(link: Link, config: str, value: str) -> None:
    """Wait until the broker goes by this setting of its own."""
    settle_value(link, BROKER, "1", config, value)


def settle_value(link: Link, kind: int, name: str, config: str, value: str) -> None:
    """Wait until the broker shows this value of the resource, and a moment longer: its logs and
    groups take the value over just after that."""
    wanted = {"resource_type": kind, "resource_name": name, "configuration_keys": [config]}

    def shows_it() -> bool:
        found = link.ask_quietly("DescribeConfigs", 1, resources=[wanted])["results"][0]["configs"]
        return bool(found) and bool(found[0]["value"] == value)

    link.session.until(shows_it, f"{config} never became {value}")
    link.session.wait(1_000)


def replace(
    link: Link,
    kind: int,
    name: str,
    configs: dict[str, str | None],
    version: int = 2,
    validate_only: bool = False,
) -> Plain:
    """AlterConfigs of one resource: what is not named goes back to its default."""
    entries = [{"name": n, "value": v} for n, v in configs.items()]
    resource = {"resource_type": kind, "resource_name": name, "configs": entries}
    answer = link.ask("AlterConfigs", version, resources=[resource], validate_only=validate_only)
    if kind == TOPIC and not validate_only and answer["responses"][0]["error_code"] == 0:
        settle(link, name)
    return answer


@scenario()
def topic_configs_shown(s: Session) -> None:
    """Versions 1-4, synonyms, documentation, sources; unknown keys are left out."""
    a = s.connect()
    name = topic(s, "t", cleanup_policy="compact", max_message_bytes="5000")
    for version in (1, 2, 3, 4):
        describe(
            a,
            TOPIC,
            name,
            "cleanup.policy",
            "max.message.bytes",
            "message.timestamp.type",
            "nope",
            version=version,
        )
        describe(
            a,
            TOPIC,
            name,
            "cleanup.policy",
            "max.message.bytes",
            "message.timestamp.type",
            version=version,
            synonyms=True,
        )
    describe(a, TOPIC, name, synonyms=True)
    for kind, other in (
        (TOPIC, s.name("nope")),
        (TOPIC, ""),
        (TOPIC, "a b"),
        (BROKER, "7"),
        (BROKER, "x"),
    ):
        describe(a, kind, other)
    for kind in (0, 1, 3, 99):
        describe(a, kind, "x")


@scenario()
def broker_configs_shown(s: Session) -> None:
    """The broker's own: values, read-only or not, types, sources."""
    a = s.connect()
    for name in BROKER_CONFIGS:
        describe(a, BROKER, "1", name, synonyms=True)
    describe(a, BROKER, "", *BROKER_CONFIGS)


@scenario()
def several_resources_described(s: Session) -> None:
    """Results come per resource; one failing does not stop the others."""
    a = s.connect()
    name = topic(s, "t")
    keys = ["segment.ms"]
    targets = ((TOPIC, s.name("nope")), (TOPIC, name), (BROKER, "9"))
    resources = [
        {"resource_type": k, "resource_name": n, "configuration_keys": keys} for k, n in targets
    ]
    a.ask("DescribeConfigs", 4, shuffled="results", resources=resources)
    a.ask("DescribeConfigs", 4, resources=[])


@scenario()
def topic_configs_changed(s: Session) -> None:
    """Set, unset, append, subtract; felt by the next Produce; refused with 40, 42, 3, 17."""
    a = s.connect()
    name = topic(s, "t")
    alter(a, TOPIC, name, ("max.message.bytes", SET, "100"))
    describe(a, TOPIC, name, "max.message.bytes", synonyms=True)
    produce(a, name, batch(b"x" * 100))
    alter(a, TOPIC, name, ("max.message.bytes", DELETE, None))
    describe(a, TOPIC, name, "max.message.bytes")
    produce(a, name, batch(b"x" * 100))
    alter(a, TOPIC, name, ("cleanup.policy", APPEND, "compact"))
    describe(a, TOPIC, name, "cleanup.policy")
    alter(a, TOPIC, name, ("cleanup.policy", APPEND, "compact"))
    describe(a, TOPIC, name, "cleanup.policy")
    alter(a, TOPIC, name, ("cleanup.policy", SUBTRACT, "delete"))
    describe(a, TOPIC, name, "cleanup.policy")
    alter(a, TOPIC, name, ("cleanup.policy", SUBTRACT, "nope"))
    alter(a, TOPIC, name, ("segment.ms", SET, "70000"), validate_only=True)
    describe(a, TOPIC, name, "segment.ms")
    alter(a, TOPIC, name, version=0)
    for change in (
        ("nope", SET, "1"),
        ("nope", DELETE, None),
        ("segment.ms", SET, "abc"),
        ("segment.ms", SET, "0"),
        ("segment.ms", SET, None),
        ("segment.ms", DELETE, None),
        ("segment.ms", APPEND, "1"),
        ("segment.ms", SUBTRACT, "1"),
        ("segment.ms", 9, "1"),
        ("cleanup.policy", SET, "bad"),
        ("cleanup.policy", APPEND, "bad"),
        ("cleanup.policy", SET, ""),
        ("message.timestamp.type", SET, "x"),
        ("preallocate", SET, "x"),
        ("max.message.bytes", SET, "-1"),
        ("max.message.bytes", SET, "3000000000"),
        ("compression.type", SET, "x"),
        ("min.cleanable.dirty.ratio", SET, "2"),
        ("min.cleanable.dirty.ratio", SET, "x"),
        ("segment.ms", SET, " 80000 "),
        ("retention.ms", SET, "-1"),
        ("retention.ms", SET, "-2"),
        ("retention.bytes", SET, "-2"),
        ("segment.bytes", SET, "1"),
    ):
        alter(a, TOPIC, name, change)
    describe(a, TOPIC, name, "segment.ms", "cleanup.policy")
    alter(a, TOPIC, name, ("segment.ms", SET, "1000"), ("segment.ms", SET, "2000"))
    alter(a, TOPIC, name, ("segment.ms", SET, "1000"), ("nope", SET, "1"))
    alter(a, TOPIC, s.name("nope"), ("segment.ms", SET, "1000"))
    alter(a, TOPIC, "", ("segment.ms", SET, "1000"))
    alter(a, TOPIC, "a b", ("segment.ms", SET, "1000"))


@scenario()
def several_resources_changed(s: Session) -> None:
    """One failing does not stop the others; the same one twice is refused for both."""
    a = s.connect()
    name, other = topic(s, "t"), topic(s, "other")

    def change(*targets: str, validate_only: bool = False) -> None:
        change = [{"name": "segment.ms", "config_operation": SET, "value": "77000"}]
        resources = [
            {"resource_type": TOPIC, "resource_name": n, "configs": change} for n in targets
        ]
        a.ask(
            "IncrementalAlterConfigs",
            1,
            shuffled="responses",
            resources=resources,
            validate_only=validate_only,
        )

    change(name, s.name("nope"), other)
    settle(s.stage(), other)
    describe(a, TOPIC, name, "segment.ms")
    describe(a, TOPIC, other, "segment.ms")
    change(name, name, other)
    change()


@scenario()
def broker_configs_refused(s: Session) -> None:
    """What Kafka cannot change while running: 42, for one broker and for all alike."""
    a = s.connect()
    fixed = [
        n for n in BROKER_CONFIGS if n not in ("message.max.bytes", "producer.id.expiration.ms")
    ]
    for name in fixed:
        alter(a, BROKER, "1", (name, SET, "5"), validate_only=True)
        alter(a, BROKER, "", (name, SET, "5"), validate_only=True)
    alter(a, BROKER, "1", ("group.max.size", DELETE, None), validate_only=True)
    alter(a, BROKER, "7", ("message.max.bytes", SET, "5"), validate_only=True)
    alter(a, BROKER, "x", ("message.max.bytes", SET, "5"), validate_only=True)
    for value in ("abc", "-1", None, ""):
        alter(a, BROKER, "", ("message.max.bytes", SET, value), validate_only=True)
        alter(a, BROKER, "1", ("message.max.bytes", SET, value), validate_only=True)
    alter(a, BROKER, "1", ("some.unknown.thing", SET, "1"), validate_only=True)
    replace(a, BROKER, "1", {"group.max.size": "5"}, validate_only=True)
    replace(a, BROKER, "7", {"message.max.bytes": "5"}, validate_only=True)
    for kind in (0, 1, 3, 99):
        alter(a, kind, "x", ("a", SET, "1"))
        replace(a, kind, "x", {"a": "1"})


@scenario("limits", alone=True)
def broker_configs_changed(s: Session) -> None:
    """message.max.bytes while running: per broker over cluster-wide over the file's; felt by
    Produce; taken back.

    Alone, because such a low limit keeps Kafka from writing what becomes of groups, too.
    """
    a = s.connect()
    name = topic(s, "t")

    def look() -> None:
        describe(a, BROKER, "1", "message.max.bytes", synonyms=True)
        describe(a, TOPIC, name, "max.message.bytes", synonyms=True)
        produce(a, name, batch(b"x" * 300))

    look()
    for where, value in (("", "100"), ("1", "1000")):
        alter(a, BROKER, where, ("message.max.bytes", SET, value))
        settle_broker(a, "message.max.bytes", value)
        look()
    alter(a, BROKER, "1", ("message.max.bytes", DELETE, None))
    settle_broker(a, "message.max.bytes", "100")
    look()
    alter(a, BROKER, "", ("message.max.bytes", DELETE, None))
    settle_broker(a, "message.max.bytes", PROFILES["limits"]["message.max.bytes"])
    look()


@scenario()
def replacing_topic_configs(s: Session) -> None:
    """AlterConfigs 0-2: everything not named is unset."""
    a = s.connect()
    name = topic(s, "t")
    for version in range(3):
        replace(a, TOPIC, name, {"segment.ms": "100000", "retention.ms": "5000"}, version)
        replace(a, TOPIC, name, {"segment.ms": "200000"}, version)
        describe(a, TOPIC, name, "segment.ms", "retention.ms")
    replace(a, TOPIC, name, {}, validate_only=True)
    replace(a, TOPIC, name, {"nope": "1"})
    replace(a, TOPIC, name, {"segment.ms": None})
    replace(a, TOPIC, name, {"segment.ms": "abc"})
    describe(a, TOPIC, name, "segment.ms")
    replace(a, TOPIC, name, {})
    describe(a, TOPIC, name, "segment.ms")
    replace(a, TOPIC, s.name("nope"), {"segment.ms": "1000"})
    replace(a, TOPIC, "", {"segment.ms": "1000"})


@scenario()
def which_of_two_faults_is_told(s: Session) -> None:
    """Changes are looked at in the order of a Java HashMap of their names; nulls first, all of
    them; before the topic itself."""
    a = s.connect()
    name = topic(s, "t")
    pairs = (
        ("flush.messages", "max.compaction.lag.ms"),
        ("compression.lz4.level", "remote.storage.enable"),
        ("message.timestamp.type", "max.compaction.lag.ms"),
        ("segment.ms", "retention.ms"),
        ("preallocate", "no.such.config"),
    )
    for one, other in pairs:
        alter(a, TOPIC, name, (one, APPEND, "1"), (other, SUBTRACT, "1"))
        alter(a, TOPIC, name, (other, SUBTRACT, "1"), (one, APPEND, "1"))
        alter(a, TOPIC, name, (one, SET, "?"), (other, SET, "?"))
        replace(a, TOPIC, name, {one: "?", other: "?"})
    alter(a, TOPIC, name, ("cleanup.policy", APPEND, ""))
    alter(a, TOPIC, name, ("cleanup.policy", SUBTRACT, ""))
    alter(a, TOPIC, name, ("max.message.bytes", SET, None), ("cleanup.policy", SUBTRACT, None))
    alter(a, TOPIC, name, ("segment.ms", APPEND, "1"), ("max.message.bytes", SET, None))
    replace(a, TOPIC, name, {"max.message.bytes": None, "segment.ms": None})
    for missing in (s.name("nope"), "a b"):
        alter(a, TOPIC, missing, ("cleanup.policy", APPEND, ""))
        alter(a, TOPIC, missing, ("segment.ms", APPEND, "1"))
        alter(a, TOPIC, missing, ("segment.ms", SET, None))
        alter(a, TOPIC, missing, ("segment.ms", SET, "?"))
        alter(a, TOPIC, missing, ("segment.ms", 9, "1"))
        alter(a, TOPIC, missing, ("nope", SET, "1"))


@scenario(since="4.3", alone=True)
def levels_of_loggers(s: Session) -> None:
    """KIP-412: one without a level has the root's; a request changes all that it names, or nothing."""
    a, name = s.connect(), "org.apache.kafka.coordinator.group.GroupCoordinatorService"

    def show() -> None:
        for keys in ([name], ["root"], [s.name("logger")]):
            resource = {"resource_type": 8, "resource_name": "1", "configuration_keys": keys}
            a.ask("DescribeConfigs", 4, include_synonyms=True, resources=[resource])

    def change(*changes: tuple[str, int, str | None], node: str = "1", check: bool = False) -> None:
        rows = [{"name": of, "config_operation": op, "value": to} for of, op, to in changes]
        resource = {"resource_type": 8, "resource_name": node, "configs": rows}
        a.ask("IncrementalAlterConfigs", 1, validate_only=check, resources=[resource])

    for node in ("", "2", "abc"):
        resource = {"resource_type": 8, "resource_name": node, "configuration_keys": ["root"]}
        a.ask("DescribeConfigs", 4, resources=[resource])
        change(("root", SET, "DEBUG"), node=node)
    show()
    change(("root", SET, "DEBUG"), check=True)
    change((name, SET, "DEBUG"))
    show()
    for level in ("LOUD", "debug", "OFF", "", None):
        change((name, SET, level))
    change((name, SET, "ERROR"), (s.name("logger"), SET, "ERROR"))
    change((name, SET, "ERROR"), (name, SET, "WARN"))
    change((name, APPEND, "ERROR"))
    change(("root", DELETE, None))
    show()
    change((name, DELETE, None))
    change(("root", SET, "FATAL"))
    show()
    change(("root", SET, "INFO"))
    change()
    show()


@scenario(since="4.3")
def operations_on_loggers_that_there_are_not(s: Session) -> None:
    """What a logger cannot be asked for (42) is told before that there is none of the name (40)."""
    a = s.connect()
    for operation in (0, 1, 2, 3, 4, -1):
        for name in (s.name("logger"), ""):
            change = {"name": name, "config_operation": operation, "value": "INFO"}
            resource = {"resource_type": 8, "resource_name": "1", "configs": [change]}
            a.ask("IncrementalAlterConfigs", 1, validate_only=True, resources=[resource])
