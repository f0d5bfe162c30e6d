"""Random lives of share partitions (KIP-932): seeded sequences of fetches, acknowledgements and
sessions, right and wrong, while records come, expire from the log and stand in transactions.

The seed alone decides what is done, together with what was answered. One request at a time is under
way, and locks are long, so time plays no part.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from integration_tests.wire.raw import Plain
from integration_tests.wire.recorder import Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.sharing import (
    ACCEPT,
    PROFILE,
    REJECT,
    RELEASE,
    RENEW,
    Shared,
    Sharer,
)
from integration_tests.wire.transacting import Transactor, now_ms

SEEDS = (*range(1, 6), *range(7, 14), 188, 222)
STEPS = 50
GAP = 0
UNKNOWN_SERVER_ERROR = -1
GIVEN_BACK_MS = 100
"""Kafka answers the end of a session before the records that it held are given back."""
Acks = tuple[tuple[int, ...], ...]


class Play:
    """A share group's partitions, two or three members, and a source of randomness."""

    def __init__(self, s: Session, seed: int) -> None:
        self.s = s
        self.rng = rng = random.Random(seed)
        settings = {
            "share.delivery.count.limit": rng.choice(("2", "3", "5", "8")),
            "share.isolation.level": rng.choice(("read_uncommitted", "read_committed")),
        }
        if rng.random() < 0.15:
            settings["share.renew.acknowledge.enable"] = "false"
        if rng.random() < 0.3:
            settings["share.partition.max.record.locks"] = "100"
        self.shared = Shared(s, settings=settings)
        self.shared.produce(*self.sizes(), timestamp_ms=now_ms())
        self.members = [self.shared.sharer(label) for label in rng.choice(("ab", "abc"))]
        self.held: dict[str, list[tuple[int, int]]] = {m.link.name: [] for m in self.members}
        self.started: set[str] = set()
        self.transactor = Transactor(s, s.connect("tx")) if rng.random() < 0.4 else None
        self.open = False
        if self.transactor is not None:
            self.transactor.init()

    def run(self) -> None:
        """Do so many random things, then look at what is left."""
        kinds: list[tuple[int, Callable[[Sharer], object]]] = [
            (30, self.fetch),
            (34, self.acknowledge),
            (6, self.wrong_ranges),
            (3, self.wrong_epoch),
            (3, self.begin_anew),
            (5, self.close),
            (10, self.produce),
            (6, self.transact),
            (2, self.delete_records),
            (6, self.look),
            (2, self.forget),
        ]
        weights = [weight for weight, _ in kinds]
        for _ in range(STEPS):
            self.rng.choices(kinds, weights)[0][1](self.rng.choice(self.members))
        self.look(self.members[0])
        self.end()
        for member in self.members:
            self.fetch(member)

    # -- members

    def fetch(self, a: Sharer) -> None:
        """The next fetch of its session, or its first; sometimes with acknowledgements."""
        fields = self.limits()
        if a.link.name not in self.started:
            return self.begin(a, fields)
        acks = self.acks(a, RELEASE) if self.rng.random() < 0.35 else ()
        if any(RENEW in of[2:] for of in acks):
            fields = {"is_renew_ack": True, "max_records": 0, "max_bytes": 0, "min_bytes": 0}
        if self.rng.random() < 0.1 and not acks:
            self.took(a, a.fetch(0, **fields))
        else:
            self.took(a, a.fetch(acks=acks, **fields))
        return None

    def begin(self, a: Sharer, fields: Plain) -> None:
        """A first fetch waits until the partition's state is loaded, if there are records."""
        self.started.add(a.link.name)
        wait = 0 if len(self.started) > 1 else 10_000
        self.took(a, a.begin(**({"max_wait_ms": wait} | fields)))

    def limits(self) -> Plain:
        """How much a fetch asks for."""
        return {
            "max_records": self.rng.choice((1, 2, 3, 5, 8, 500)),
            "batch_size": self.rng.choice((1, 2, 4, 500, 500)),
            "share_acquire_mode": self.rng.choice((0, 0, 1)),
        }

    def took(self, a: Sharer, answer: Plain) -> None:
        """Keep what was acquired."""
        self.failed(a, answer)
        for topic in answer["responses"]:
            for of in topic["partitions"]:
                self.held[a.link.name] += [
                    (row["first_offset"], row["last_offset"]) for row in of["acquired_records"]
                ]

    def failed(self, a: Sharer, answer: Plain) -> None:
        """A request that failed as a whole has moved its session on all the same (SH-ACK-9)."""
        if answer["error_code"] == UNKNOWN_SERVER_ERROR and a.epoch >= 0:
            a.epoch += 1

    def acks(self, a: Sharer, without: int = -1) -> Acks:
        """Acknowledgements of some of what it holds, now and then of what it does not. `without`:
        a type that is not among them: whether a fetch has what it gives back is chance in Kafka."""
        held = self.held[a.link.name]
        rows = list[tuple[int, ...]]()
        for first, last in sorted(
            self.rng.sample(held, min(len(held), self.rng.choice((1, 1, 2))))
        ):
            held.remove((first, last))
            if self.rng.random() < 0.4 and first < last:
                cut = self.rng.randrange(first, last)
                held.append((cut + 1, last))
                last = cut
            kind = self.rng.choice((ACCEPT, ACCEPT, RELEASE, RELEASE, REJECT, GAP, RENEW))
            kind = ACCEPT if kind == without else kind
            if kind == RENEW:
                held.append((first, last))
            if self.rng.random() < 0.3 and kind != RENEW:
                kinds = [
                    self.rng.choice((ACCEPT, REJECT, GAP, GAP if without == RELEASE else RELEASE))
                    for _ in range(first, last + 1)
                ]
                rows.append((first, last, *kinds))
            else:
                rows.append((first, last, kind))
        if not rows or self.rng.random() < 0.05:
            at = self.rng.randrange(12)
            rows = [(at, at + self.rng.randrange(4), self.rng.choice((ACCEPT, REJECT)))]
        return tuple(sorted(rows))

    def acknowledge(self, a: Sharer) -> None:
        """Acknowledge without a fetch."""
        if a.link.name not in self.started:
            return
        acks = self.acks(a)
        renew = any(RENEW in of[2:] for of in acks)
        a.acknowledge(
            *acks, **({"is_renew_ack": True} if renew or self.rng.random() < 0.03 else {})
        )

    def wrong_ranges(self, a: Sharer) -> None:
        """Ranges that cannot be, or not all of them."""
        at = self.rng.randrange(10)
        ranges: Acks = self.rng.choice(
            (
                ((at, at - 1, ACCEPT),),
                ((at, at + 1),),
                ((at, at + 2, ACCEPT, RELEASE),),
                ((at, at, 5),),
                ((at, at + 1, RENEW),),
                ((at, at + 2, ACCEPT), (at + 1, at + 3, ACCEPT)),
                ((at + 5, at + 6, RELEASE), (at, at, RELEASE)),
                ((at, at + 1_000, RELEASE),),
                ((0, at, GAP), (at + 1, at + 1, ACCEPT)),
            )
        )
        self.failed(a, a.acknowledge(*ranges))

    def wrong_epoch(self, a: Sharer) -> None:
        """An epoch that its session has not come to, or has left behind."""
        epoch = max(a.epoch, 0) + self.rng.choice((-1, 1, 2))
        if epoch > 0:
            fields = a.fields(acks=self.acks(a), share_session_epoch=epoch)
            self.took(a, a.link.ask("ShareFetch", 2, **fields))

    def begin_anew(self, a: Sharer) -> None:
        """Epoch 0 once more: what is held stays so."""
        if a.link.name in self.started:
            self.took(a, a.begin(**({"max_wait_ms": 0} | self.limits())))

    def close(self, a: Sharer) -> None:
        """End the session, with last acknowledgements or without."""
        if a.link.name in self.started:
            a.close(*(self.acks(a) if self.rng.random() < 0.5 else ()))
            a.epoch = 0
            self.started.discard(a.link.name)
            self.held[a.link.name].clear()
            self.s.wait(GIVEN_BACK_MS)

    def forget(self, a: Sharer) -> None:
        """Leave a partition out of the session."""
        if a.link.name in self.started:
            gone = [{"topic_id": self.shared.id, "partitions": [0]}]
            self.took(a, a.fetch(forgotten_topics_data=gone))

    # -- the log

    def sizes(self) -> list[int]:
        """Sizes of a few batches."""
        many = (1, 2, 3, 5, 40) if self.rng.random() < 0.2 else (1, 1, 2, 3, 5)
        return [self.rng.choice(many) for _ in range(self.rng.randrange(1, 4))]

    def produce(self, _: Sharer) -> None:
        """More records."""
        self.shared.produce(*self.sizes(), timestamp_ms=now_ms())

    def transact(self, _: Sharer) -> None:
        """Records of a transaction, or its end."""
        if self.transactor is None:
            return
        if self.open and self.rng.random() < 0.6:
            self.end()
        else:
            values = [b"t"] * self.rng.choice((1, 2, 4))
            self.transactor.produce(self.shared.topic, *values)
            self.open = True

    def end(self) -> None:
        """Commit or abort what is open."""
        if self.transactor is not None and self.open:
            self.transactor.end(commit=self.rng.random() < 0.5)
            self.open = False

    def delete_records(self, _: Sharer) -> None:
        """Move the log's start."""
        self.s.stage().ask(
            "DeleteRecords",
            2,
            topics=[
                {
                    "name": self.shared.topic,
                    "partitions": [{"partition_index": 0, "offset": self.rng.randrange(1, 8)}],
                }
            ],
            timeout_ms=5_000,
        )

    # -- what is stored

    def look(self, _: Sharer) -> None:
        """What the share coordinator has."""
        self.shared.state()
        self.s.stage().ask(
            "ReadShareGroupStateSummary",
            1,
            group_id=self.shared.group,
            topics=[
                {
                    "topic_id": self.shared.id,
                    "partitions": [{"partition": 0, "leader_epoch": 0}],
                }
            ],
        )


def episode(seed: int) -> Callable[[Session], None]:
    """The scenario of one seed."""

    def play(s: Session) -> None:
        Play(s, seed).run()

    play.__name__ = f"seed_{seed:03}"
    return play


for _seed in SEEDS:
    scenario(PROFILE, since="4.3")(episode(_seed))
