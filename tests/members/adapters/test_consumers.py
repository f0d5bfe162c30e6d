"""Real consumers of kafka-python and aiokafka with our assignors, in one group: each leads in turn,
and partitions stay where they are."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any

import pytest

from coordinator import Emulator

kafka = pytest.importorskip("kafka")
aiokafka = pytest.importorskip("aiokafka")
from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor  # noqa: E402

from coordinator.members.adapters import aiokafka as for_aiokafka  # noqa: E402
from coordinator.members.adapters import kafka_python as for_kafka_python  # noqa: E402
from tests.lost_joins import join_again_if_lost  # noqa: E402

DEADLINE_S = 120.0
"""For a group to settle, on a busy machine."""
SESSION_MS = 30_000
"""Longer than a busy machine lets any thread stand still: no session ends by chance."""
SETTINGS: dict[str, Any] = {
    "group_id": "g",
    "enable_auto_commit": False,
    "session_timeout_ms": SESSION_MS,
    "heartbeat_interval_ms": 100,
}


class PythonConsumer:
    """A kafka-python consumer, polled in a thread of its own (tests/lost_joins.py)."""

    def __init__(self, servers: str, strategy: Any) -> None:
        self.consumer = kafka.KafkaConsumer(
            "orders",
            bootstrap_servers=servers,
            partition_assignment_strategy=[strategy],
            **SETTINGS,
        )
        self.consumer.partitions_for_topic(
            "orders"
        )  # else it may learn its topic while it joins, and lose that join
        self.closing = Event()
        self.thread = Thread(target=self._live)
        self.thread.start()

    def _live(self) -> None:
        while not self.closing.is_set():
            join_again_if_lost(self.consumer)
            self.consumer.poll(timeout_ms=500)

    def owned(self) -> set[int]:
        return {partition.partition for partition in self.consumer.assignment()}

    def close(self) -> None:
        self.closing.set()
        self.thread.join()
        self.consumer.close()


class AioConsumer:
    """An aiokafka consumer on a loop of its own."""

    def __init__(self, servers: str, strategy: Any) -> None:
        self.loop = asyncio.new_event_loop()
        self.thread = Thread(target=self.loop.run_forever)
        self.thread.start()

        async def start() -> Any:
            consumer = aiokafka.AIOKafkaConsumer(
                "orders",
                bootstrap_servers=servers,
                partition_assignment_strategy=[strategy],
                **SETTINGS,
            )
            self.starting = asyncio.ensure_future(consumer.start())
            return consumer

        self.consumer = asyncio.run_coroutine_threadsafe(start(), self.loop).result(DEADLINE_S)

    def owned(self) -> set[int]:
        return {partition.partition for partition in self.consumer.assignment()}

    def close(self) -> None:
        asyncio.run_coroutine_threadsafe(self.consumer.stop(), self.loop).result(DEADLINE_S)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()


class OurConsumer:
    """A member of our own."""

    def __init__(self, emulator: Emulator, strategy: str) -> None:
        config = {
            "partition.assignment.strategy": strategy,
            "session.timeout.ms": SESSION_MS,
            "heartbeat.interval.ms": 100,
        }
        self.peer = emulator.peer("g", topics=["orders"], config=config)

    def owned(self) -> set[int]:
        return {partition.partition for partition in self.peer.owned}

    def close(self) -> None:
        self.peer.stop()


class Group:
    """The consumers of the group that live."""

    def __init__(self, emulator: Emulator) -> None:
        self.emulator = emulator
        self.members: list[Any] = []

    def add(self, kind: Any, strategy: Any) -> Any:
        member = kind(
            self.emulator if kind is OurConsumer else self.emulator.bootstrap_servers, strategy
        )
        self.members.append(member)
        self.settle()
        return member

    def remove(self, member: Any) -> None:
        self.members.remove(member)
        member.close()
        self.settle()

    def settle(self) -> None:
        """Until all partitions have one owner, everybody has a fair share, and no rebalance is
        under way."""
        deadline = time.monotonic() + DEADLINE_S
        while time.monotonic() < deadline:
            time.sleep(0.01)
            owned = [member.owned() for member in self.members]
            sizes = [len(partitions) for partitions in owned]
            if sum(sizes) == 12 == len(set().union(*owned)) and max(sizes) - min(sizes) <= 1:
                if self.emulator.group("g").state == "Stable":
                    return
        pytest.fail(f"not settled: {owned}")


@contextmanager
def group() -> Iterator[Group]:
    with Emulator({"orders": 12}) as emulator:
        made = Group(emulator)
        try:
            yield made
        finally:
            for member in made.members:
                member.close()


def test_each_library_leads_in_turn_and_partitions_stay() -> None:
    """UD-1, STK-8: sticky's bytes are the same in both libraries."""
    with group() as g:
        first = g.add(PythonConsumer, for_kafka_python.assignor_class("sticky"))
        second = g.add(AioConsumer, for_aiokafka.assignor_class("sticky"))
        third = g.add(PythonConsumer, for_kafka_python.assignor_class("sticky"))
        before = second.owned(), third.owned()
        g.remove(first)
        assert second.owned() >= before[0]
        assert third.owned() >= before[1]
        before = second.owned(), third.owned()
        fourth = g.add(AioConsumer, for_aiokafka.assignor_class("sticky"))
        assert second.owned() <= before[0]
        assert third.owned() <= before[1]
        g.remove(third)  # so that aiokafka leads
        before = second.owned(), fourth.owned()
        g.add(PythonConsumer, for_kafka_python.assignor_class("sticky"))
        assert second.owned() <= before[0]
        assert fourth.owned() <= before[1]


