"""Workers of share groups on confluent-kafka's ShareConsumer: one without a mistake, and one for each
mistake that `coordinator.kit.ready_tests.worker_findings` names."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Any

from confluent_kafka import AcknowledgeType, ShareConsumer

POISON = b"poison"


class Packing:
    """Acknowledges each record when it is done with it. `error`: what it ended with."""

    topic, group = "jobs", "packing"
    poison = POISON

    def __init__(self) -> None:
        self.done: list[tuple[str, int, int]] = []
        self.error: Exception | None = None
        self.going = threading.Event()
        self.going.set()

    # -- what the cases need

    def start(self, bootstrap_servers: str) -> None:
        self.killed, self.ending = False, threading.Event()
        self.thread = threading.Thread(target=self.run, args=(bootstrap_servers,), daemon=True)
        self.thread.start()

    def stop(self) -> None:
        self.ending.set()
        self.going.set()
        self.thread.join()

    def kill(self) -> None:
        self.killed = True
        self.stop()

    def hold_work(self) -> None:
        self.going.clear()

    def resume_work(self) -> None:
        self.going.set()

    def processed(self) -> list[tuple[str, int, int]]:
        return list(self.done)

    # -- its work

    def run(self, bootstrap_servers: str) -> None:
        consumer = ShareConsumer(
            {
                "bootstrap.servers": bootstrap_servers,
                "group.id": self.group,
                "client.id": "packer",
                "share.acknowledgement.mode": "explicit",
            }
        )
        consumer.subscribe([self.topic])
        try:
            while not self.ending.is_set():
                self.batch(consumer, [of for of in consumer.poll(0.1) if not of.error()])
        except Exception as error:
            self.error = error
        finally:
            self.close(consumer)

    def batch(self, consumer: Any, messages: Iterable[Any]) -> None:
        for message in messages:
            self.going.wait()
            if self.killed:
                return
            if self.ending.is_set():
                consumer.acknowledge(message, AcknowledgeType.RELEASE)
                continue
            consumer.acknowledge(message, self.work(message))
        consumer.commit_sync(10.0)

    def work(self, message: Any) -> Any:
        if message.value() == POISON:
            return AcknowledgeType.REJECT
        self.done.append((message.topic(), message.partition(), message.offset()))
        return AcknowledgeType.ACCEPT

    def close(self, consumer: Any) -> None:
        consumer.close()


class AcceptsFirst(Packing):
    """Tells that it is done with everything before it begins. `accepted`: it has told so since its
    work was held."""

    def __init__(self) -> None:
        super().__init__()
        self.accepted = threading.Event()

    def hold_work(self) -> None:
        super().hold_work()
        self.accepted.clear()

    def batch(self, consumer: Any, messages: Iterable[Any]) -> None:
        listed = list(messages)
        for message in listed:
            consumer.acknowledge(message)
        if listed:
            consumer.commit_sync(10.0)
            self.accepted.set()
        for message in listed:
            self.going.wait()
            if self.killed:
                return
            self.work(message)


class WorksTwice(Packing):
    """Processes each record two times."""

    def work(self, message: Any) -> Any:
        super().work(message)
        return super().work(message)


class IsTooSlow(Packing):
    """Takes longer over its first record than its lock lasts."""

    def work(self, message: Any) -> Any:
        if not self.done:
            threading.Event().wait(1.5)
        return super().work(message)


class ForgetsItsLastWords(Packing):
    """When it is stopped it drops what it has done, as if it had not. It is at its first record
    until it is stopped for the first time."""

    first = True

    def batch(self, consumer: Any, messages: Iterable[Any]) -> None:
        for message in messages:
            if self.ending.is_set():
                consumer.acknowledge(message, AcknowledgeType.RELEASE)
                continue
            self.work(message)
            if self.first:
                self.ending.wait()
                self.first = False
            word = AcknowledgeType.RELEASE if self.ending.is_set() else AcknowledgeType.ACCEPT
            consumer.acknowledge(message, word)
        consumer.commit_sync(10.0)


class DoesNotClose(Packing):
    """Its consumer is left open."""

    def close(self, consumer: Any) -> None:
        self.left = consumer


class FailsOnPoison(Packing):
    """Ends by an error that its work raises."""

    def work(self, message: Any) -> Any:
        if message.value() == POISON:
            raise ValueError("poison")
        return super().work(message)


class AcceptsPoison(Packing):
    """Says that a poison record is done."""

    poison = b"one like all others"


class StandsStill(Packing):
    """Takes records, and works on none."""

    def batch(self, consumer: Any, messages: Iterable[Any]) -> None:
        if list(messages):
            self.ending.wait()
