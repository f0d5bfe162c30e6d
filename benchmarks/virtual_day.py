"""What an idle aiokafka consumer costs under virtual time, and whose work that is.

`python -m benchmarks.virtual_day` lets two consumers be idle for a virtual day, and prints the
processor time. `--count` counts the Python instructions of one consumer's idle minute, which other
work on the machine cannot change, by who does it: the client library with what it asks of the
standard library, the event loop, connections in memory and virtual time, the brokers.
`--against DIR` compares processor time with another checkout, as `benchmarks.request_cost` does.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from time import process_time
from types import FrameType
from typing import Any

from aiokafka import AIOKafkaConsumer

from benchmarks.process import Row
from coordinator.testing.virtual import virtual_kafka

_CPU = process_time  # bound here: virtual time replaces the names of module `time`
_MINUTE_S = 60
_DAY_S = 24 * 3600
_PIECE_S = 2 * _MINUTE_S
_LOOP = (
    "/asyncio/base_events.py",
    "/asyncio/events.py",
    "/asyncio/selector_events.py",
    "/selectors.py",
)
_GENERATED = ("<encode", "<decode", "<PartitionData", "<Fetch")
"""Classes and codecs of messages, which are made of their tables."""
_WHO = {
    "client": "the client library, with what it asks of the standard library",
    "loop": "asyncio's event loop",
    "virtual": "virtual time and connections in memory",
    "broker": "the brokers",
}


@asynccontextmanager
async def _idle(consumers: int) -> AsyncIterator[None]:
    """Consumers of a topic of four partitions that have nothing to read."""
    async with virtual_kafka({"orders": 4}) as kafka:
        made = [
            AIOKafkaConsumer(
                "orders",
                bootstrap_servers=kafka.bootstrap,
                group_id="app",
                client_id=f"consumer-{number}",
                max_poll_interval_ms=2 * _DAY_S * 1000,
            )
            for number in range(consumers)
        ]
        for consumer in made:
            await consumer.start()
        await asyncio.sleep(10)
        yield
        group = kafka.group("app")
        assert group.state == "Stable", group.state
        assert len(group.members) == consumers
        for consumer in made:
            await consumer.stop()


async def _processor_s(consumers: int, duration_s: float) -> float:
    """Processor time of so much virtual time."""
    async with _idle(consumers):
        began = _CPU()
        await asyncio.sleep(duration_s)
        return _CPU() - began


async def _count() -> Counter[str]:
    """Python instructions of one consumer's idle minute."""
    seen: Counter[str] = Counter()

    def trace(frame: FrameType, event: str, arg: object) -> Any:
        who = _who(frame.f_code.co_filename)

        def count(frame: FrameType, event: str, arg: object) -> Any:
            if event == "opcode":
                seen[who] += 1
            return count

        frame.f_trace_opcodes = True
        frame.f_trace_lines = False
        return count

    async with _idle(1):
        await asyncio.sleep(0)
        sys.settrace(trace)
        try:
            await asyncio.sleep(_MINUTE_S)
        finally:
            sys.settrace(None)
    return seen


def _who(path: str) -> str:
    if "/coordinator/testing/virtual/" in path:
        return "virtual"
    if "/coordinator/" in path or path.startswith(_GENERATED):
        return "broker"
    return "loop" if path.endswith(_LOOP) else "client"


def run() -> list[Row]:
    """Seconds of a day of two consumers."""
    taken = asyncio.run(_processor_s(2, _DAY_S))
    return [Row("CPU of a virtual day of two idle aiokafka consumers", taken, "s", "<= 120")]


def main(arguments: list[str]) -> int:
    """Measure, count or compare."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.virtual_day",
        description=__doc__.split("\n", 1)[0] if __doc__ else None,
    )
    parser.add_argument(
        "--against", type=Path, metavar="DIR", help="another checkout to compare with"
    )
    parser.add_argument(
        "--pairs", type=int, default=10, help="how many pairs of processes (default: 10)"
    )
    parser.add_argument("--count", action="store_true", help="count Python instructions instead")
    parser.add_argument("--pieces", metavar="NAME", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.pieces:
        print("ready", flush=True)
        for _ in sys.stdin:
            print(asyncio.run(_processor_s(1, _PIECE_S)), flush=True)
    elif options.against is not None:
        from benchmarks.checkouts import compare

        compare(
            Path(__file__),
            options.against.resolve(),
            ["two minutes of an idle consumer"],
            options.pairs,
        )
    elif options.count:
        seen = asyncio.run(_count())
        for name, words in _WHO.items():
            print(f"{words:<64} {seen[name]:>12,} instructions", flush=True)
    else:
        print(*run(), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
