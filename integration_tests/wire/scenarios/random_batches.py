"""Record batches with a few bytes changed and the check sum put right again: what is appended, and
what is refused how."""

from __future__ import annotations

import random
from collections.abc import Callable

import google_crc32c

from integration_tests.wire.batches import TIMESTAMP_MS, batch
from integration_tests.wire.people import topic
from integration_tests.wire.recorder import Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.scenarios.fetch import fetch, wanted
from integration_tests.wire.scenarios.produce import produce
from integration_tests.wire.scenarios.random_frames import mutated

SEEDS = range(1, 7)
BATCHES = 40
CRC_AT, BODY_AT, TIMES_AT, HEADER_BYTES = 17, 21, 27, 61


def mended(data: bytes, rng: random.Random) -> bytes:
    """Put length and check sum right, mostly; a header's worth of bytes is always there, and the
    time is not touched (Kafka starts another segment for a time far off, and reads one segment at a
    time)."""
    data = data.ljust(HEADER_BYTES, b"\0")
    data = data[:TIMES_AT] + TIMESTAMP_MS.to_bytes(8, "big") * 2 + data[TIMES_AT + 16 :]
    if rng.random() < 0.9:
        data = data[:8] + (len(data) - 12).to_bytes(4, "big") + data[12:]
    if rng.random() < 0.95:
        data = (
            data[:CRC_AT] + google_crc32c.value(data[BODY_AT:]).to_bytes(4, "big") + data[BODY_AT:]
        )
    return data


def changed(data: bytes, rng: random.Random) -> bytes:
    """Change the records, the batch's header, or anything."""
    cut = rng.choice((0, BODY_AT, BODY_AT, 57, HEADER_BYTES, HEADER_BYTES))
    return mended(data[:cut] + mutated(data[cut:], rng), rng)


def episode(seed: int) -> Callable[[Session], None]:
    """The scenario of one seed."""

    def play(s: Session) -> None:
        rng = random.Random(seed)
        link = s.connect()
        stamped = topic(s, "stamped", message_timestamp_type="LogAppendTime")
        names = [topic(s, "t"), topic(s, "compacted", cleanup_policy="compact"), stamped]
        for _ in range(BATCHES):
            values = [b"v" * rng.randrange(8) for _ in range(rng.randrange(1, 4))]
            sound = batch(
                *values,
                key=rng.choice((None, b"k")),
                timestamp_ms=TIMESTAMP_MS,
                step_ms=rng.choice((0, 5)),
            )
            name = rng.choice((names[0], names[0], names[1], names[2]))
            produce(
                link, name, changed(bytes.fromhex(sound), rng).hex(), version=rng.choice((7, 9, 12))
            )
        for name in names[:2]:
            fetch(link, wanted(name, 0))

    play.__name__ = f"seed_{seed:03}"
    return play


for _seed in SEEDS:
    scenario()(episode(_seed))
