"""The sample application against the emulator, as an application's own tests would be written."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from queue import Queue

import pytest

from coordinator import Emulator

kafka_python = pytest.importorskip("kafka")
from examples.orders.billing import GROUP, INVOICES, ORDERS, Billing, OrderError, invoice_for  # noqa: E402
from examples.orders.shop import order  # noqa: E402

ORDERS_WRITTEN = 20
WAIT_S = 120


@pytest.fixture
def kafka() -> Iterator[Emulator]:
    with Emulator([f"{ORDERS}:6", f"{INVOICES}:1"], remember=100_000) as emulator:
        yield emulator


@contextmanager
def billing(kafka: Emulator) -> Iterator[Queue[str]]:
    """An instance of the service while the block lasts; what it says."""
    said: Queue[str] = Queue()
    service = Billing(kafka.bootstrap_servers, say=said.put)
    thread = threading.Thread(target=service.run)
    thread.start()
    try:
        yield said
    finally:
        service.stop()
        thread.join()


def write_orders(kafka: Emulator, first: int, count: int, *, also: tuple[bytes, ...] = ()) -> None:
    producer = kafka_python.KafkaProducer(bootstrap_servers=kafka.bootstrap_servers)
    for number in range(first, first + count):
        key, value = order(number)
        producer.send(ORDERS, key=key, value=value)
    for value in also:
        producer.send(ORDERS, value=value)
    producer.close()


def read_invoices(kafka: Emulator, count: int) -> list[str]:
    """The order numbers of the first `count` invoices."""
    consumer = kafka_python.KafkaConsumer(
        INVOICES,
        bootstrap_servers=kafka.bootstrap_servers,
        auto_offset_reset="earliest",
        consumer_timeout_ms=WAIT_S * 1000,
    )
    try:
        return [json.loads(next(consumer).value)["order"] for _ in range(count)]
    finally:
        consumer.close()


def test_two_instances_share_the_orders_and_bill_each_once(kafka: Emulator) -> None:
    with billing(kafka) as first, billing(kafka) as second:
        served = [serving_three(said) for said in (first, second)]
        assert set(served[0]) | set(served[1]) == set(range(6))
        write_orders(kafka, 0, ORDERS_WRITTEN)
        assert Counter(read_invoices(kafka, ORDERS_WRITTEN)) == Counter(
            f"A-{number}" for number in range(ORDERS_WRITTEN)
        )


def serving_three(said: Queue[str]) -> list[int]:
    """The partitions of an instance once it shares them with another one."""
    while True:
        line = said.get(timeout=WAIT_S)
        if line.startswith("serving partitions "):
            partitions: list[int] = json.loads(
                line.removeprefix("serving partitions ").partition(" of ")[0]
            )
            if len(partitions) == 3:
                return partitions


def test_a_restart_goes_on_where_the_last_run_stopped(kafka: Emulator) -> None:
    write_orders(kafka, 0, 5)
    with billing(kafka):
        read_invoices(kafka, 5)
    kafka.group(GROUP).wait(state="Empty", timeout=WAIT_S)
    assert {line["reason"] for line in kafka.events("MemberRemoved")} == {"left"}
    write_orders(kafka, 5, 5)
    with billing(kafka):
        assert sorted(read_invoices(kafka, 10)) == [f"A-{number}" for number in range(10)]


def test_what_is_no_order_is_skipped_and_named(kafka: Emulator) -> None:
    with billing(kafka) as said:
        write_orders(
            kafka, 0, 1, also=(b"nonsense", b'{"id": "A-9", "customer": "eve", "cents": -5}')
        )
        skipped = []
        while len(skipped) < 2:
            line = said.get(timeout=WAIT_S)
            skipped += [line] if line.startswith("skipped ") else []
        assert read_invoices(kafka, 1) == ["A-0"]
    assert sum("not an order" in line for line in skipped) == 1
    assert sum("order A-9: -5 is no price in cents" in line for line in skipped) == 1


def test_an_invoice() -> None:
    assert invoice_for(b'{"id": "A-1", "customer": "ada", "cents": 1250}') == {
        "order": "A-1",
        "customer": "ada",
        "cents": 1250,
        "vat_cents": 250,
    }
    for wrong in (b"[]", b"{}", b"\xff", b'{"id": 1, "customer": "x", "cents": "5"}'):
        with pytest.raises(OrderError):
            invoice_for(wrong)
