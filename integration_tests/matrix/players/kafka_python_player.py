"""The player of kafka-python."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any

from kafka import KafkaConsumer, KafkaProducer, OffsetAndMetadata, TopicPartition

from integration_tests.matrix.players.stage import Read, Wanted, next_offsets, play

POLL_MS = 1_000
"""The library forgets a join that is under way when a poll ends, so a poll is long enough for one."""


class Player:
    """A KafkaConsumer."""

    def __init__(self, wanted: Wanted) -> None:
        self.wanted = wanted
        static = {"group_instance_id": wanted.instance} if wanted.instance else {}
        self.consumer = KafkaConsumer(
            wanted.topic,
            bootstrap_servers=wanted.address,
            group_id=wanted.group,
            client_id="player",
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            heartbeat_interval_ms=200,
            session_timeout_ms=300_000,
            request_timeout_ms=305_000,
            connections_max_idle_ms=540_000,
            isolation_level="read_committed",
            fetch_max_wait_ms=100,
            **static,
        )
        self.producer: Any = None

    def poll(self) -> Iterable[Read]:
        for records in self.consumer.poll(timeout_ms=POLL_MS).values():
            for record in records:
                yield Read(record.partition, record.offset, record.value.decode())

    def commit(self) -> None:
        self.consumer.commit()

    def release(self) -> None:
        raise NotImplementedError

    def transact(self, out: str, read: list[Read], *, commits: bool) -> None:
        if self.producer is None:
            self.producer = KafkaProducer(
                bootstrap_servers=self.wanted.address, transactional_id=self.wanted.group
            )
            self.producer.init_transactions()
        self.producer.begin_transaction()
        for record in read:
            self.producer.send(out, record.value.encode(), partition=0)
        self.producer.flush()  # else an abort has nothing to abort
        least = len(inspect.signature(OffsetAndMetadata).parameters)
        offsets = {
            TopicPartition(self.wanted.topic, partition): OffsetAndMetadata(
                *(offset, "", -1)[:least]
            )
            for partition, offset in next_offsets(read).items()
        }
        group: Any = self.wanted.group
        if hasattr(self.consumer, "group_metadata"):
            group = self.consumer.group_metadata()
        self.producer.send_offsets_to_transaction(offsets, group)
        if commits:
            self.producer.commit_transaction()
        else:
            self.producer.abort_transaction()

    def close(self) -> None:
        if self.producer is not None:
            self.producer.close()
        self.consumer.close()


if __name__ == "__main__":
    play(Player)
