"""Unmodified aiokafka under virtual time: minutes in moments, the same log in every process, real
time refused with its frame."""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRebalanceListener

from coordinator.emulator.options import EmulatorError
from coordinator.judges import Judgement, judge
from coordinator.testing.virtual import (
    VirtualKafka,
    VirtualKafkaWarning,
    VirtualTimeError,
    virtual_kafka,
)

APPLICATION = """
import asyncio, sys
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from coordinator.testing.virtual import virtual_kafka

async def main():
    async with virtual_kafka({"orders": 4}, seed=7, log=sys.argv[1]) as kafka:
        consumers = [
            AIOKafkaConsumer("orders", bootstrap_servers=kafka.bootstrap, group_id="app", client_id=f"c{n}", auto_offset_reset="earliest")
            for n in range(2)]
        producer = AIOKafkaProducer(bootstrap_servers=kafka.bootstrap, client_id="p")
        await producer.start()
        for consumer in consumers:
            await consumer.start()
        for number in range(20):
            await producer.send_and_wait("orders", b"%d" % number, partition=number % 4)
            await asyncio.gather(*(consumer.getmany(timeout_ms=500) for consumer in consumers))
        await consumers[0].stop()
        await asyncio.sleep(30)
        await consumers[1].stop()
        await producer.stop()

asyncio.run(main())
"""


class Told(ConsumerRebalanceListener):  # type: ignore[misc]
    def __init__(self) -> None:
        self.assigned: list[int] = []

    async def on_partitions_revoked(self, revoked: Any) -> None:
        """Nothing."""

    async def on_partitions_assigned(self, assigned: Any) -> None:
        self.assigned.append(len(assigned))


async def test_ten_minutes_pass_while_nothing_happens() -> None:
    async with virtual_kafka({"orders": 4}) as kafka:
        consumer = AIOKafkaConsumer(
            "orders",
            bootstrap_servers=kafka.bootstrap,
            group_id="app",
            fetch_max_wait_ms=30_000,
            heartbeat_interval_ms=30_000,
            session_timeout_ms=100_000,
            max_poll_interval_ms=900_000,
        )
        await consumer.start()
        before, wall = time.monotonic(), time.time()
        await asyncio.sleep(600)
        assert 600 <= time.monotonic() - before < 601
        assert 600 <= time.time() - wall < 601
        assert kafka.group("app").state == "Stable"
        await consumer.stop()


async def test_a_group_rebalances_and_every_record_is_read() -> None:
    async with virtual_kafka({"orders": 4}) as kafka:
        told, read = Told(), []

        async def work(name: str) -> None:
            consumer = AIOKafkaConsumer(
                bootstrap_servers=kafka.bootstrap,
                group_id="app",
                client_id=name,
                auto_offset_reset="earliest",
            )
            consumer.subscribe(["orders"], listener=told)
            await consumer.start()
            try:
                async for message in consumer:
                    read.append(int(message.value))  # noqa: PERF401  it never ends
            finally:
                await consumer.stop()

        producer = AIOKafkaProducer(bootstrap_servers=kafka.bootstrap)
        await producer.start()
        first = asyncio.create_task(work("one"))
        await kafka.until(lambda: told.assigned == [4])
        second = asyncio.create_task(work("two"))
        await kafka.until(lambda: told.assigned[-2:] == [2, 2])
        for number in range(50):
            await producer.send("orders", b"%d" % number)
            await asyncio.sleep(0.5)
        await kafka.until(lambda: len(read) == 50)
        assert sorted(read) == list(range(50))
        first.cancel()
        await kafka.until(lambda: told.assigned[-1] == 4)
        second.cancel()
        await asyncio.gather(first, second, return_exceptions=True)
        await producer.stop()
        assert [
            str(each) for each in judge(kafka.events()) if each.judgement is Judgement.BROKEN
        ] == []
        with pytest.raises(TimeoutError, match="after 5 virtual seconds"):
            await kafka.until(lambda: False, timeout_s=5)


