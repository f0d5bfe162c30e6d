"""The sample application against the emulator, as an application's own tests would be written."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from queue import Queue

import pytest

from coordinator import Emulator

pytest.importorskip("kafka")
from examples.orders import billing as service
from examples.orders.billing import GROUP, INVOICES, ORDERS, OrderError, invoice_for
from examples.orders.shop import order

ORDERS_WRITTEN = 20
WAIT_S = 120


@pytest.fixture
def kafka() -> Iterator[Emulator]:
    with Emulator([f"{ORDERS}:6", f"{INVOICES}:1"], remember=100_000) as emulator:
        yield emulator


@contextmanager
def billing(kafka: Emulator, bills: Queue[str] | None = None) -> Iterator[Queue[str]]:
    """An instance of the service while the block lasts, a process of its own; what it says, `bills`
    apart if they are given. What it has billed is written when the block has ended."""
    process = subprocess.Popen(
        [sys.executable, service.__file__],
        env={**os.environ, "KAFKA_BOOTSTRAP_SERVERS": kafka.bootstrap_servers},
        stdout=subprocess.PIPE,
        text=True,
    )
    said: Queue[str] = Queue()

    def listen() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            of = bills if bills is not None and line.startswith("billed ") else said
            of.put(line.rstrip("\n"))

    reader = threading.Thread(target=listen)
    reader.start()
    try:
        yield said
        process.send_signal(signal.SIGTERM)
        assert process.wait(WAIT_S) == 0
    finally:
        process.kill()
        process.wait()
        reader.join()
        assert process.stdout is not None
        process.stdout.close()


def write_orders(kafka: Emulator, first: int, count: int, *, also: tuple[bytes, ...] = ()) -> None:
    keys, values = zip(*(order(number) for number in range(first, first + count)), strict=True)
    kafka.produce(ORDERS, values, keys=keys)
    kafka.produce(ORDERS, also)


def invoices(kafka: Emulator) -> list[str]:
    """The order numbers of all invoices."""
    return [json.loads(record.value or b"")["order"] for record in kafka.records(INVOICES)]


def heard(said: Queue[str], what: str, count: int) -> list[str]:
    """So many lines that begin so, as they come."""
    found: list[str] = []
    while len(found) < count:
        line = said.get(timeout=WAIT_S)
        found += [line] if line.startswith(what) else []
    return found


def test_two_instances_share_the_orders_and_bill_each_once(kafka: Emulator) -> None:
    bills: Queue[str] = Queue()
    with billing(kafka, bills) as first, billing(kafka, bills) as second:
        served = [serving_three(said) for said in (first, second)]
        assert set(served[0]) | set(served[1]) == set(range(6))
        write_orders(kafka, 0, ORDERS_WRITTEN)
        heard(bills, "billed ", ORDERS_WRITTEN)
    assert Counter(invoices(kafka)) == Counter(f"A-{number}" for number in range(ORDERS_WRITTEN))


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
    with billing(kafka) as said:
        heard(said, "billed ", 5)
    kafka.group(GROUP).wait(state="Empty", timeout=WAIT_S)
    assert {line["reason"] for line in kafka.events("MemberRemoved")} == {"left"}
    write_orders(kafka, 5, 5)
    with billing(kafka) as said:
        heard(said, "billed ", 5)
    assert sorted(invoices(kafka)) == [f"A-{number}" for number in range(10)]


def test_what_is_no_order_is_skipped_and_named(kafka: Emulator) -> None:
    with billing(kafka) as said:
        write_orders(
            kafka, 0, 1, also=(b"nonsense", b'{"id": "A-9", "customer": "eve", "cents": -5}')
        )
        lines = [said.get(timeout=WAIT_S)]
        while sum(line.startswith(("skipped ", "billed ")) for line in lines) < 3:
            lines.append(said.get(timeout=WAIT_S))
    assert invoices(kafka) == ["A-0"]
    skipped = [line for line in lines if line.startswith("skipped ")]
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
