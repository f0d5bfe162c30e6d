"""Random lives of logs that are compacted and deleted from: what is left, batch by batch. Each life
follows from its number, so that both sides live it."""

from __future__ import annotations

import random
from functools import partial

from integration_tests.wire.batches import TIMESTAMP_MS, batch, record
from integration_tests.wire.log_people import (
    CHECKS_MS,
    PROFILE,
    SINCE,
    clean,
    compacted,
    contents,
    delete_records,
    start_of,
)
from integration_tests.wire.recorder import Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.scenarios.fetch import fill
from integration_tests.wire.scenarios.log_compaction import sealed
from integration_tests.wire.scenarios.log_offsets import list_offsets, listed

of_logs = partial(scenario, PROFILE, since=SINCE, lasts_s=60)


def a_batch(rng: random.Random, at_ms: int) -> str:
    """One to four records of few keys, some without a value."""
    count = rng.randint(1, 4)
    rows = []
    for number in range(count):
        key = rng.choice("abcdef").encode()
        plain = record(b"v" * rng.randint(1, 60), number, number, key)
        if rng.random() < 0.15:
            body = record(b"", number, number, key)
            plain = body[:-2] + b"\x01" + body[-1:]
        rows.append(plain)
    body = b"".join(rows)
    head = bytes.fromhex(batch(*[b"x"] * count, timestamp_ms=at_ms, step_ms=1))[:61]
    raw = head[:8] + (len(body) + 49).to_bytes(4, "big") + head[12:]
    return sealed(raw + body)


def live(s: Session, seed: int) -> None:
    """Write, clean and look, some times over."""
    rng = random.Random(seed)
    a = s.connect()
    name = compacted(
        s, each=0, internal_segment_bytes=str(rng.randint(330, 600)),
        cleanup_policy="compact,delete", delete_retention_ms=rng.choice(("1", "3600000")),
    )  # fmt: skip
    at_ms = TIMESTAMP_MS
    for _ in range(3):
        for _ in range(rng.randint(8, 16)):
            at_ms += rng.randint(0, 100)
            fill(s, name, a_batch(rng, at_ms))
        clean(s, name, changes=False)
        contents(s, name)
        for timestamp in (-2, -3, TIMESTAMP_MS, at_ms - 500):
            list_offsets(a, listed(name, timestamp))
        delete_records(a, name, start_of(s, name) + rng.randint(0, 5))
        s.wait(CHECKS_MS)
        contents(s, name)


@of_logs()
def one(s: Session) -> None:
    """The life with the number 1."""
    live(s, 1)


@of_logs()
def two(s: Session) -> None:
    """The life with the number 2."""
    live(s, 2)


@of_logs()
def three(s: Session) -> None:
    """The life with the number 3."""
    live(s, 3)


@of_logs()
def four(s: Session) -> None:
    """The life with the number 4."""
    live(s, 4)