def test_one_seed_gives_one_log_in_every_process(tmp_path: Path, project_root: Path) -> None:
    def run(name: str) -> bytes:
        path = tmp_path / name
        environment = {**os.environ, "PYTHONHASHSEED": "5", "PYTHONPATH": str(project_root)}
        subprocess.run(
            [sys.executable, "-c", APPLICATION, str(path)],
            env=environment,
            check=True,
            timeout=1200,
        )
        return path.read_bytes()

    first = run("first.jsonl")
    assert run("second.jsonl") == first
    assert b'"PYTHONHASHSEED":"5"' in first.partition(b"\n")[0]
    assert first.count(b'"GenerationStored"') >= 2


async def _sleeps(kafka: VirtualKafka) -> None:
    time.sleep(1)  # noqa: ASYNC251  that is the point


async def _starts_a_thread(kafka: VirtualKafka) -> None:
    threading.Thread(target=print).start()


async def _asks_an_executor(kafka: VirtualKafka) -> None:
    await asyncio.to_thread(print)


async def _connects_elsewhere(kafka: VirtualKafka) -> None:
    await asyncio.open_connection("127.0.0.1", 9)


@pytest.mark.parametrize(
    ("application", "what"),
    [
        (_sleeps, "time.sleep"),
        (_starts_a_thread, "a thread"),
        (_asks_an_executor, "run_in_executor"),
        (_connects_elsewhere, "127.0.0.1:9"),
    ],
)
async def test_what_takes_real_time_is_refused_with_its_frame(
    application: Callable[[VirtualKafka], Awaitable[None]], what: str
) -> None:
    async with virtual_kafka() as kafka:
        with pytest.raises(VirtualTimeError) as error:
            await application(kafka)
    assert what in str(error.value)
    assert "test_virtual.py" in str(error.value)
    assert application.__name__ in str(error.value)


async def test_real_work_may_be_waited_for_while_time_stands_still() -> None:
    release = threading.Event()
    async with virtual_kafka(real_io="wait") as kafka:
        timer = asyncio.create_task(asyncio.sleep(3600))
        work = asyncio.get_running_loop().run_in_executor(None, release.wait, 60)
        for _ in range(5):
            await asyncio.sleep(0)
        assert kafka.now_ms < 1000
        release.set()
        assert await work
        assert kafka.now_ms < 1000
        await timer
        assert kafka.now_ms >= 3_600_000


async def test_everything_is_put_back() -> None:
    loop = asyncio.get_running_loop()
    random.seed(3)
    before = (
        time.monotonic,
        time.time,
        time.sleep,
        threading.Thread.start,
        random.getstate(),
        dict(vars(loop)),
    )
    async with virtual_kafka() as kafka:
        random.random()
        assert time.monotonic is not before[0]
        assert kafka.bootstrap == "broker-1:9092"
    assert (
        time.monotonic,
        time.time,
        time.sleep,
        threading.Thread.start,
        random.getstate(),
    ) == before[:5]
    assert vars(loop).keys() - before[5].keys() == set()


async def test_lost_connections_are_had_again() -> None:
    async with virtual_kafka({"t": 1}, brokers=3) as kafka:
        producer = AIOKafkaProducer(bootstrap_servers=kafka.bootstrap)
        await producer.start()
        await producer.send_and_wait("t", b"1")
        kafka.drop_connections()
        await producer.send_and_wait("t", b"2")
        await producer.stop()
        assert [line["offset"] for line in kafka.events("RecordsAppended")] == [0, 1]


async def test_what_cannot_be_is_refused_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(EmulatorError, match="real_io='maybe'"):
        async with virtual_kafka(real_io="maybe"):  # type: ignore[arg-type]
            pass
    monkeypatch.delenv("PYTHONHASHSEED", raising=False)
    with pytest.warns(VirtualKafkaWarning, match="PYTHONHASHSEED is not set"):  # noqa: PT031
        async with virtual_kafka(log=tmp_path / "run.jsonl") as kafka:
            with pytest.raises(EmulatorError, match="use consumers of your client library"):
                kafka.peer("g")
