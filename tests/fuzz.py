"""Mutated frames against the wire: `python -m tests.fuzz --count 1000000 --seed 7`.

Whatever the bytes, decoding ends in a message or in `WireError`; a message that was decoded
encodes, and what it encodes to decodes to the same bytes again. Every fourth frame goes through a
whole broker (`tests.fuzz_door`). Cases are drawn from seed and number: a failure prints the command
that repeats it.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from random import Random, SystemRandom
from typing import NamedTuple

from coordinator.wire.consumer_protocol import (
    Assignment,
    Subscription,
    TopicPartitions,
    topics_only,
)
from coordinator.wire.framing import parse_request_header, request_header
from coordinator.wire.messages import API_KEYS
from coordinator.wire.primitives import WireError
from coordinator.wire.schema import Message
from tests.fuzz_door import BLOCK, Door, frame_of, request_bytes
from tests.wire.samples import SERVED, Vector, vectors

EXTREMES = (
    b"\x00",
    b"\x7f",
    b"\x80",
    b"\xff",
    b"\xff" * 4,
    b"\x7f\xff\xff\xff",
    b"\x80\0\0\0",
    b"\x7f\xff",
    b"\xff\xff\xff\xff\x07",
)


DOOR_EVERY = 4
"""One case in so many goes through a whole broker."""


class Outcome(NamedTuple):
    accepted: int
    refused: int


def mutate(body: bytes, random: Random) -> bytes:
    """A few random changes: bytes flipped, overwritten by extremes, inserted, removed, cut off,
    repeated."""
    data = bytearray(body)
    for _ in range(random.choice((1, 1, 1, 2, 3, 8))):
        at = random.randrange(len(data) + 1)
        match random.randrange(6):
            case 0 if at < len(data):
                data[at] ^= 1 << random.randrange(8)
            case 1:
                extreme = random.choice(EXTREMES)
                data[at : at + len(extreme)] = extreme
            case 2:
                data[at:at] = random.randbytes(random.randrange(1, 9))
            case 3:
                del data[at : at + random.randrange(1, 9)]
            case 4:
                del data[at:]
            case _:
                data[at:at] = data[at : at + 20]
    return bytes(data)


def decode_anything(message: type[Message], version: int, data: bytes) -> bool:
    """Did it decode? Raises on anything but a message that can be written again, or `WireError`."""
    try:
        decoded = message.decode(version, data)
    except WireError:
        return False
    body = decoded.encode(version)
    assert message.decode(version, body).encode(version) == body
    return True


def decode_header(data: bytes) -> bool:
    """The same for a request header."""
    try:
        header, pos = parse_request_header(data)
    except WireError:
        return False
    assert 8 <= pos <= len(data)
    assert header.client_id is not None
    return True


def decode_blob(data: bytes) -> bool:
    """The same for what members put into JoinGroup and SyncGroup."""
    topics_only(data)
    try:
        subscription = Subscription.decode(data)
    except WireError:
        return False
    assert Subscription.decode(subscription.encode()).topics == tuple(sorted(subscription.topics))
    return True


def case(seed: int, number: int, samples: list[Vector]) -> bool:
    """One mutated thing. Was it accepted?"""
    random = Random(f"{seed}/{number}")
    kind = random.randrange(12)
    if kind == 0:
        return decode_header(
            mutate(
                request_header(
                    random.choice(list(API_KEYS)), random.randrange(14), 7, "client-größe"
                ),
                random,
            )
        )
    if kind == 1:
        owned = (TopicPartitions("orders", (1, 2)), TopicPartitions("payments", ()))
        blob = Subscription(("orders", "payments"), b"user", owned, 3, "rack").encode(
            random.randrange(4)
        )
        return decode_blob(mutate(random.choice((blob, Assignment(owned, None).encode())), random))
    sample = random.choice(samples)
    return decode_anything(sample.message, sample.version, mutate(sample.body, random))


def at_the_door(seed: int, number: int, door: Door, requests: list[Vector]) -> bool:
    """One frame to a broker: as it is, its content mutated, or its size too. Was its connection
    kept?"""
    random = Random(f"{seed}/{number}/door")
    data = request_bytes(random, requests)
    match random.randrange(8):
        case 0 | 1 | 2:
            sent = frame_of(data)
        case 3:
            sent = mutate(frame_of(data), random)
        case _:
            sent = frame_of(mutate(data, random))
    return door.receive(sent).closed is None


def run(count: int, seed: int, first: int = 0) -> Outcome:
    """All cases from `first` on. Raises what a case raises, after naming the case."""
    samples = [vector for vector in vectors() if 0 < len(vector.body) < 2000]
    requests = [
        vector
        for vector in samples
        if vector.message.api_key in SERVED and vector.line["dir"] == "request"
    ]
    tally: Counter[bool] = Counter()
    door = Door()
    for number in range(first, first + count):
        try:
            if number % BLOCK == 0:
                door.check()
                door = Door()
            at_door = number % DOOR_EVERY == 0
            tally[
                at_the_door(seed, number, door, requests)
                if at_door
                else case(seed, number, samples)
            ] += 1
        except BaseException:
            start = max(number - number % BLOCK, first)
            again = (
                f"python -m tests.fuzz --seed {seed} --first {start} --count {number - start + 1}"
            )
            print(f"case {number}; to repeat it: {again}", file=sys.stderr)
            raise
    door.check()
    return Outcome(tally[True], tally[False])


def main() -> int:
    """Parse the command line, print the seed, run."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument(
        "--count", type=int, default=1_000_000, help="how many mutated frames (default: a million)"
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=None,
        help="the same seed gives the same frames (default: random)",
    )
    parser.add_argument(
        "--first", type=int, default=0, help="number of the first case, to repeat one"
    )
    args = parser.parse_args()
    seed = SystemRandom().randrange(1 << 32) if args.seed is None else args.seed
    print(f"seed {seed}, {args.count} frames from number {args.first}", flush=True)
    start = time.perf_counter()
    outcome = run(args.count, seed, args.first)
    print(
        f"{outcome.accepted} accepted, {outcome.refused} refused, nothing else, in {time.perf_counter() - start:.1f} s"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
