"""Random use of a few logs: seeded sequences of produce, fetch, offset look-ups and deletions,
right and wrong."""

from __future__ import annotations

import random
from collections.abc import Callable

from integration_tests.wire.batches import TIMESTAMP_MS, Producer, batch
from integration_tests.wire.people import topic, topic_id
from integration_tests.wire.raw import Plain
from integration_tests.wire.recorder import Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.scenarios.fetch import fetch, wanted
from integration_tests.wire.scenarios.log_offsets import list_offsets, listed
from integration_tests.wire.scenarios.produce import produce, producer

SEEDS = range(1, 13)
STEPS = 60
PARTITIONS = 2


class Play:
    """Two partitions of one topic, two idempotent producers, one fetch session, and a source of
    randomness."""

    def __init__(self, s: Session, seed: int) -> None:
        self.s = s
        self.rng = random.Random(seed)
        self.link = s.connect()
        self.topic = topic(s, "t", PARTITIONS)
        self.identity = topic_id(s, self.topic)
        self.producers = [producer(s) for _ in range(2)]
        self.epochs = [0, 0]
        self.sequences = {(i, p): 0 for i in range(2) for p in range(PARTITIONS)}
        self.ends = [0] * PARTITIONS
        self.session = (0, 0)

    def run(self) -> None:
        """Do so many random things."""
        kinds: list[tuple[int, Callable[[], None]]] = [
            (18, self.write),
            (22, self.write_in_sequence),
            (16, self.read),
            (14, self.read_in_session),
            (12, self.look_up),
            (4, self.cut),
            (3, self.epoch_end),
            (2, self.new_epoch),
        ]
        for _ in range(STEPS):
            self.rng.choices([act for _, act in kinds], [weight for weight, _ in kinds])[0]()

    def values(self) -> list[bytes]:
        """A few small records."""
        return [
            bytes([97 + self.rng.randrange(26)]) * self.rng.randrange(1, 30)
            for _ in range(self.rng.randrange(1, 5))
        ]

    def appended(self, partition: int, answer: Plain, count: int) -> bool:
        """Keep count of the log's end."""
        said = answer["responses"][0]["partition_responses"][0]
        if said["error_code"] == 0:
            self.ends[partition] = max(self.ends[partition], said["base_offset"] + count)
        return bool(said["error_code"] == 0)

    def write(self) -> None:
        """A batch without a producer id; sometimes a broken one."""
        partition, values = self.rng.randrange(PARTITIONS), self.values()
        wrong: Plain = self.rng.choice(
            (
                {},
                {},
                {},
                {},
                {"break_crc": True},
                {"count": 9},
                {"last_offset_delta": 7},
                {"magic": 1},
            )
        )
        records = batch(
            *values,
            timestamp_ms=TIMESTAMP_MS + self.rng.randrange(1000),
            step_ms=self.rng.choice((0, 7, -3)),
            **wrong,
        )
        version = self.rng.choice((3, 7, 9, 12, 13))
        where = self.identity if version >= 13 else self.topic
        answer = produce(
            self.link, where, records, partition, version=version, acks=self.rng.choice((1, -1))
        )
        self.appended(partition, answer, len(values))

    def write_in_sequence(self) -> None:
        """A batch of an idempotent producer: the next, one again, or one too far."""
        who, partition, values = (
            self.rng.randrange(2),
            self.rng.randrange(PARTITIONS),
            self.values(),
        )
        due = self.sequences[who, partition]
        sequence = max(due + self.rng.choice((0, 0, 0, 0, 0, -1, -2, -5, 1, 3)), 0)
        writer = Producer(self.producers[who], self.epochs[who], sequence)
        if self.rng.random() < 0.1:
            writer = writer._replace(epoch=writer.epoch - 1)
        answer = produce(
            self.link,
            self.topic,
            batch(*values, producer=writer),
            partition,
            version=self.rng.choice((7, 12)),
        )
        before = self.ends[partition]
        if (
            self.appended(partition, answer, len(values))
            and answer["responses"][0]["partition_responses"][0]["base_offset"] >= before
        ):
            self.sequences[who, partition] = sequence + len(values)

    def new_epoch(self) -> None:
        """One of the producers goes on in a newer epoch, from sequence 0."""
        who = self.rng.randrange(2)
        self.epochs[who] += 1
        for partition in range(PARTITIONS):
            self.sequences[who, partition] = 0

    def offset(self, partition: int) -> int:
        """An offset of the log, or one beside it."""
        return self.rng.choice(
            (
                self.rng.randrange(self.ends[partition] + 1),
                self.ends[partition],
                self.ends[partition] + 1,
                0,
                -1,
            )
        )

    def read(self) -> None:
        """A fetch without a session."""
        version = self.rng.choice((4, 7, 11, 12, 13, 17))
        limits: Plain = {"max_bytes": self.rng.choice((1, 80, 200, 1 << 20))}
        name = self.identity if version >= 13 else self.topic
        offsets = [self.offset(p) for p in range(PARTITIONS)]
        asked = wanted(
            name, *offsets, version=version, partition_max_bytes=self.rng.choice((1, 100, 1 << 20))
        )
        fetch(self.link, asked, version=version, **limits)

    def read_in_session(self) -> None:
        """A fetch in the session: sometimes at the wrong epoch, or closing it."""
        session, epoch = self.session
        partition = self.rng.randrange(PARTITIONS)
        asked = (
            [wanted(self.topic, self.offset(partition), partitions=(partition,))]
            if epoch == 0 or self.rng.random() < 0.5
            else []
        )
        forget = (
            [{"topic": self.topic, "partitions": [partition]}]
            if epoch and not asked and self.rng.random() < 0.2
            else []
        )
        said = self.rng.choice((epoch, epoch, epoch, epoch, epoch, epoch + 1, -1)) if epoch else 0
        answer = fetch(
            self.link, *asked, session_id=session, session_epoch=said, forgotten_topics_data=forget
        )
        if said == -1 or answer["error_code"] == 70:
            self.session = (0, 0)
        elif answer["error_code"] == 0:
            self.session = (answer["session_id"], said + 1)

    def look_up(self) -> None:
        """Specials and times."""
        version = self.rng.choice((1, 4, 7, 8, 11))
        special = self.rng.choice(
            (-1, -2, -3, TIMESTAMP_MS, TIMESTAMP_MS + self.rng.randrange(1200))
        )
        partitions = tuple(range(PARTITIONS))
        for partition in partitions:
            list_offsets(
                self.link, listed(self.topic, special, partitions=(partition,)), version=version
            )

    def cut(self) -> None:
        """Delete the log's beginning."""
        partition = self.rng.randrange(PARTITIONS)
        asked = [
            {
                "name": self.topic,
                "partitions": [{"partition_index": partition, "offset": self.offset(partition)}],
            }
        ]
        self.link.ask("DeleteRecords", 2, topics=asked, timeout_ms=5_000)

    def epoch_end(self) -> None:
        """Where an epoch ended."""
        entry = {
            "partition": 0,
            "current_leader_epoch": -1,
            "leader_epoch": self.rng.choice((0, 1)),
        }
        self.link.ask(
            "OffsetForLeaderEpoch",
            4,
            replica_id=-1,
            topics=[{"topic": self.topic, "partitions": [entry]}],
        )


def episode(seed: int) -> Callable[[Session], None]:
    """The scenario of one seed."""

    def play(s: Session) -> None:
        Play(s, seed).run()

    play.__name__ = f"seed_{seed:03}"
    return play


for _seed in SEEDS:
    scenario()(episode(_seed))