def test_cooperative_sticky_in_kafka_python() -> None:
    """STK-27: two rebalances, and nobody loses what it keeps."""
    with group() as g:
        first = g.add(PythonConsumer, for_kafka_python.assignor_class("cooperative-sticky"))
        second = g.add(PythonConsumer, for_kafka_python.assignor_class("cooperative-sticky"))
        before = first.owned(), second.owned()
        third = g.add(PythonConsumer, for_kafka_python.assignor_class("cooperative-sticky"))
        assert first.owned() < before[0]
        assert second.owned() < before[1]
        assert len(third.owned()) == 4


def test_kafka_pythons_own_user_data_is_read() -> None:
    """kafka-python's sticky writes an int16 more: our leader leaves its partitions in place all the
    same."""
    with group() as g:
        ours = g.add(AioConsumer, for_aiokafka.assignor_class("sticky"))
        theirs = g.add(PythonConsumer, StickyPartitionAssignor)
        leaving = g.add(AioConsumer, for_aiokafka.assignor_class("sticky"))
        before = ours.owned(), theirs.owned()
        g.remove(leaving)
        assert ours.owned() >= before[0]
        assert theirs.owned() >= before[1]


@pytest.mark.parametrize("leading", [0, 1, 2])
def test_one_group_of_all_three_kinds_whoever_leads(leading: int) -> None:
    """Our member, kafka-python and aiokafka, all with our sticky: a fourth comes and goes, and the
    three keep what they had.

    The first to come leads, and goes on leading.
    """
    kinds: list[tuple[Any, Any]] = [
        (OurConsumer, "sticky"),
        (AioConsumer, for_aiokafka.assignor_class("sticky")),
        (PythonConsumer, for_kafka_python.assignor_class("sticky")),
    ]
    with group() as g:
        three = [g.add(*kind) for kind in kinds[leading:] + kinds[:leading]]
        before = [member.owned() for member in three]
        fourth = g.add(OurConsumer, "sticky")
        now = [member.owned() for member in three]
        assert all(part < whole for part, whole in zip(now, before, strict=True))
        g.remove(fourth)
        assert all(member.owned() > part for member, part in zip(three, now, strict=True))
