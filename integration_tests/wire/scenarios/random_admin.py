"""Random work of an administrator: topics made, grown, configured, looked at and deleted, rightly
and wrongly."""

from __future__ import annotations

import random
from collections.abc import Callable

from integration_tests.wire.people import ZERO_ID, await_topic, topic_id
from integration_tests.wire.raw import Plain
from integration_tests.wire.recorder import Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.scenarios.configs import alter, describe, replace, settle
from integration_tests.wire.scenarios.create_topics import more, new

SEEDS = range(1, 9)
STEPS = 40

VALUES: dict[str, tuple[str | None, ...]] = {
    "cleanup.policy": (
        "delete",
        "compact",
        "compact,delete",
        "delete, compact",
        "nope",
        "compact,compact",
        None,
    ),
    "max.message.bytes": ("1000", "-1", "0", "x", "2147483648", "1e3", None),
    "segment.ms": ("1", "100000", "0", "-5", " 7 ", "9223372036854775807", "9223372036854775808"),
    "retention.ms": ("-1", "-2", "0", "1000", "", "1.5"),
    "message.timestamp.type": ("CreateTime", "LogAppendTime", "logappendtime", ""),
    "compression.type": ("gzip", "producer", "uncompressed", "none", "GZIP"),
    "min.insync.replicas": ("1", "2", "0", "1,2"),
    "preallocate": ("true", "FALSE", "yes", " true", ""),
    "min.cleanable.dirty.ratio": ("0.5", "1", "1.01", "-0.1", "NaN", ".5", "1e-1"),
    "unclean.leader.election.enable": ("true", "false", "1"),
    "flush.messages": ("1", "0", "9223372036854775807"),
    "segment.bytes": ("1048576", "1048575", "14", "100"),
    "max.compaction.lag.ms": ("1", "0", "100"),
    "index.interval.bytes": ("0", "-1", "4096"),
    "compression.zstd.level": ("3", "23", "-131072", "-131073", "0"),
    "compression.gzip.level": ("-1", "0", "9", "10"),
    "compression.lz4.level": ("1", "0", "17", "18"),
    "leader.replication.throttled.replicas": ("*", "0:1", "0:1,1:1", "x", ""),
    "remote.storage.enable": ("false", "true"),
    "local.retention.ms": ("-2", "-3", "100"),
    "no.such.config": ("1", ""),
}


