"""Connections that are closed for what they sent: a few lines on stderr, then one for each
interval; the event log has every one."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path

import pytest

from coordinator import Emulator
from coordinator.event_log import read
from coordinator.server.net import closed_connections
from coordinator.server.net.closed_connections import (
    INTERVAL_S,
    LINES,
    LINES_OF_A_KIND,
    ClosedConnections,
)

TLS_HELLO = b"\x16\x03\x01\x02\x00\x01"


class Timers:
    """A loop's `call_later`, in virtual time: `ring` ends the interval."""

    def __init__(self) -> None:
        self.waiting: list[tuple[float, Callable[[], object]]] = []

    def call_later(self, delay: float, callback: Callable[[], object], /) -> Timers:
        self.waiting.append((delay, callback))
        return self

    def cancel(self) -> None:
        self.waiting.clear()

    def ring(self) -> None:
        ((delay, callback),) = self.waiting
        assert delay == INTERVAL_S
        self.waiting.clear()
        callback()


@pytest.fixture
def stage(
    caplog: pytest.LogCaptureFixture,
) -> tuple[ClosedConnections, Timers, Callable[[], list[str]]]:
    caplog.set_level(logging.INFO, "coordinator.server.net.server")
    timers = Timers()

    def lines() -> list[str]:
        said = [record.getMessage() for record in caplog.records]
        caplog.clear()
        return said

    return ClosedConnections(timers), timers, lines


def test_a_flood_is_a_few_lines_and_one_for_each_interval(
    stage: tuple[ClosedConnections, Timers, Callable[[], list[str]]],
) -> None:
    closed, timers, lines = stage
    for port in range(10_000):
        closed.closed(
            f"10.0.0.{1 if port % 10 else 2}:{port}",
            f"a frame of {port} bytes: a request has at least 8",
        )
    assert lines() == [
        f"10.0.0.{1 if port % 10 else 2}:{port}: connection closed: a frame of {port} bytes: a request has at least 8"
        for port in range(LINES_OF_A_KIND)
    ]
    timers.ring()
    (line,) = lines()
    assert line == (
        "9995 more connections were closed, 8996 from 10.0.0.1, 999 from 10.0.0.2; most often: a frame of 5 bytes: a request has at least 8"
        "; an event log (--log) has each"
    )
    closed.closed("[::1]:9", "a frame of 3 bytes: a request has at least 8")
    assert lines() == [], "the flood goes on: this reason had its lines"
    timers.ring()
    (line,) = lines()
    assert line.startswith(
        "1 more connection was closed, 1 from [::1]; most often: a frame of 3 bytes: a request has at least 8; "
    )


def test_another_reason_is_told_during_a_flood(
    stage: tuple[ClosedConnections, Timers, Callable[[], list[str]]],
) -> None:
    closed, _, lines = stage
    for port in range(1_000):
        closed.closed(f"10.0.0.1:{port}", "this looks like a TLS hello")
    closed.closed("10.0.0.2:1", "Fetch v99: versions 4 to 18 are served")
    assert lines()[LINES_OF_A_KIND:] == [
        "10.0.0.2:1: connection closed: Fetch v99: versions 4 to 18 are served"
    ]


def test_reasons_that_all_differ_have_no_more_lines(
    stage: tuple[ClosedConnections, Timers, Callable[[], list[str]]],
) -> None:
    """The text of a reason is the client's, in part: nobody gets more lines, or more memory, by
    inventing new ones."""
    closed, timers, lines = stage
    for number in range(5_000):
        word = "".join(chr(ord("a") + int(digit)) for digit in str(number))
        closed.closed(f"{word}:1", f"unreadable: {word}", OSError(word) if number % 2 else None)
    assert len(lines()) == LINES
    assert max(len(counter) for counter in (closed._lines, closed._from, closed._why)) <= 1_000
    timers.ring()
    (line,) = lines()
    assert line.startswith(f"{5_000 - LINES} more connections were closed, 1 from ")
    assert f"{5_000 - LINES - 3} from other addresses" in line


def test_after_a_quiet_interval_each_is_told_again(
    stage: tuple[ClosedConnections, Timers, Callable[[], list[str]]],
) -> None:
    closed, timers, lines = stage
    for _ in range(LINES_OF_A_KIND + 1):
        closed.closed("10.0.0.1:1", "bad")
    timers.ring()
    timers.ring()
    assert timers.waiting == [], "nothing is timed while nothing happens"
    lines()
    closed.closed("10.0.0.1:2", "bad")
    assert lines() == ["10.0.0.1:2: connection closed: bad"]


def test_what_was_not_told_is_told_when_the_server_stops(
    stage: tuple[ClosedConnections, Timers, Callable[[], list[str]]],
) -> None:
    closed, timers, lines = stage
    for _ in range(LINES_OF_A_KIND + 2):
        closed.closed("10.0.0.1:1", "bad\x1b[2J")
    said = lines()
    closed.stop()
    assert lines() == [
        "2 more connections were closed, 2 from 10.0.0.1; most often: bad\\x1b[2J; an event log (--log) has each"
    ]
    assert said[0] == "10.0.0.1:1: connection closed: bad\\x1b[2J"
    assert timers.waiting == []
    closed.stop()
    assert lines() == []


async def test_of_real_connections_the_event_log_has_every_one(
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    caplog.set_level(logging.INFO, "coordinator.server.net.server")
    monkeypatch.setattr(
        closed_connections, "INTERVAL_S", 3_600.0
    )  # the end of the server is what ends it here
    log = tmp_path / "run.jsonl"
    flood = LINES_OF_A_KIND + 20
    async with Emulator(log=log, brokers=2) as kafka:
        for number in range(flood):
            host, _, port = kafka.bootstrap_servers.split(",")[number % 2].rpartition(":")
            reader, writer = await asyncio.open_connection(host, int(port))
            writer.write(TLS_HELLO)
            assert await reader.read() == b""
            writer.close()
    lines = [
        record.getMessage()
        for record in caplog.records
        if record.name == "coordinator.server.net.server" and "closed" in record.getMessage()
    ]
    assert len(lines) == LINES_OF_A_KIND + 1, "one count for all brokers of a cluster"
    assert lines[-1].startswith(
        "20 more connections were closed, 20 from 127.0.0.1; most often: this looks like a TLS hello"
    )
    assert sum(line["type"] == "ConnectionRefused" for line in read(log)) == flood
