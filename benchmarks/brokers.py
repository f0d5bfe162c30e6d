"""Several brokers: their start and stop, the load of a large coordinator, and clients whose group's coordinator stops.

`python -m benchmarks brokers real` also measures the clients on three plain Java brokers.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from statistics import median
from typing import Any, Protocol

from benchmarks.process import Row
from coordinator import Emulator
from coordinator.brokers import Brokers, ClusterOptions, Hosts
from coordinator.cluster.configs import BrokerConfigs
from coordinator.control.cluster import MoveLeader, StartBroker, StopBroker, perform
from coordinator.groups import events as ev
from coordinator.groups.offsets.events import CommittedOffset
from coordinator.java_hash import coordinator_partition

GROUPS, OFFSETS_A_GROUP = 10_000, 10
SETTINGS = {
    "broker.session.timeout.ms": 2000, "controller.quorum.fetch.timeout.ms": 2000, "default.replication.factor": 3,
    "offsets.topic.num.partitions": 4, "group.initial.rebalance.delay.ms": 0,
}  # fmt: skip
GROUP = "bench"
PATIENCE_S = 60


def _start_and_stop() -> tuple[float, float]:
    emulator = Emulator({"orders": 6}, brokers=3)
    began = time.perf_counter()
    with emulator:
        started = time.perf_counter()
    return (started - began) * 1000, (time.perf_counter() - started) * 1000


def _load() -> tuple[float, float]:
    """Processor time: seconds until a coordinator has loaded many groups, and the longest hold in milliseconds."""
    configs = [BrokerConfigs({"offsets.topic.num.partitions": "1"}, node_id=node) for node in (1, 2, 3)]
    brokers = Brokers(ClusterOptions(configs=configs, random=Random(1), epoch_ms=0))
    hosts = Hosts(brokers)
    partition = brokers.controller.cluster.partition("__consumer_offsets", 0)
    assert partition is not None
    leader, log = partition.leader, brokers.images[partition.leader].topics["__consumer_offsets"].partitions[0].log
    for number in range(GROUPS):
        offsets = tuple(CommittedOffset("orders", index, number, -1, "", None) for index in range(OFFSETS_A_GROUP))
        log.append_event(0, f"group-{number}", ev.GroupCreated("commit"))  # type: ignore[attr-defined]
        log.append_event(0, f"group-{number}", ev.OffsetsCommitted("", offsets))  # type: ignore[attr-defined]
    brokers.replication.run(0)
    other = next(node for node in (1, 2, 3) if node != leader)
    began = last = time.process_time()
    perform(hosts, MoveLeader("__consumer_offsets", 0, other), 0)
    coordinator, longest = brokers.brokers[other].coordinator, 0.0
    while True:
        now = time.process_time()
        longest, last = max(longest, now - last), now
        if coordinator.next_deadline() != 0:
            break
        brokers.tick(0)
    assert len(coordinator.groups) == GROUPS
    return last - began, longest * 1000


class ThreeBrokers(Protocol):
    """What is measured on either kind."""

    @property
    def bootstrap_servers(self) -> str:
        """The brokers' addresses."""

    def crash(self, node: int) -> None:
        """As kill -9."""

    def start(self, node: int) -> None:
        """Start it again."""


class _Emulated:
    def __init__(self, emulator: Emulator) -> None:
        self._emulator = emulator
        self.bootstrap_servers = emulator.bootstrap_servers

    def crash(self, node: int) -> None:
        self._emulator.control(StopBroker(node, "crash"))

    def start(self, node: int) -> None:
        self._emulator.control(StartBroker(node))


@contextmanager
def _emulated() -> Iterator[ThreeBrokers]:
    with Emulator({"orders": 3}, SETTINGS, brokers=3) as emulator:
        yield _Emulated(emulator)


@contextmanager
def _real() -> Iterator[ThreeBrokers]:
    from confluent_kafka.admin import AdminClient, NewTopic

    from integration_tests.java_cluster import JavaCluster

    class Real:
        def __init__(self, cluster: JavaCluster) -> None:
            self._cluster = cluster
            self.bootstrap_servers = cluster.bootstrap_servers

        def crash(self, node: int) -> None:
            self._cluster.crash_broker(node)

        def start(self, node: int) -> None:
            self._cluster.start_broker(node)

    with JavaCluster({name: str(value) for name, value in SETTINGS.items()}) as cluster:
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
        admin.create_topics([NewTopic("orders", 3, 3)])["orders"].result(timeout=PATIENCE_S)
        yield Real(cluster)


def _consuming_again(
    brokers: ThreeBrokers, receive: Callable[[], list[Any]], commit: Callable[[], None], send: Callable[[], None],
) -> float:
    """Seconds from the crash of the group's coordinator until a record was consumed and committed."""
    _until(send, receive, commit)
    node = _coordinator(brokers)
    brokers.crash(node)
    began = time.perf_counter()
    _until(send, receive, commit)
    took = time.perf_counter() - began
    brokers.start(node)
    return took


