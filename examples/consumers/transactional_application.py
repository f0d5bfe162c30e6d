"""Exactly once with confluent-kafka: each batch is read, answered on an output topic and committed
in one transaction.

An error of a transaction that another attempt can mend aborts it, and the consumer goes back to
what is committed. A fenced producer ends the application: another instance has its transactional
id, and goes on with its work.
"""

from __future__ import annotations

from threading import Event, Thread
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer
from confluent_kafka import TopicPartition as Partition


class TransactionalApplication:
    """Reads `topic` as a member of `group`, and writes a record to `output_topic` for each; its
    headers say which."""

    topic, group = "orders", "billing"
    output_topic = "invoices"
    transactional_id = "billing-1"

    def __init__(self) -> None:
        self.error: BaseException | None = None

    def start(self, bootstrap_servers: str) -> None:
        """Begin to work, on a thread of its own."""
        self.error, self.ending = None, Event()
        self.thread = Thread(target=self._live, args=(bootstrap_servers,), daemon=True)
        self.thread.start()

    def stop(self) -> None:
        """Finish the batch in hand, leave the group."""
        self.ending.set()
        self.thread.join()

    def kill(self) -> None:
        """End as a process that is killed does: the transaction in hand is not committed."""
        self.stop()

    def _live(self, bootstrap_servers: str) -> None:
        consumer = Consumer(
            {
                "bootstrap.servers": bootstrap_servers,
                "group.id": self.group,
                "client.id": "billing",
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "heartbeat.interval.ms": 100,
                **self.reading(),
            }
        )
        producer = Producer(
            {
                "bootstrap.servers": bootstrap_servers,
                "client.id": "billing-out",
                "transactional.id": self.transactional_id,
            }
        )
        try:
            producer.init_transactions(30)
            consumer.subscribe([self.topic])
            while not self.ending.is_set():
                messages = [
                    message
                    for message in consumer.consume(100, timeout=0.05)
                    if message.error() is None
                ]
                if messages:
                    self.transaction(consumer, producer, messages)
        except Exception as error:
            self.error = error
        finally:
            consumer.close()

    def reading(self) -> dict[str, Any]:
        """How it reads: nothing of what producers aborted."""
        return {"isolation.level": "read_committed"}

    def transaction(self, consumer: Any, producer: Any, messages: list[Any]) -> None:
        """Answer these messages and commit their offsets, both or neither."""
        try:
            producer.begin_transaction()
            for message in messages:
                headers = {
                    "topic": message.topic(),
                    "partition": str(message.partition()),
                    "offset": str(message.offset()),
                }
                producer.produce(self.output_topic, b"done", headers=headers, partition=0)
            offsets = {message.partition(): message.offset() + 1 for message in messages}
            committed = [Partition(self.topic, index, offset) for index, offset in offsets.items()]
            producer.send_offsets_to_transaction(committed, consumer.consumer_group_metadata(), 30)
            producer.commit_transaction(30)
        except KafkaException as failure:
            if not failure.args[0].txn_requires_abort():
                raise
            self.failed(consumer, producer)

    def failed(self, consumer: Any, producer: Any) -> None:
        """A transaction failed: abort it, and read again what is not committed."""
        producer.abort_transaction(30)
        for place in consumer.committed(consumer.assignment(), 30):
            if place.offset < 0:
                place.offset = 0
            try:
                consumer.seek(place)
            except KafkaException as failure:  # it went to another member meanwhile
                if failure.args[0].code() != KafkaError._STATE:
                    raise
