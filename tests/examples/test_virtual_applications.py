"""Unmodified applications under virtual time: FastStream, and one with an HTTP client."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from coordinator.testing.virtual import VirtualKafka, virtual_kafka

aiokafka = pytest.importorskip("aiokafka")
ORDERS = [f"A-{number}" for number in range(20)]


async def faststream_app(seed: int) -> list[str]:
    """Two instances share the orders, one stops, the other takes over; the event log."""
    from examples.virtual.faststream_billing import billing

    async with virtual_kafka({"orders": 4, "invoices": 1}, seed=seed) as kafka:
        (one, billed_by_one), (other, billed_by_other) = (
            billing(kafka.bootstrap),
            billing(kafka.bootstrap),
        )
        await one.start()
        await other.start()
        await kafka.until(
            lambda: (
                len(kafka.group("billing").members) == 2
                and kafka.group("billing").state == "Stable"
            )
        )
        for number, order in enumerate(ORDERS):
            await one.publish({"id": order, "cents": 100}, "orders", partition=number % 4)
        await kafka.until(lambda: len(billed_by_one) + len(billed_by_other) == len(ORDERS))
        assert billed_by_one and billed_by_other
        await other.stop()
        await asyncio.sleep(60)  # a minute of heartbeats
        assert len(kafka.group("billing").members) == 1
        for number, order in enumerate(ORDERS):
            await one.publish({"id": order.lower(), "cents": 100}, "orders", partition=number % 4)
        await kafka.until(lambda: set(map(str.lower, ORDERS)) <= set(billed_by_one))
        await one.stop()
        assert sorted([*billed_by_one, *billed_by_other]) == sorted(
            [*ORDERS, *map(str.lower, ORDERS)]
        )
        invoices = [json.loads(record.value) for record in kafka.records("invoices")]
        assert sorted(invoice["order"] for invoice in invoices) == sorted(
            [*ORDERS, *map(str.lower, ORDERS)]
        )
        kafka.group("billing").verify().single_owner()
        return [json.dumps(line) for line in kafka.events()]


def test_a_faststream_application_hands_over_and_does_the_same_again() -> None:
    pytest.importorskip(
        "faststream", reason="FastStream is among the development requirements: make setup"
    )
    first, again = asyncio.run(faststream_app(7)), asyncio.run(faststream_app(7))
    assert first == again


class _Prices(BaseHTTPRequestHandler):
    """Everything costs as many cents as its name has letters."""

    def do_GET(self) -> None:
        body = json.dumps({"cents": len(self.path.rpartition("/")[2])}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nobody reads it."""


@contextmanager
def prices() -> Iterator[str]:
    """A price service on a port of its own; its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Prices)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


async def with_an_http_client(service: str) -> None:
    from examples.virtual.priced_billing import bill

    async with virtual_kafka({"orders": 2, "invoices": 1}, real_io="wait") as kafka:
        application = asyncio.create_task(bill(kafka.bootstrap, service))
        for number, item in enumerate(("tea", "coffee", "cocoa")):
            kafka.produce("orders", [json.dumps({"id": number, "item": item})])
        await kafka.until(lambda: len(kafka.records("invoices")) == 3)
        await asyncio.sleep(600)  # ten minutes of heartbeats
        assert kafka.group("billing").state == "Stable"
        application.cancel()
        with suppress(asyncio.CancelledError):
            await application
        invoices = [json.loads(record.value) for record in kafka.records("invoices")]
        assert sorted((invoice["order"], invoice["cents"]) for invoice in invoices) == [
            (0, 3),
            (1, 6),
            (2, 5),
        ]
        assert _removed(kafka) == ["left"]
        kafka.group("billing").verify().single_owner().no_stale_commit()


def _removed(kafka: VirtualKafka) -> list[str]:
    return [line["reason"] for line in kafka.events("MemberRemoved")]


def test_an_application_waits_for_an_http_service_while_virtual_time_stands_still() -> None:
    with prices() as service:
        asyncio.run(with_an_http_client(service))
