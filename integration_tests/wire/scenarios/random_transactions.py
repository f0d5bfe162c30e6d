"""Random lives of transactional ids: seeded sequences of every transactional request, right and
wrong, by two producers.

The seed alone decides what is done, together with what was answered. Each end is awaited before
anybody goes on, so time plays no part. Versions below Produce 11 and TxnOffsetCommit 4 are left to
the stories: what Kafka says to them of a partition that is missing is not always the same.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from integration_tests.wire.batches import Producer, batch
from integration_tests.wire.people import topic
from integration_tests.wire.recorder import Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.scenarios.fetch import fetch, fill, wanted
from integration_tests.wire.scenarios.transactions import committed, offsets
from integration_tests.wire.transacting import (
    BEFORE_V2,
    SINCE_V2,
    Transactor,
    now_ms,
    settled,
    state_of,
)

SEEDS = range(1, 11)
STEPS = 40


class Play:
    """Two transactional ids with up to two producers each, a topic, a group, and a source of
    randomness."""

    def __init__(self, s: Session, seed: int) -> None:
        self.s = s
        self.rng = random.Random(seed)
        self.topic = topic(s, "t", 2)
        self.group = s.name("g")
        self.admin = s.connect("admin")
        self.producers = [Transactor(s, s.connect(label), label[0]) for label in ("x", "x2", "y")]
        for producer in self.producers[::2]:
            producer.init(5)

    def run(self) -> None:
        """Do so many random things, then look at everything."""
        kinds: list[tuple[int, Callable[[Transactor], None]]] = [
            (10, self.produce),
            (6, self.produce_the_old_way),
            (8, self.end),
            (5, self.end_the_old_way),
            (5, self.commit_offsets),
            (4, self.begin_anew),
            (3, self.recover),
            (3, self.add),
            (2, self.add_offsets),
            (3, self.repeat_an_end),
            (2, self.plain),
            (2, self.plain_commit),
            (2, self.delete_offsets),
            (5, self.look),
            (2, self.gap),
            (2, self.verify),
        ]
        weights = [weight for weight, _ in kinds]
        for _ in range(STEPS):
            self.rng.choices(kinds, weights)[0][1](self.rng.choice(self.producers))
        for producer in self.producers:
            found = state_of(self.s, producer.name)
            # Of __consumer_offsets too, but there it depends on the group's name which partition.
            written = sorted(
                index
                for entry in found["topics"]
                if entry["topic"] == self.topic
                for index in entry["partitions"]
            )
            mine = found["producer_id"] == producer.producer_id
            self.s.say(
                "state", [found["transaction_state"], mine, found["producer_epoch"], written]
            )
            self.look(producer)

    def index(self) -> int:
        return self.rng.randrange(2)

    def produce(self, tx: Transactor) -> None:
        tx.produce(
            self.topic,
            *[b"v"] * self.rng.choice((1, 1, 2)),
            partition=self.index(),
            version=SINCE_V2,
        )

    def produce_the_old_way(self, tx: Transactor) -> None:
        index = self.index()
        if self.rng.random() < 0.8:
            tx.add((self.topic, [index]))
        tx.produce(self.topic, b"o", partition=index, version=BEFORE_V2)

    def gap(self, tx: Transactor) -> None:
        sequence = self.rng.choice((0, 1, 3))
        tx.produce(
            self.topic,
            b"g",
            partition=self.index(),
            producer=Producer(tx.producer_id, tx.epoch, sequence),
        )

    def end(self, tx: Transactor) -> None:
        tx.end(commit=self.rng.random() < 0.6)

    def end_the_old_way(self, tx: Transactor) -> None:
        tx.end(commit=self.rng.random() < 0.6, version=4)

    def repeat_an_end(self, tx: Transactor) -> None:
        tx.end(
            commit=self.rng.random() < 0.5,
            producer_epoch=max(tx.epoch + self.rng.choice((-1, -1, 1)), 0),
        )

    def begin_anew(self, tx: Transactor) -> None:
        tx.init(5)
        settled(self.s, tx.name)

    def recover(self, tx: Transactor) -> None:
        tx.init(
            5, again=self.rng.random() < 0.5, producer_id=tx.producer_id, producer_epoch=tx.epoch
        )
        settled(self.s, tx.name)

    def add(self, tx: Transactor) -> None:
        tx.add(
            (self.topic, self.rng.choice(([0], [1], [0, 1], [0, 5]))),
            version=self.rng.choice((1, 3)),
        )

    def verify(self, tx: Transactor) -> None:
        tx.add_batched((self.topic, [self.index()]), verify_only=True)

    def add_offsets(self, tx: Transactor) -> None:
        tx.add_offsets(self.group)

    def commit_offsets(self, tx: Transactor) -> None:
        offset = self.rng.randrange(100)
        tx.commit_offsets(
            self.group,
            self.topic,
            *[offset] * self.rng.choice((1, 2)),
            version=self.rng.choice((4, 5, 5)),
        )

    def plain(self, tx: Transactor) -> None:
        fill(self.s, self.topic, batch(b"plain", timestamp_ms=now_ms()), partition=self.index())

    def plain_commit(self, tx: Transactor) -> None:
        partitions = [
            {"partition_index": self.index(), "committed_offset": self.rng.randrange(100)}
        ]
        self.admin.ask(
            "OffsetCommit",
            8,
            group_id=self.group,
            generation_id_or_member_epoch=-1,
            member_id="",
            topics=[{"name": self.topic, "partitions": partitions}],
        )

    def delete_offsets(self, tx: Transactor) -> None:
        asked = [{"name": self.topic, "partitions": [{"partition_index": self.index()}]}]
        self.admin.ask("OffsetDelete", 0, group_id=self.group, topics=asked)

    def look(self, tx: Transactor) -> None:
        level = self.rng.randrange(2)
        fetch(
            self.admin, wanted(self.topic, self.rng.choice((0, 0, 1, 2)), 0), isolation_level=level
        )
        offsets(self.s, self.admin, self.topic)
        committed(self.admin, self.group, self.topic, stable=self.rng.random() < 0.7)


def _life(seed: int) -> None:
    def play(s: Session) -> None:
        Play(s, seed).run()

    play.__name__ = f"life_{seed:02}"
    play.__doc__ = f"Seed {seed}."
    scenario()(play)


for _seed in SEEDS:
    _life(_seed)
