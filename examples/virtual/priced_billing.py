"""An aiokafka application that asks an HTTP service for each order: what does it cost? It commits
when the invoice is written.

The HTTP client is a blocking one, in a thread of its own, as many applications have it. Nothing in
it knows of the emulator, or of virtual time: `tests/examples/test_virtual_applications.py` runs it
under both, with `virtual_kafka(real_io="wait")`.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any
from urllib.request import urlopen

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

GROUP, ORDERS, INVOICES = "billing", "orders", "invoices"


def price_of(service: str, item: str) -> int:
    """What the service says, in cents. Raises OSError."""
    with urlopen(f"{service}/prices/{item}", timeout=30) as answer:
        return int(json.load(answer)["cents"])


async def bill(bootstrap: str, service: str) -> None:
    """Bill orders until this is cancelled."""
    consumer: Any = AIOKafkaConsumer(
        ORDERS,
        bootstrap_servers=bootstrap,
        group_id=GROUP,
        enable_auto_commit=False,
        auto_offset_reset="earliest",
    )
    producer: Any = AIOKafkaProducer(bootstrap_servers=bootstrap)
    await consumer.start()
    await producer.start()
    try:
        async for message in consumer:
            order = json.loads(message.value)
            cents = await asyncio.to_thread(price_of, service, order["item"])
            await producer.send_and_wait(
                INVOICES, json.dumps({"order": order["id"], "cents": cents}).encode()
            )
            await consumer.commit()
    finally:
        await producer.stop()
        await consumer.stop()
