"""Billing: reads orders, writes an invoice for each, commits. An ordinary consumer application, for
any Kafka.

    python billing.py                    # KAFKA_BOOTSTRAP_SERVERS says where, localhost:9092 if it is not set

Start several: they share the partitions of `orders` as the group `billing`. Each order gets at
least one invoice: offsets are committed only after the invoices are written, so what a crash leaves
open is billed by whoever takes over.
"""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Callable, Collection

from kafka import ConsumerRebalanceListener, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.errors import CommitFailedError, RebalanceInProgressError

ORDERS = "orders"
INVOICES = "invoices"
GROUP = "billing"
VAT_PERCENT = 20
POLL_TIMEOUT_MS = 200


class OrderError(ValueError):
    """A record that is no order: what is wrong with it."""


def invoice_for(order: bytes) -> dict[str, object]:
    """The invoice for an order such as {"id": "A-1", "customer": "ada", "cents": 1250}. Raises
    OrderError."""
    try:
        fields = json.loads(order)
        number, customer, cents = fields["id"], fields["customer"], fields["cents"]
    except (ValueError, TypeError, KeyError) as error:
        raise OrderError(f"not an order: {error!r}") from None
    if not isinstance(cents, int) or cents <= 0:
        raise OrderError(f"order {number}: {cents!r} is no price in cents")
    return {
        "order": number,
        "customer": customer,
        "cents": cents,
        "vat_cents": cents * VAT_PERCENT // 100,
    }


class Billing(ConsumerRebalanceListener):  # type: ignore[misc]
    """One instance of the service. `run` until `stop`, which may be called from any thread or a
    signal handler."""

    def __init__(self, bootstrap_servers: str, say: Callable[[str], None] = print) -> None:
        self._say = say
        self._stopping = threading.Event()
        self._producer = KafkaProducer(bootstrap_servers=bootstrap_servers)
        self._consumer = KafkaConsumer(
            bootstrap_servers=bootstrap_servers,
            group_id=GROUP,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
        )
        self._consumer.subscribe([ORDERS], listener=self)
        self._consumer.partitions_for_topic(
            ORDERS
        )  # known before joining: a leader that learns it while it joins may lose that join

    def run(self) -> None:
        """Bill orders until `stop`, then leave the group."""
        try:
            while not self._stopping.is_set():
                self._bill_some()
        finally:
            self._consumer.close(autocommit=False)
            self._producer.close()

    def stop(self) -> None:
        """Let `run` come to its end."""
        self._stopping.set()

    def _bill_some(self) -> None:
        """Orders that have come in: invoices first, then the commit."""
        for partition, records in self._consumer.poll(timeout_ms=POLL_TIMEOUT_MS).items():
            for record in records:
                try:
                    invoice = invoice_for(record.value)
                except OrderError as error:
                    self._say(
                        f"skipped {partition.topic}-{partition.partition} offset {record.offset}: {error}"
                    )
                    continue
                self._producer.send(INVOICES, key=record.key, value=json.dumps(invoice).encode())
                self._say(
                    f"billed {invoice['order']} to {invoice['customer']}: {invoice['cents']} cents"
                )
            self._producer.flush()
            try:
                self._consumer.commit()
            except (CommitFailedError, RebalanceInProgressError):
                self._say("not committed, because the group rebalances: some may be billed again")

    def on_partitions_assigned(self, assigned: Collection[TopicPartition]) -> None:
        """Called while joining: these are ours now."""
        self._say(
            f"serving partitions {sorted(partition.partition for partition in assigned)} of {ORDERS}"
        )

    def on_partitions_revoked(self, revoked: Collection[TopicPartition]) -> None:
        """Called before they go to another instance; all that was billed is committed already."""


def main() -> None:
    """Bill until a signal comes."""
    billing = Billing(
        os.environ.get("KAFKA_BOOTSTRAP_SERVERS", "localhost:9092"),
        say=lambda line: print(line, flush=True),
    )
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: billing.stop())
    billing.run()


if __name__ == "__main__":
    main()
