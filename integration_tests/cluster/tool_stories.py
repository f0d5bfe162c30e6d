"""What an administrator does to three brokers with Kafka's tools: plans, throttles, elections,
topics, and questions about the whole."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from integration_tests.cluster.tools import Desk

Story = Callable[["Desk"], None]
TOPIC: Final = "moved"
REASSIGN: Final = "kafka-reassign-partitions"
_ELECT, _TOPICS, _CONFIGS = "kafka-leader-election", "kafka-topics", "kafka-configs"


def moves(desk: Desk) -> None:
    """A topic moves, is led by others, loses a broker and gets it back."""
    desk.run(
        _TOPICS,
        "--create",
        "--topic",
        TOPIC,
        "--replica-assignment",
        "1:2,2:3",
        "--config",
        "min.insync.replicas=2",
    )
    desk.until(1, 1, isr_nodes={2, 3})
    desk.run(_TOPICS, "--describe", "--topic", TOPIC)
    there = desk.plan(p0=[3, 2], p1=[2, 1])
    desk.run(REASSIGN, "--execute", "--reassignment-json-file", there)
    desk.until(1, 0, replica_nodes=[3, 2], isr_nodes={2, 3})
    desk.until(1, 1, replica_nodes=[2, 1], isr_nodes={1, 2})
    desk.run(REASSIGN, "--verify", "--reassignment-json-file", there)
    desk.run(REASSIGN, "--list")
    desk.run(_ELECT, "--election-type", "preferred", "--topic", TOPIC, "--partition", "0")
    desk.run(_ELECT, "--election-type", "preferred", "--topic", TOPIC, "--partition", "7")
    desk.run(_ELECT, "--election-type", "unclean", "--topic", TOPIC, "--partition", "1")
    desk.run(_TOPICS, "--describe", "--topic", TOPIC)
    desk.hosts.crash_broker(3)
    desk.until(1, 0, alive=(1, 2), leader_id=2, isr_nodes={2})
    for which in ("under-replicated", "at-min-isr", "under-min-isr", "unavailable"):
        desk.run(_TOPICS, "--describe", "--topic", TOPIC, f"--{which}-partitions")
    desk.run(REASSIGN, "--execute", "--reassignment-json-file", desk.plan(p0=[1, 3]))
    desk.hosts.start_broker(3)
    desk.until(1, 0, isr_nodes={2, 3})
    desk.run(_ELECT, "--election-type", "preferred", "--topic", TOPIC, "--partition", "0")
    desk.run(_TOPICS, "--describe", "--topic", TOPIC, "--under-replicated-partitions")
    desk.run(REASSIGN, "--execute", "--reassignment-json-file", desk.plan(p0=[1, 9]))
    desk.run(REASSIGN, "--execute", "--reassignment-json-file", desk.plan(p0=[1, 1]))


def throttles(desk: Desk) -> None:
    """REASN-7 to REASN-10: a plan is generated; a reassignment that moves slowly is listed,
    verified, added to and cancelled."""
    for name, replicas in (("one", "1"), ("slow", "1:2")):
        desk.run(_TOPICS, "--create", "--topic", name, "--replica-assignment", replicas)
    desk.until(1, 0, topic="slow", isr_nodes={1, 2})
    one, both = ([{"topic": name} for name in names] for names in (["one"], ["slow"]))
    for brokers in ("3", "3,3", "9", "x"):
        for rack in ((), ("--disable-rack-aware",)):
            asked = (
                "--topics-to-move-json-file",
                desk.file({"version": 1, "topics": one}),
                "--broker-list",
                brokers,
            )
            desk.run(REASSIGN, "--generate", *asked, *rack)
    desk.run(
        REASSIGN,
        "--generate",
        "--topics-to-move-json-file",
        desk.file({"version": 1, "topics": both}),
        "--broker-list",
        "3",
    )
    desk.run(REASSIGN, "--generate", "--broker-list", "3")
    desk.produce("slow", 1, *[b"x" * 900_000] * 4)
    for kind, name, value in (
        ("topics", "slow", "follower.replication.throttled.replicas=0:3"),
        ("brokers", "3", "follower.replication.throttled.rate=1000"),
    ):
        desk.run(
            _CONFIGS, "--alter", "--entity-type", kind, "--entity-name", name, "--add-config", value
        )
        desk.until_said(
            "0:3" if kind == "topics" else "1000",
            _CONFIGS,
            "--describe",
            "--entity-type",
            kind,
            "--entity-name",
            name,
        )
    there = desk.plan("slow", p0=[3, 2])
    desk.run(REASSIGN, "--execute", "--reassignment-json-file", there, "--throttle", "1000")
    desk.run(REASSIGN, "--list")
    desk.run(REASSIGN, "--verify", "--reassignment-json-file", there)
    desk.run(REASSIGN, "--execute", "--reassignment-json-file", desk.plan("slow", p0=[2, 1]))
    desk.run(
        REASSIGN,
        "--execute",
        "--additional",
        "--reassignment-json-file",
        desk.plan("one", p0=[2]),
        "--throttle",
        "2000",
    )
    desk.until(1, 0, topic="one", replica_nodes=[2], isr_nodes={2})
    for node in ("1", "2", "3"):
        desk.run(_CONFIGS, "--describe", "--entity-type", "brokers", "--entity-name", node)
    for name in ("slow", "one"):
        desk.run(_CONFIGS, "--describe", "--entity-type", "topics", "--entity-name", name)
        desk.run(_TOPICS, "--describe", "--topic", name)
    desk.run(_TOPICS, "--describe", "--topic", "slow", "--under-replicated-partitions")
    desk.run(REASSIGN, "--cancel", "--preserve-throttles", "--reassignment-json-file", there)
    desk.run(_CONFIGS, "--describe", "--entity-type", "topics", "--entity-name", "slow")
    desk.run(REASSIGN, "--list")
    desk.run(REASSIGN, "--verify", "--preserve-throttles", "--reassignment-json-file", there)
    desk.run(REASSIGN, "--cancel", "--reassignment-json-file", there)
    desk.run(_CONFIGS, "--describe", "--entity-type", "brokers", "--entity-name", "1")
    desk.run(_CONFIGS, "--describe", "--entity-type", "topics", "--entity-name", "slow")
    desk.run(REASSIGN, "--execute", "--reassignment-json-file", there)
    desk.until(1, 0, topic="slow", replica_nodes=[3, 2], isr_nodes={2, 3})
    desk.run(REASSIGN, "--verify", "--reassignment-json-file", there)
    for rows in (
        [],
        [{"topic": "slow", "partition": 0}],
        [{"topic": "slow", "partition": 5, "replicas": [1]}],
        [{"topic": "slow", "partition": 0, "replicas": []}],
        [{"topic": "slow", "partition": -1, "replicas": [1]}],
        [{"topic": "slow", "partition": 0, "replicas": [1]}] * 2,
    ):
        for how in ("--execute", "--verify", "--cancel"):
            desk.run(
                REASSIGN,
                how,
                "--reassignment-json-file",
                desk.file({"version": 1, "partitions": rows}),
            )
    desk.run(
        REASSIGN,
        "--execute",
        "--reassignment-json-file",
        desk.file({"version": 7, "partitions": []}),
    )


def elections(desk: Desk) -> None:
    """Preferred and unclean leaders, of a topic, of those in a file, of all."""
    for name, replicas in (("alone", "3"), ("led", "3:1,3:2")):
        desk.run(_TOPICS, "--create", "--topic", name, "--replica-assignment", replicas)
    desk.until(1, 1, topic="led", isr_nodes={2, 3})
    chosen = desk.file({"partitions": [{"topic": "led", "partition": 1}]})
    wrong = desk.file({"partitions": [{"topic": "led", "partition": 9}]})
    desk.hosts.crash_broker(3)
    desk.until(1, 1, topic="led", alive=(1, 2), leader_id=2, isr_nodes={2})
    desk.until(1, 0, topic="alone", alive=(1, 2), leader_id=-1)
    desk.run(_TOPICS, "--describe", "--topic", "alone", "--unavailable-partitions")
    desk.run(_TOPICS, "--describe", "--topic", "led", "--unavailable-partitions")
    desk.run(_ELECT, "--election-type", "preferred", "--path-to-json-file", chosen)
    for kind in ("preferred", "unclean"):
        desk.run(_ELECT, "--election-type", kind, "--topic", "alone", "--partition", "0")
    desk.run(_ELECT, "--election-type", "preferred", "--path-to-json-file", wrong)
    desk.run(
        _ELECT,
        "--election-type",
        "preferred",
        "--topic",
        "led",
        "--partition",
        "0",
        "--all-topic-partitions",
    )
    desk.run(_ELECT, "--election-type", "preferred", "--topic", "led")
    desk.hosts.start_broker(3)
    desk.until(1, 1, topic="led", isr_nodes={2, 3})
    desk.until(1, 0, topic="led", isr_nodes={1, 3})
    desk.run(_ELECT, "--election-type", "preferred", "--path-to-json-file", chosen)
    desk.run(_ELECT, "--election-type", "preferred", "--path-to-json-file", chosen)
    desk.run(_TOPICS, "--describe", "--topic", "led")


def topics(desk: Desk) -> None:
    """Topics that are made and grow with replicas of their own; what brokers refuse."""
    create = ("--create", "--topic", "grows")
    desk.run(_TOPICS, *create, "--partitions", "1", "--replication-factor", "4")
    desk.run(_TOPICS, *create, "--replica-assignment", "1:2,3")
    desk.run(_TOPICS, *create, "--replica-assignment", "1:1")
    desk.run(_TOPICS, *create, "--replica-assignment", "1:9")
    desk.run(_TOPICS, *create, "--replica-assignment", "2:3", "--config", "min.insync.replicas=2")
    desk.run(
        _TOPICS,
        "--alter",
        "--topic",
        "grows",
        "--partitions",
        "2",
        "--replica-assignment",
        "2:3,3:1",
    )
    desk.until(2, 1, topic="grows", isr_nodes={1, 3})
    desk.run(
        _TOPICS,
        "--alter",
        "--topic",
        "grows",
        "--partitions",
        "3",
        "--replica-assignment",
        "2:3,3:1,1:9",
        asked=2,
    )
    desk.run(_TOPICS, "--describe", "--topic", "grows", asked=3)
    desk.hosts.stop_broker(3)
    desk.until(1, 1, topic="grows", alive=(1, 2), leader_id=1, isr_nodes={1})
    for which in ("under-replicated", "at-min-isr", "under-min-isr", "unavailable"):
        desk.run(_TOPICS, "--describe", "--topic", "grows", f"--{which}-partitions")
    desk.run(
        _TOPICS, "--create", "--topic", "three", "--partitions", "1", "--replication-factor", "3"
    )
    desk.run(_TOPICS, "--create", "--topic", "there", "--replica-assignment", "3:1")
    desk.hosts.start_broker(3)
    desk.until(1, 1, topic="grows", isr_nodes={1, 3})


def whole(desk: Desk) -> None:
    """Questions about the whole: brokers and what they can, the quorum, log directories, the
    cluster's id."""
    table = desk.quietly("kafka-broker-api-versions")
    desk.lines += sorted(re.findall(r"\(id: .*?\) ->", table))
    found = json.loads(
        desk.quietly(
            "kafka-log-dirs", "--describe", "--topic-list", "grows,led,alone"
        ).splitlines()[-1]
    )
    for broker in sorted(found["brokers"], key=lambda one: one["broker"]):
        for directory in broker["logDirs"]:
            rows = sorted(
                f"{part['partition']} {part['size']} {part['offsetLag']} {part['isFuture']}"
                for part in directory["partitions"]
            )
            desk.lines.append(
                f"broker {broker['broker']}, error {directory['error']}: {', '.join(rows)}"
            )
    desk.run("kafka-log-dirs", "--describe", "--broker-list", "1,9")
    status = desk.quietly("kafka-metadata-quorum", "describe", "--status")
    desk.lines += [line.partition(":")[0] for line in status.splitlines()]
    for row in desk.quietly("kafka-metadata-quorum", "describe", "--replication").splitlines():
        name, *_, last = row.split()
        desk.lines.append(f"{name} {last}")
    desk.run("kafka-metadata-quorum", "describe")


STORIES: Final[tuple[Story, ...]] = (moves, throttles, elections, topics, whole)