class Play:
    """A few names, a source of randomness, and what is believed to exist."""

    def __init__(self, s: Session, seed: int) -> None:
        self.s = s
        self.rng = random.Random(seed)
        self.link = s.connect()
        self.sizes: dict[str, int] = {}
        self.names = [s.name(label) for label in ("a", "b", "c.d", "c_d")]

    def run(self) -> None:
        """Do so many random things."""
        kinds: list[tuple[int, Callable[[], None]]] = [
            (14, self.create),
            (10, self.grow),
            (6, self.delete),
            (20, self.set),
            (8, self.replace),
            (8, self.look),
            (4, self.metadata),
        ]
        for _ in range(STEPS):
            self.rng.choices([act for _, act in kinds], [weight for weight, _ in kinds])[0]()

    def name(self) -> str:
        """Mostly a good name."""
        return self.rng.choice((*self.names, *self.names, *self.names, "a b", ""))

    def known(self) -> str:
        """A topic that is there, if any is."""
        return (
            self.rng.choice(sorted(self.sizes))
            if self.sizes and self.rng.random() < 0.85
            else self.name()
        )

    def setting(self) -> tuple[str, str | None]:
        """A config and a value for it, good or bad."""
        name = self.rng.choice(list(VALUES))
        return name, self.rng.choice(VALUES[name])

    def create(self) -> None:
        """CreateTopics of one or two."""
        topics: list[Plain] = []
        for _ in range(self.rng.choice((1, 1, 1, 2))):
            entry = new(
                self.name(), self.rng.choice((1, 2, 3, -1, 0)), self.rng.choice((1, 1, -1, 2))
            )
            if self.rng.random() < 0.15:
                entry |= {"num_partitions": -1, "replication_factor": -1}
                entry["assignments"] = [
                    {"partition_index": p, "broker_ids": [self.rng.choice((1, 1, 1, 9))]}
                    for p in range(2)
                ]
            if self.rng.random() < 0.3:
                entry["configs"] = [dict(zip(("name", "value"), self.setting(), strict=True))]
            topics.append(entry)
        dry = self.rng.random() < 0.2
        answer = self.link.ask(
            "CreateTopics",
            self.rng.choice((4, 5, 7)),
            topics=topics,
            timeout_ms=5_000,
            validate_only=dry,
            brief=True,
            shuffled="topics",
        )
        for made in answer["topics"]:
            if made["error_code"] == 0 and not dry:
                asked = next(t for t in topics if t["name"] == made["name"])
                self.sizes[made["name"]] = len(asked["assignments"]) or max(
                    asked["num_partitions"], 1
                )
                await_topic(self.s.stage(), made["name"], self.sizes[made["name"]])
                settle(self.link, made["name"])

    def grow(self) -> None:
        """CreatePartitions of one."""
        name = self.known()
        count = self.sizes.get(name, 1) + self.rng.choice((1, 2, 0, -1))
        hands = (
            [[self.rng.choice((1, 1, 9))] for _ in range(self.rng.choice((1, 2)))]
            if self.rng.random() < 0.3
            else None
        )
        dry = self.rng.random() < 0.2
        answer = self.link.ask(
            "CreatePartitions",
            3,
            topics=[more(name, count, hands)],
            timeout_ms=5_000,
            validate_only=dry,
        )
        if answer["results"][0]["error_code"] == 0 and not dry:
            self.sizes[name] = count
            await_topic(self.s.stage(), name, count)

    def delete(self) -> None:
        """DeleteTopics by name or by id."""
        name = self.known()
        version = self.rng.choice((4, 6))
        if version == 6 and name in self.sizes and self.rng.random() < 0.5:
            asked: Plain = {"topics": [{"name": None, "topic_id": topic_id(self.s, name)}]}
        else:
            asked = (
                {"topic_names": [name]}
                if version < 6
                else {"topics": [{"name": name, "topic_id": ZERO_ID}]}
            )
        answer = self.link.ask("DeleteTopics", version, timeout_ms=5_000, **asked)
        if answer["responses"][0]["error_code"] == 0:
            self.sizes.pop(name)
            await_topic(self.s.stage(), name, None)

    def set(self) -> None:
        """IncrementalAlterConfigs: set, unset, append, subtract."""
        changes: list[tuple[str, int, str | None]] = []
        for _ in range(self.rng.choice((1, 1, 2))):
            name, value = self.setting()
            changes.append((name, self.rng.choice((0, 0, 0, 1, 2, 3)), value))
        if len(changes) > 1:
            changes = [(name, min(operation, 1), value or "") for name, operation, value in changes]
        topic_name, dry = self.known(), self.rng.random() < 0.2
        alter(self.link, 2, topic_name, *changes, validate_only=dry)

    def replace(self) -> None:
        """AlterConfigs."""
        settings = [self.setting() for _ in range(self.rng.choice((0, 1, 2)))]
        name, dry = self.known(), self.rng.random() < 0.2
        replace(self.link, 2, name, dict(settings), validate_only=dry)

    def look(self) -> None:
        """DescribeConfigs of what may have been set."""
        describe(
            self.link,
            2,
            self.known(),
            *VALUES,
            synonyms=self.rng.random() < 0.5,
            version=self.rng.choice((1, 3, 4)),
        )

    def metadata(self) -> None:
        """Metadata and DescribeTopicPartitions."""
        name = self.known()
        self.link.ask("Metadata", 12, topics=[{"name": name}], allow_auto_topic_creation=False)
        self.link.ask(
            "DescribeTopicPartitions", 0, topics=[{"name": n} for n in (name, self.name())]
        )


def episode(seed: int) -> Callable[[Session], None]:
    """The scenario of one seed."""

    def play(s: Session) -> None:
        Play(s, seed).run()

    play.__name__ = f"seed_{seed:03}"
    return play


for _seed in SEEDS:
    scenario()(episode(_seed))
