"""The testing kit: a fixture's set-up and teardown, tests with forced rebalances, and a peer that
joins a live consumer's group."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from statistics import median
from typing import Any

from coordinator import Emulator

FIXTURES = 200
JOINS = 9
TESTS = 100
REBALANCES = 2
APPLICATIONS = {
    "kafka-python": (
        "kafka_python",
        "KafkaPythonApplication",
        {"heartbeat_interval_ms": 50, "fetch_max_wait_ms": 20},
    ),
    "aiokafka": ("aiokafka", "AiokafkaApplication", {"heartbeat_interval_ms": 50}),
    "confluent-kafka": (
        "confluent",
        "ConfluentApplication",
        {"heartbeat.interval.ms": 50, "statistics.interval.ms": 50, "fetch.wait.max.ms": 10},
    ),
}


def run() -> Iterator[str]:
    """Rows of text."""
    up, down = _fixtures()
    yield f"fixture kafka, set-up / teardown, median of {FIXTURES}: {up * 1000:.2f} / {down * 1000:.2f} ms"
    for library in ("kafka-python", "confluent-kafka"):
        taken = _tests_with(library, TESTS)
        yield f"{TESTS} tests of the example application with {library}, {REBALANCES} forced rebalances each: {taken:.1f} s"
    virtual = asyncio.run(_virtual_tests(TESTS))
    yield f"{TESTS} tests of an aiokafka consumer under virtual time, {REBALANCES} forced rebalances each: {virtual:.1f} s"
    for library in APPLICATIONS:
        yield f"a peer joins a live {library}'s group until Stable, heartbeat 50 ms, median of {JOINS}: {_join(library) * 1000:.0f} ms"


def _fixtures() -> tuple[float, float]:
    ups, downs = [], []
    for _ in range(FIXTURES):
        began = time.perf_counter()
        kafka = Emulator()
        kafka.__enter__()
        ups.append(time.perf_counter() - began)
        began = time.perf_counter()
        kafka.__exit__(None, None, None)
        downs.append(time.perf_counter() - began)
    return median(ups), median(downs)


def _join(library: str) -> float:
    module, name, settings = APPLICATIONS[library]
    make: Callable[..., Any] = getattr(
        import_module(f"examples.consumers.{module}_application"), name
    )
    taken = []
    for _ in range(JOINS):
        with Emulator({"orders": 6}, remember=10_000) as kafka:
            application = make(settings=settings)
            application.start(kafka.bootstrap_servers)
            group = kafka.group("billing")
            group.wait(state="Stable", members=1, assigned="all", acted=True)
            began = time.perf_counter()
            with group.peer(["orders"], config={"heartbeat.interval.ms": "50"}):
                group.wait(state="Stable", members=2, assigned="all")
                taken.append(time.perf_counter() - began)
                application.stop()
    return median(taken)


def _tests_with(library: str, count: int) -> float:
    """Seconds for so many tests of the example application, each with an emulator of its own and
    two forced rebalances."""
    module, name, settings = APPLICATIONS[library]
    make: Callable[..., Any] = getattr(
        import_module(f"examples.consumers.{module}_application"), name
    )
    began = time.perf_counter()
    for _ in range(count):
        with Emulator({"orders": 6}, remember=10_000) as kafka:
            application = make(settings=settings)
            application.start(kafka.bootstrap_servers)
            group = kafka.group("billing")
            seen = group.wait(state="Stable", members=1, assigned="all", acted=True)
            for _ in range(REBALANCES):
                group.rebalance()
                seen = group.wait(
                    state="Stable",
                    members=1,
                    assigned="all",
                    acted=True,
                    generation_above=seen.generation,
                )
            application.stop()
    return time.perf_counter() - began


async def _virtual_tests(count: int) -> float:
    """The same with aiokafka under virtual time: seconds of real time."""
    from aiokafka import AIOKafkaConsumer
    from aiokafka.coordinator.assignors.range import RangePartitionAssignor

    from coordinator.testing.virtual import virtual_kafka

    began = time.perf_counter()
    for _ in range(count):
        async with virtual_kafka({"orders": 6}) as kafka:
            consumer = AIOKafkaConsumer(
                "orders",
                bootstrap_servers=kafka.bootstrap,
                group_id="billing",
                partition_assignment_strategy=(RangePartitionAssignor,),
            )
            await consumer.start()
            group = kafka.group("billing")
            for _ in range(REBALANCES):
                generation = group.generation
                group.rebalance()
                await kafka.until(lambda: group.state == "Stable" and group.generation > generation)  # noqa: B023 - awaited here
            await consumer.stop()
    return time.perf_counter() - began
