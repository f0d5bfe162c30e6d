"""The emulator beside a real Apache Kafka, in one run: from the start of either to a consumer's
first assignment; a rebalance.

Needs Docker and the broker's image (KAFKA_IMAGE, or one of those that
`integration_tests/targets.py` knows). The client library is imported beforehand, and both targets
are asked the same. "Tuned": C1 and the serial collector, as this project's image has them by
default; the other row leaves the JVM as Kafka's own scripts start it.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from statistics import median
from typing import Protocol

from confluent_kafka import Consumer

from benchmarks.process import Row
from coordinator import Emulator
from coordinator.members import MemberConfig
from coordinator.members.live import Fleet, Peer
from coordinator.testing.containers import IMAGE_JVM, RealKafka
from integration_tests.targets import real_broker_image, why_no_docker
from integration_tests.wire.make_topic import create_topic

CONFIG = {"group.initial.rebalance.delay.ms": "0"}
HEARTBEAT_MS = 100
PARTITIONS = 12
DEADLINE_S = 60.0


class Running(Protocol):
    """A broker that can be asked."""

    @property
    def bootstrap_servers(self) -> str:
        """`host:port`."""


Start = Callable[[], AbstractContextManager[Running]]


def _emulator() -> Emulator:
    return Emulator(config=CONFIG)


def _tuned() -> RealKafka:
    return RealKafka(config=CONFIG, image=real_broker_image())


def _stock_jvm() -> RealKafka:
    return RealKafka(config=CONFIG, image=real_broker_image(), jvm=IMAGE_JVM)


def to_first_assignment_s(start: Start) -> float:
    """From nothing to a lone consumer that owns its partitions, the broker's own start included."""
    began = time.perf_counter()
    with start() as broker:
        create_topic(broker.bootstrap_servers, "orders", PARTITIONS)
        consumer = Consumer({"bootstrap.servers": broker.bootstrap_servers, "group.id": "first"})
        consumer.subscribe(["orders"])
        while not consumer.assignment():
            consumer.poll(0.01)
            assert time.perf_counter() - began < DEADLINE_S, "no assignment"
        took = time.perf_counter() - began
        consumer.close()
    return took


async def _all_owned(fleet: Fleet, peers: list[Peer]) -> None:
    """Until these own every partition: they hear of the leave with their next heartbeat."""
    owned = asyncio.Event()

    def look(_: Peer) -> None:
        if sum(len(peer.owned) for peer in peers) == PARTITIONS:
            owned.set()

    fleet.on_change = look
    await asyncio.wait_for(owned.wait(), DEADLINE_S)
    fleet.on_change = None


async def _leaves(address: str, rounds: int) -> list[float]:
    """Three members, one leaves: how long until the other two own everything, once a round."""
    took = []
    async with Fleet(address) as fleet:
        for number in range(rounds):
            config = MemberConfig.from_properties(
                {
                    "group.id": f"leave-{number}",
                    "heartbeat.interval.ms": HEARTBEAT_MS,
                    "enable.auto.commit": False,
                }
            )
            peers = [fleet.peer(config, topics=["orders"]) for _ in range(3)]
            await fleet.stable(peers)
            began = time.perf_counter()
            await peers[0].close()
            await _all_owned(fleet, peers[1:])
            took.append(time.perf_counter() - began)
            for peer in peers[1:]:
                await peer.close()
    return took


def leave_to_stable_s(start: Start, rounds: int = 15) -> float:
    """The median of some rounds on one running broker."""
    with start() as broker:
        create_topic(broker.bootstrap_servers, "orders", PARTITIONS)
        return median(asyncio.run(_leaves(broker.bootstrap_servers, rounds)))


def run(rounds: int = 5) -> Iterator[Row]:
    """Measure each; rows as they come; none, and a line that says why, without Docker."""
    if reason := why_no_docker():
        print(f"beside a real broker: left out, {reason}", file=sys.stderr)
        return
    to_first_assignment_s(_emulator)  # the first one imports
    emulator = median(to_first_assignment_s(_emulator) for _ in range(rounds))
    yield Row("start to a consumer's first assignment: emulator, median", emulator, "s")
    for label, start, target in (
        ("tuned JVM", _tuned, ">= 10"),
        ("default JVM", _stock_jvm, ">= 20"),
    ):
        real = median(to_first_assignment_s(start) for _ in range(rounds))
        yield Row(f"the same: container of a real broker, {label}, median", real, "s")
        yield Row(
            f"the same: emulator faster than the container, {label}",
            real / emulator,
            "times",
            target,
        )
    yield Row(
        f"3 members, one leaves, until Stable ({HEARTBEAT_MS} ms heartbeats): emulator",
        leave_to_stable_s(_emulator) * 1000,
        "ms",
    )
    yield Row("the same: real broker", leave_to_stable_s(_tuned) * 1000, "ms")


if __name__ == "__main__":
    for row in run():
        print(row, flush=True)
