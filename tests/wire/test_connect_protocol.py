"""Kafka Connect's own bytes, as `ConnectProtocol` and `IncrementalCooperativeConnectProtocol` of
connect-runtime 4.4.0 write them."""

from __future__ import annotations

import pytest

from coordinator.wire.connect_protocol import (
    ConnectWork,
    Worker,
    connectors,
    read_work,
    read_worker,
    tasks,
)

URL = "http://worker-1:8083/"
URL_BYTES = "0015687474703a2f2f776f726b65722d313a383038332f"
WORKER_V0 = f"0000{URL_BYTES}0000000000000005"
WORK_V0 = (
    f"000000000003772d31{URL_BYTES}000000000000000500000002000566696c657300000003ffffffff"
    "000000000000000100046a6462630000000100000003"
)
WORK_V1 = (
    f"000100000003772d31{URL_BYTES}000000000000000700000001000566696c657300000002ffffffff00000000"
    "0000000100046a64626300000002ffffffff00000003000493e0"
)
FAILED_V1 = f"000100010003772d31{URL_BYTES}0000000000000007000000000000000000000000"
WORKER_V1 = f"0001{URL_BYTES}000000000000000700000059{WORK_V1}"


def test_a_worker() -> None:
    assert read_worker(bytes.fromhex(WORKER_V0)) == Worker(URL, 5)
    assert read_worker(bytes.fromhex(WORKER_V1)) == Worker(URL, 7)


def test_an_eager_assignment() -> None:
    work = read_work(bytes.fromhex(WORK_V0))
    assert work == ConnectWork(URL, 5, False, {"files": (-1, 0, 1), "jdbc": (3,)})
    assert connectors(work.assigned) == ["files"]
    assert tasks(work.assigned) == {"files": (0, 1), "jdbc": (3,)}


def test_an_incremental_assignment_says_what_to_give_up_and_how_long_work_is_kept() -> None:
    """KIP-415; version 2 (KIP-507) has the same bytes."""
    given = ConnectWork(URL, 7, False, {"files": (-1, 0)}, {"jdbc": (-1, 3)}, 300_000)
    assert read_work(bytes.fromhex(WORK_V1)) == given
    assert read_work(bytes.fromhex("0002" + WORK_V1[4:])) == given
    assert read_work(bytes.fromhex(FAILED_V1)) == ConnectWork(URL, 7, True, {})


def test_no_bytes_are_no_work() -> None:
    assert read_work(b"") == ConnectWork("", -1, False, {})


@pytest.mark.parametrize("cut", [2, 8, 60, 90, 120])
def test_bytes_that_end_early_are_no_assignment(cut: int) -> None:
    assert read_work(bytes.fromhex(WORK_V1[:cut])) is None


@pytest.mark.parametrize("text", ["ffff", "0000000500", "0000ffff"])
def test_other_bytes_are_neither(text: str) -> None:
    assert read_work(bytes.fromhex(text)) is None
    assert read_worker(bytes.fromhex(text)) is None


def test_a_count_that_cannot_be_costs_nothing() -> None:
    many = WORK_V1.replace("00000001000566", "7fffffff000566")
    assert many != WORK_V1
    assert read_work(bytes.fromhex(many)) is None