def _until(send: Callable[[], None], receive: Callable[[], list[Any]], commit: Callable[[], None]) -> None:
    end = time.perf_counter() + PATIENCE_S
    seen: list[Any] = []
    while time.perf_counter() < end:
        if not seen:
            send()
            seen = receive()
            continue
        try:
            commit()
        except Exception:
            time.sleep(0.02)
            continue
        return
    raise TimeoutError("it never consumed again")


def _coordinator(brokers: ThreeBrokers) -> int:
    from integration_tests.cluster.stage import Patient

    patient = Patient(brokers.bootstrap_servers.split(","))
    try:
        return int(patient.partitions(1, "__consumer_offsets")[coordinator_partition(GROUP, 4)]["leader_id"])
    finally:
        patient.close()


def _kafka_python(brokers: ThreeBrokers) -> float:
    from kafka import KafkaConsumer, KafkaProducer

    producer = KafkaProducer(bootstrap_servers=brokers.bootstrap_servers, retries=1000)
    consumer = KafkaConsumer("orders", bootstrap_servers=brokers.bootstrap_servers, group_id=GROUP, auto_offset_reset="earliest")
    consumer.partitions_for_topic("orders")
    try:
        return _consuming_again(
            brokers, lambda: [one for rows in consumer.poll(timeout_ms=50).values() for one in rows], consumer.commit,
            lambda: producer.send("orders", b"x") and None)
    finally:
        producer.close()
        consumer.close()


def _confluent(brokers: ThreeBrokers) -> float:
    from confluent_kafka import Consumer, Producer

    producer = Producer({"bootstrap.servers": brokers.bootstrap_servers})
    consumer = Consumer({
        "bootstrap.servers": brokers.bootstrap_servers, "group.id": GROUP, "auto.offset.reset": "earliest", "enable.auto.commit": False})
    consumer.subscribe(["orders"])

    def send() -> None:
        producer.produce("orders", b"x")
        producer.poll(0)

    try:
        return _consuming_again(
            brokers, lambda: [one for one in consumer.consume(10, timeout=0.05) if one.error() is None],
            lambda: consumer.commit(asynchronous=False) and None, send)
    finally:
        consumer.close()


def _aiokafka(brokers: ThreeBrokers) -> float:
    import asyncio

    from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

    async def story() -> float:
        producer = AIOKafkaProducer(bootstrap_servers=brokers.bootstrap_servers)
        consumer = AIOKafkaConsumer("orders", bootstrap_servers=brokers.bootstrap_servers, group_id=GROUP, auto_offset_reset="earliest")
        await producer.start()
        await consumer.start()

        async def once() -> None:
            seen: list[Any] = []
            while True:
                await producer.send("orders", b"x")
                if not seen:
                    seen = [one for rows in (await consumer.getmany(timeout_ms=50)).values() for one in rows]
                    continue
                try:
                    await consumer.commit()
                    return
                except Exception:
                    await asyncio.sleep(0.02)

        try:
            await asyncio.wait_for(once(), PATIENCE_S)
            node = await asyncio.to_thread(_coordinator, brokers)
            await asyncio.to_thread(brokers.crash, node)
            began = time.perf_counter()
            await asyncio.wait_for(once(), PATIENCE_S)
            took = time.perf_counter() - began
            await asyncio.to_thread(brokers.start, node)
            return took
        finally:
            await producer.stop()
            await consumer.stop()

    return asyncio.run(story())


CLIENTS = {"kafka-python": _kafka_python, "confluent-kafka": _confluent, "aiokafka": _aiokafka}


def run(rounds: int = 9, kinds: tuple[str, ...] = ("emulator",)) -> list[Row]:
    """Measure each."""
    _start_and_stop()
    starts, stops = zip(*(_start_and_stop() for _ in range(rounds)), strict=True)
    load_s, collected_ms = min(_load() for _ in range(3))
    gc.disable()
    try:
        _, longest_ms = _load()
    finally:
        gc.enable()
    rows = [
        Row("Emulator(brokers=3): start, warm interpreter, median", median(starts), "ms", "<= 15"),
        Row("Emulator(brokers=3): stop, median", median(stops), "ms", "<= 15"),
        Row("processor time of the load of a coordinator with 10,000 groups and 100,000 offsets", load_s, "s", "<= 1"),
        Row("the longest slice of that", longest_ms, "ms", "<= 20"),
        Row("the same with a full run of Python's garbage collector in it", collected_ms, "ms"),
    ]
    for kind in kinds:
        for library, story in CLIENTS.items():
            with (_emulated if kind == "emulator" else _real)() as brokers:
                rows.append(Row(f"{library}, {kind}: coordinator crashes -> consumed and committed again", story(brokers), "s"))
    return rows


if __name__ == "__main__":
    print(*run(kinds=("emulator", "real broker") if "real" in sys.argv[1:] else ("emulator",)), sep="\n")
