"""Unmodified aiokafka under virtual time: minutes in moments, the same log in every process, real
time refused with its frame."""

from __future__ import annotations

import asyncio
import os
import random
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRebalanceListener

from coordinator.history.judges import Judgement, judge
from coordinator.kit.emulator.options import EmulatorError
from coordinator.kit.waiting import WaitTimeoutError
from coordinator.testing.virtual import (
    VirtualKafka,
    VirtualKafkaWarning,
    VirtualTimeError,
    virtual_kafka,
)
from coordinator.testing.virtual.time import VirtualTime

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
            with pytest.raises(EmulatorError, match="there is no login at the listener PLAINTEXT"):
                kafka.peer("g", topics=["t"], user="billing")
            with pytest.raises(EmulatorError, match=r"await asyncio.sleep\(seconds\) instead"):
                await kafka.advance(5)
            with pytest.raises(VirtualTimeError, match="one block at a time"):
                async with virtual_kafka():
                    pass
            assert len(kafka.events("RunStarted")) == 1  # of a log in a file


async def test_timers_of_one_instant_fire_in_the_order_in_which_they_were_set() -> None:
    loop, fired = asyncio.get_running_loop(), list[int]()
    loop.call_later(3600, fired.append, -1)
    async with virtual_kafka():
        when = loop.time() + 1
        timers = [loop.call_at(when, fired.append, number) for number in range(300)]
        for timer in timers[100:]:  # so many that they are swept up
            timer.cancel()
        await asyncio.sleep(2)
        assert fired == list(range(100))
        await asyncio.sleep(3600)
        assert fired[100:] == [-1]  # one of before the block fires in it, too
        after = loop.call_later(5, fired.append, 300)
    assert after.when() - loop.time() < 6  # it has not grown by the hour that passed
    after.cancel()


async def test_answers_come_in_the_order_of_the_requests() -> None:
    """What two turns of one connection sent, and what is read together, in one order."""
    asked = 40
    async with virtual_kafka({"orders": 1}) as kafka:
        reader, writer = await asyncio.open_connection("broker-1", 9092)
        for number in range(asked):
            body = struct.pack(">hhih", 3, 1, number, -1) + struct.pack(">i", 0)  # Metadata v1
            writer.write(struct.pack(">i", len(body)) + body)
            if number % 3 == 0:
                await asyncio.sleep(0)
        answered = []
        for _ in range(asked):
            (size,) = struct.unpack(">i", await reader.readexactly(4))
            answered.append(struct.unpack(">i", (await reader.readexactly(size))[:4])[0])
        assert answered == list(range(asked))
        writer.write(b"\xff\xff\xff\xff")  # no length: the broker closes, after what it answered
        assert await reader.read() == b""
        assert kafka.now_ms < 1000


class TestPeersAndWaits:
    @pytest.mark.parametrize("lasts_s", [600, pytest.param(3600, marks=pytest.mark.thorough)])
    async def test_beside_an_unmodified_application(self, lasts_s: int) -> None:
        async with virtual_kafka({"orders": 4}, seed=5) as kafka:
            consumer = AIOKafkaConsumer(
                "orders",
                bootstrap_servers=kafka.bootstrap,
                group_id="app",
                client_id="mine",
                max_poll_interval_ms=100_000_000,
            )
            await consumer.start()
            group = kafka.group("app")
            async with group.peer(["orders"]) as peer:
                await group.wait(state="Stable", members=2, assigned="all", acted=True)
                await peer.stable(members=2)
                assert len(peer.owned) == len(consumer.assignment()) == 2
                await asyncio.sleep(lasts_s)  # many sessions of its heartbeats, too
                assert len(group.members) == 2
                peer.pause()
                before = kafka.now_ms
                await group.wait(members=1, assigned="all", timeout=120)
                assert 40_000 < kafka.now_ms - before < 60_000  # its session of 45 s
                peer.resume()
                await group.wait(state="Stable", members=2, assigned="all")
            await group.wait(members=1, assigned={"mine": [f"orders-{n}" for n in range(4)]})
            removed = await kafka.wait_for("MemberRemoved", group="app", since=0, count=2)
            assert [line["reason"] for line in removed] == ["session expired", "left"]
            with kafka.hold("Heartbeat", group="app", times=1) as held:
                await held.wait_hit()
                assert held.hits == 1
            began = kafka.now_ms
            with pytest.raises(WaitTimeoutError, match="did not reach members=7 within 50 s"):
                await group.wait(members=7, timeout=50)
            assert kafka.now_ms - began == pytest.approx(50_000, abs=10)
            group.verify().single_owner()
            await consumer.stop()

    async def test_peers_of_both_protocols_are_the_same_in_every_run(self) -> None:
        async def run() -> list[Any]:
            async with virtual_kafka({"orders": 4}, seed=5) as kafka:
                group = kafka.group("app")
                async with (
                    group.peer(["orders"], protocol="consumer") as one,
                    group.peer(["orders"], protocol="consumer"),
                ):
                    await group.wait(members=2, assigned="all")
                    await one.stable(members=2)
                    assert len(one.owned) == 2
                async with group.peer(["orders"], config={"session.timeout.ms": 10_000}) as two:
                    await two.stable()
                    two.crash()
                    await group.wait(state="Empty")
                log: list[Any] = kafka.events()
                return log

        assert await run() == await run()

    async def test_what_waits_for_them_ends_with_the_block(self) -> None:
        async with virtual_kafka({"orders": 1}) as kafka:
            peer = kafka.peer("app", ["orders"])
            waiting = asyncio.create_task(kafka.group("app").wait(members=3, timeout=10_000))
            await peer.stable()
        with pytest.raises(EmulatorError, match="is over"):
            await waiting
        assert peer.ended


async def test_the_loop_has_its_own_turns_again_wherever_a_block_ends() -> None:
    """Several turns are one call, and a block may end in any of them: what comes next is the loop's
    own, and the rest of the call waits for nothing."""
    loop = asyncio.get_running_loop()
    for turns in range(70):
        virtual = VirtualTime(loop, seed=1, epoch_s=0.0, real_io="refuse")
        virtual.begin()
        for _ in range(turns):
            await asyncio.sleep(0)
        virtual.end()
        waiting = asyncio.ensure_future(asyncio.sleep(0.001))
        guard = threading.Timer(60, loop.call_soon_threadsafe, [waiting.cancel])
        guard.start()
        await waiting
        guard.cancel()
