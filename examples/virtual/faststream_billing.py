"""A FastStream application, as anybody would write it: it takes orders and writes an invoice for
each.

    broker, _ = billing("localhost:9092")
    await FastStream(broker).run()

Nothing in it knows of the emulator, or of virtual time:
`tests/examples/test_virtual_applications.py` runs it under both.
"""

from __future__ import annotations

from faststream.kafka import KafkaBroker

GROUP, ORDERS, INVOICES = "billing", "orders", "invoices"


def billing(bootstrap: str) -> tuple[KafkaBroker, list[str]]:
    """The application, not started, and what it has billed so far: the ids of orders."""
    broker = KafkaBroker(bootstrap, logger=None)
    billed: list[str] = []

    @broker.subscriber(ORDERS, group_id=GROUP, auto_offset_reset="earliest")
    @broker.publisher(INVOICES)
    async def bill(order: dict[str, int | str]) -> dict[str, int | str]:
        billed.append(str(order["id"]))
        return {"order": order["id"], "cents": order["cents"]}

    return broker, billed
