"""confluent-kafka's ShareConsumer in share groups of the emulator: of one broker and of three."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from queue import Queue
from threading import Event, Thread
from typing import Any

import pytest
from confluent_kafka import ShareConsumer
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource

from coordinator import Emulator

CONFIG = {
    "group.share.min.heartbeat.interval.ms": 10,
    "group.share.min.session.timeout.ms": 100,
    "group.share.heartbeat.interval.ms": 100,
    "group.share.assignment.interval.ms": 0,
}


@contextmanager
def worker(kafka: Emulator, name: str) -> Iterator[Queue[tuple[int, int, Any]]]:
    """A consumer that polls until the block ends, and what it was given."""
    consumer = ShareConsumer(
        {"bootstrap.servers": kafka.bootstrap_servers, "group.id": "workers", "client.id": name}
    )
    consumer.subscribe(["jobs"])
    got: Queue[tuple[int, int, Any]] = Queue()
    over = Event()

    def work() -> None:
        while not over.is_set():
            for message in consumer.poll(0.1) or []:
                got.put((message.partition(), message.offset(), message.value()))

    thread = Thread(target=work)
    thread.start()
    try:
        yield got
    finally:
        over.set()
        thread.join()
        consumer.close()


@pytest.mark.parametrize("brokers", [1, 3])
def test_members_come_are_given_partitions_and_go(brokers: int) -> None:
    """SH-HB-2, SH-HB-3: a second member shares the partitions, and leaves the group as it ends."""
    with Emulator(config=CONFIG, brokers=brokers) as kafka:
        kafka.create_topic("jobs", 4)
        group = kafka.group("workers")
        with worker(kafka, "worker-1"):
            alone = group.wait(state="Stable", members=1, assigned="all", acted=True, heard=True)
            assert (alone.type, alone.assignor) == ("share", "simple")
            with worker(kafka, "worker-2"):
                both = group.wait(members=2, assigned="all")
                assert sorted(len(member.assignment or ()) for member in both.members) == [2, 2]
            group.wait(members=1, assigned="all")
        empty = group.wait(state="Empty")
        assert empty.generation > both.generation > alone.generation
        group.delete()
        assert group.state == "Dead"


def test_a_member_that_is_removed_or_whose_session_ends_joins_again() -> None:
    """SH-EP-1: it is told that it is none, and comes back."""
    with Emulator(config=CONFIG) as kafka:
        kafka.create_topic("jobs", 2)
        group = kafka.group("workers")
        with worker(kafka, "worker-1"):
            epoch = group.wait(members=1, assigned="all").generation
            for act in (group.remove, group.expire):
                act("worker-1")
                again = group.wait(members=1, assigned="all", generation_above=epoch + 1)
                epoch = again.generation


@pytest.mark.parametrize("brokers", [1, 3])
def test_records_of_every_partition_arrive(brokers: int) -> None:
    """SH-OFF-2: from the start, as the group's own setting says."""
    with Emulator(config=CONFIG, brokers=brokers) as kafka:
        kafka.create_topic("jobs", 3)
        kafka.produce("jobs", ["a", "b", "c"])
        earliest = ConfigEntry(
            "share.auto.offset.reset", "earliest", incremental_operation=AlterConfigOpType.SET
        )
        admin = AdminClient({"bootstrap.servers": kafka.bootstrap_servers})
        resource = ConfigResource(
            ConfigResource.Type.GROUP, "workers", incremental_configs=[earliest]
        )
        for future in admin.incremental_alter_configs([resource]).values():
            future.result(30)
        with worker(kafka, "worker-1") as got:
            records = {got.get(timeout=30) for _ in range(3)}
        assert records == {(0, 0, b"a"), (1, 0, b"b"), (2, 0, b"c")}
