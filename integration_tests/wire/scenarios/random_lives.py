"""Random lives of logs: records of plain, idempotent and transactional producers, tombstones and times
to come; deleted by time, size and hand, and compacted. Each life follows from its number, so that
both sides live it.

What is told after each change: batches, ListOffsets -1 to -6 and by time, the size, producers, and
aborted transactions.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial

from integration_tests.wire.batches import TIMESTAMP_MS, Producer, batch
from integration_tests.wire.log_people import (
    PROFILE,
    SINCE,
    clean,
    configure,
    contents,
    delete_records,
    log,
    size_of,
    start_of,
)
from integration_tests.wire.recorder import Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.scenarios.fetch import fill, wanted
from integration_tests.wire.scenarios.log_offsets import list_offsets, listed
from integration_tests.wire.scenarios.log_retention import now
from integration_tests.wire.scenarios.produce import producer
from integration_tests.wire.scenarios.random_cleanups import a_batch
from integration_tests.wire.transacting import Transactor

SEEDS = (*range(1, 7), 1004, 1133, 1348)
HOUR_MS = 3_600_000
SETTLES_MS = 2_500
READ_COMMITTED = 1
of_logs = partial(scenario, PROFILE, since=SINCE, lasts_s=90)


class Life:
    """One log, its three producers, and a source of randomness."""

    def __init__(self, s: Session, seed: int) -> None:
        self.s = s
        self.rng = rng = random.Random(seed)
        self.link = s.connect()
        self.policy = rng.choice(("compact", "delete", "compact,delete", "compact,delete", ""))
        segment_bytes = str(rng.randint(250, 700))
        self.retained_ms = rng.choice(("1", "3600000"))
        self.name = log(
            s,
            each=0,
            cleanup_policy=self.policy,
            internal_segment_bytes=segment_bytes,
            min_cleanable_dirty_ratio="1.0",
            delete_retention_ms=self.retained_ms,
            message_timestamp_after_max_ms=str((1 << 63) - 1),
        )
        self.at_ms = TIMESTAMP_MS
        self.idempotent = producer(s)
        self.epoch = self.sequence = 0
        self.transactor = Transactor(s, s.connect("tx"))
        self.transactor.init(5)
        self.open = False
        self.to_come = 0

    def run(self) -> None:
        """Write, clean and look, some times over."""
        for _ in range(4):
            for _ in range(self.rng.randint(4, 10)):
                self.write()
            last = self.by_hand if "compact" not in self.policy else self.compacted
            self.rng.choice((self.compacted, self.by_time, self.by_size, last))()
            self.look()
        if self.open:
            self.transactor.end(commit=False)
            self.s.wait(SETTLES_MS)
        self.compacted()
        self.look()

    # -- what is written

    def write(self) -> None:
        """Records of one of the producers."""
        self.at_ms += self.rng.choice((0, 0, 10, HOUR_MS))
        writes: tuple[tuple[int, Callable[[], None]], ...] = (
            (5, self.plain),
            (3, self.in_sequence),
            (1, self.new_epoch),
            (3, self.in_transaction),
            (2, self.end),
            (1, self.in_the_future),
        )
        weights = [weight for weight, _ in writes]
        self.rng.choices([act for _, act in writes], weights)[0]()

    def plain(self) -> None:
        """Some keys, some without a value."""
        fill(self.s, self.name, a_batch(self.rng, self.at_ms))

    def in_the_future(self) -> None:
        """A time that is to come."""
        self.to_come += 1
        later_ms = now() + (1_000 + self.to_come) * HOUR_MS
        fill(self.s, self.name, batch(b"later", key=self.key(), timestamp_ms=later_ms))

    def key(self) -> bytes:
        """One of a few keys."""
        return self.rng.choice("abcdef").encode()

    def in_sequence(self) -> None:
        """The next batch of the idempotent producer."""
        values = [b"i" * self.rng.randint(1, 40)] * self.rng.randint(1, 3)
        writer = Producer(self.idempotent, self.epoch, self.sequence)
        self.sequence += len(values)
        fill(
            self.s,
            self.name,
            batch(*values, key=self.key(), producer=writer, timestamp_ms=self.at_ms),
        )

    def new_epoch(self) -> None:
        """It goes on in its next epoch."""
        self.epoch += 1
        self.sequence = 0
        self.in_sequence()

    def in_transaction(self) -> None:
        """A batch of the transactional producer."""
        self.transactor.produce(
            self.name, b"t" * self.rng.randint(1, 40), key=self.key(), timestamp_ms=self.at_ms
        )
        self.open = True

    def end(self) -> None:
        """The end of its transaction, if there is one."""
        if self.open:
            self.transactor.end(commit=self.rng.random() < 0.5)
            self.open = False

    # -- what is taken

    def compacted(self) -> None:
        """By the cleaner, if the policy has it compact."""
        if "compact" in self.policy:
            clean(self.s, self.name, changes=False)
        else:
            self.s.wait(SETTLES_MS)

    def by_time(self) -> None:
        """Whatever is older than one of the times that were written."""
        cut_ms = self.rng.randint(TIMESTAMP_MS, self.at_ms) + HOUR_MS // 2
        self.taken(retention_ms=str(now() - cut_ms))

    def by_size(self) -> None:
        """The oldest, while enough is left."""
        size = size_of(self.s, self.name)
        self.taken(retention_bytes=str(int(size * self.rng.random())))

    def taken(self, **settings: str) -> None:
        """Apply settings for the time of some checks."""
        configure(self.s, self.name, **settings)
        self.s.wait(SETTLES_MS)
        kept = {"retention_ms": "-1", "retention_bytes": "-1"}
        configure(self.s, self.name, **{each: kept[each] for each in settings})

    def by_hand(self) -> None:
        """DeleteRecords, to an offset within the log or to its end. What it leaves of a segment is
        read by Kafka's cleaner, not by ours: compacted logs have none of it."""
        start = start_of(self.s, self.name)
        offset = self.rng.choice((-1, *[start + self.rng.randint(0, 12)] * 5))
        delete_records(self.link, self.name, offset)
        self.s.wait(SETTLES_MS)

    # -- what is left

    def look(self) -> None:
        """Everything that a client can see of it."""
        contents(self.s, self.name)
        if "compact" not in self.policy or self.retained_ms != "1":
            self.s.say(
                "size", size_of(self.s, self.name)
            )  # else markers have deltas of this moment
        times = (TIMESTAMP_MS, self.rng.randint(TIMESTAMP_MS, self.at_ms), self.at_ms, now())
        for special in (-1, -2, -4, -5, -6):
            list_offsets(self.link, listed(self.name, special))
        for at, timestamp in enumerate((-3, *times)):
            answer = self.link.ask_quietly(
                "ListOffsets",
                11,
                replica_id=-1,
                isolation_level=0,
                timeout_ms=5_000,
                topics=[listed(self.name, timestamp)],
            )
            part = answer["topics"][0]["partitions"][0]
            told = part["timestamp"]
            when = told if told <= self.at_ms else "now"
            self.s.say(
                "highest" if not at else f"time {at}",
                [part["error_code"], part["offset"], when, part["leader_epoch"]],
            )
        self.committed()
        self.producers()

    def committed(self) -> None:
        """What a reader of committed records is told of aborted transactions, from several places
        on."""
        start = start_of(self.s, self.name)
        for offset in (start, start + self.rng.randint(0, 10)):
            answer = self.link.ask_quietly(
                "Fetch",
                12,
                replica_id=-1,
                max_wait_ms=0,
                min_bytes=0,
                max_bytes=1,
                isolation_level=READ_COMMITTED,
                session_id=0,
                session_epoch=-1,
                topics=[wanted(self.name, offset)],
                forgotten_topics_data=[],
            )
            part = answer["responses"][0]["partitions"][0]
            aborted = part["aborted_transactions"] or []
            rows = [
                [self.s.names.value("producer_id", each["producer_id"]), each["first_offset"]]
                for each in aborted
            ]
            ends = [part["high_watermark"], part["last_stable_offset"], part["log_start_offset"]]
            self.s.say("committed", [offset, part["error_code"], ends, rows])

    def producers(self) -> None:
        """Which producers the log knows."""
        answer = self.link.ask_quietly(
            "DescribeProducers", 0, topics=[{"name": self.name, "partition_indexes": [0]}]
        )
        known = answer["topics"][0]["partitions"][0]["active_producers"]
        rows = [
            [
                self.s.names.value("producer_id", each["producer_id"]),
                each["producer_epoch"],
                each["last_sequence"],
                each["coordinator_epoch"],
                each["current_txn_start_offset"],
            ]
            for each in known
        ]
        self.s.say("producers", sorted(rows, key=str))


def episode(seed: int) -> Callable[[Session], None]:
    """The scenario of one seed."""

    def play(s: Session) -> None:
        Life(s, seed).run()

    play.__name__ = f"seed_{seed:03}"
    return play


for _seed in SEEDS:
    of_logs()(episode(_seed))
