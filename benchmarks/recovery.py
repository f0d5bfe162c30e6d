"""Clients whose group's coordinator crashes: seconds until a record is consumed and committed
again, here and on three plain Java brokers.

`python -m benchmarks recovery [real] [ROUNDS]`. Two cases, because they differ in what the clients
wait for: the coordinator's broker is an ordinary follower of the metadata quorum, so the controller
fences it after `broker.session.timeout.ms`; or it leads the quorum as well, so the others elect a
controller first (`controller.quorum.fetch.timeout.ms`), and the new one counts the session from its
start.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from statistics import median
from typing import Any, Final, Protocol

from benchmarks.process import Row
from coordinator import Emulator
from coordinator.kit.cluster import StartBroker, StopBroker
from integration_tests.cluster.stage import (
    BROKERS,
    Patient,
    coordinator_partition,
    lay_out,
    leader_of,
    whole,
)

SETTINGS: Final = {
    "broker.session.timeout.ms": 2000,
    "controller.quorum.fetch.timeout.ms": 2000,
    "default.replication.factor": 3,
    "offsets.topic.num.partitions": 4,
    "transaction.state.log.num.partitions": 4,
    "group.initial.rebalance.delay.ms": 0,
}
PATIENCE_S: Final = 60
_names = count()


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
    brokers: ThreeBrokers,
    node: int,
    receive: Callable[[], list[Any]],
    commit: Callable[[], None],
    send: Callable[[], None],
) -> float:
    """Seconds from the crash of the group's coordinator until a record was consumed and
    committed."""
    _until(send, receive, commit)
    brokers.crash(node)
    began = time.perf_counter()
    _until(send, receive, commit)
    return time.perf_counter() - began


def _until(
    send: Callable[[], None], receive: Callable[[], list[Any]], commit: Callable[[], None]
) -> None:
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


def _quorum_leader(brokers: ThreeBrokers) -> int:
    """The broker whose controller is the active one."""
    patient = Patient(brokers.bootstrap_servers.split(","))
    try:
        metadata = {"topic_name": "__cluster_metadata", "partitions": [{"partition_index": 0}]}
        answer = patient.ask(1, "DescribeQuorum", 0, topics=[metadata])
        assert answer is not None
        return int(answer["topics"][0]["partitions"][0]["leader_id"])
    finally:
        patient.close()


def _group_of(node: int) -> str:
    """A group that was never used and has its coordinator on this broker."""
    return next(
        name
        for name in (f"bench-{number}" for number in _names)
        if leader_of(coordinator_partition(name)) == node
    )


def _kafka_python(brokers: ThreeBrokers, node: int, group: str) -> float:
    from kafka import KafkaConsumer, KafkaProducer

    producer = KafkaProducer(bootstrap_servers=brokers.bootstrap_servers, retries=1000)
    consumer = KafkaConsumer(
        "orders",
        bootstrap_servers=brokers.bootstrap_servers,
        group_id=group,
        auto_offset_reset="earliest",
    )
    consumer.partitions_for_topic("orders")
    try:
        return _consuming_again(
            brokers,
            node,
            lambda: [one for rows in consumer.poll(timeout_ms=50).values() for one in rows],
            consumer.commit,
            lambda: producer.send("orders", b"x") and None,
        )
    finally:
        producer.close()
        consumer.close()


def _confluent(brokers: ThreeBrokers, node: int, group: str) -> float:
    from confluent_kafka import Consumer, Producer

    producer = Producer({"bootstrap.servers": brokers.bootstrap_servers})
    consumer = Consumer(
        {
            "bootstrap.servers": brokers.bootstrap_servers,
            "group.id": group,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    consumer.subscribe(["orders"])

    def send() -> None:
        producer.produce("orders", b"x")
        producer.poll(0)

    try:
        return _consuming_again(
            brokers,
            node,
            lambda: [one for one in consumer.consume(10, timeout=0.05) if one.error() is None],
            lambda: consumer.commit(asynchronous=False) and None,
            send,
        )
    finally:
        consumer.close()


def _aiokafka(brokers: ThreeBrokers, node: int, group: str) -> float:
    import asyncio

    from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

    async def story() -> float:
        producer = AIOKafkaProducer(bootstrap_servers=brokers.bootstrap_servers)
        consumer = AIOKafkaConsumer(
            "orders",
            bootstrap_servers=brokers.bootstrap_servers,
            group_id=group,
            auto_offset_reset="earliest",
        )
        await producer.start()
        await consumer.start()

        async def once() -> None:
            seen: list[Any] = []
            while True:
                await producer.send("orders", b"x")
                if not seen:
                    seen = [
                        one
                        for rows in (await consumer.getmany(timeout_ms=50)).values()
                        for one in rows
                    ]
                    continue
                try:
                    await consumer.commit()
                    return
                except Exception:
                    await asyncio.sleep(0.02)

        try:
            await asyncio.wait_for(once(), PATIENCE_S)
            await asyncio.to_thread(brokers.crash, node)
            began = time.perf_counter()
            await asyncio.wait_for(once(), PATIENCE_S)
            return time.perf_counter() - began
        finally:
            with contextlib.suppress(
                asyncio.CancelledError
            ):  # a fetch that it cancels itself, while a broker is away
                await producer.stop()
                await consumer.stop()

    return asyncio.run(story())


CLIENTS: Final = {
    "kafka-python": _kafka_python,
    "confluent-kafka": _confluent,
    "aiokafka": _aiokafka,
}


def run(rounds: int = 1, kinds: tuple[str, ...] = ("emulator",)) -> Iterator[Row]:
    """Measure each client in both cases, `rounds` times on each kind of cluster, which is whole
    again before each."""
    for kind in kinds:
        took: dict[tuple[str, bool], list[float]] = {}
        with (_emulated if kind == "emulator" else _real)() as brokers:
            lay_out(brokers.bootstrap_servers.split(","))
            for _ in range(rounds):
                for library, story in CLIENTS.items():
                    for leads_quorum in (False, True):
                        leader = _quorum_leader(brokers)
                        node = (
                            leader
                            if leads_quorum
                            else next(node for node in BROKERS if node != leader)
                        )
                        took.setdefault((library, leads_quorum), []).append(
                            story(brokers, node, _group_of(node))
                        )
                        brokers.start(node)
                        whole(brokers.bootstrap_servers.split(","))
        for (library, leads_quorum), seconds in took.items():
            case = "that leads the quorum too" if leads_quorum else "that leads no quorum"
            every = " ".join(f"{one:.1f}" for one in sorted(seconds))
            yield Row(
                f"{library}, {kind}: coordinator {case} crashes, until consumed and committed",
                median(seconds),
                "s",
                f"all: {every}",
            )


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
    for row in run(
        numbers[0] if numbers else 1,
        ("emulator", "real broker") if "real" in sys.argv[1:] else ("emulator",),
    ):
        print(row, flush=True)
