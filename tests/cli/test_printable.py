"""What a broker or a client chose never reaches a terminal raw: lines of `peers`, and the server's
warnings."""

from __future__ import annotations

import io
import logging
from types import SimpleNamespace

import pytest

from coordinator.cli.members.table import View
from coordinator.server.net.closed_connections import ClosedConnections

POISON = "\x1b[2J\x07\r\n\u202e\x9b"


def test_lines_of_peers(capsys: pytest.CaptureFixture[str]) -> None:
    out = io.StringIO()
    view = View(SimpleNamespace(), "g", out)  # type: ignore[arg-type]
    view.say(f"member{POISON}: orders 0")
    view.complain(f"refused: {POISON}")
    for shown in (out.getvalue(), capsys.readouterr().err):
        assert shown.endswith("\n")
        assert shown[:-1].isprintable()


def test_warnings_of_the_server(caplog: pytest.LogCaptureFixture) -> None:
    clock = SimpleNamespace(call_later=lambda delay, callback: None)
    with caplog.at_level(logging.WARNING, "coordinator.server.net.server"):
        ClosedConnections(clock).closed("127.0.0.1:1", f"unreadable {POISON}" + "x" * 10_000)
    (record,) = caplog.records
    assert record.getMessage().isprintable()
    assert len(record.getMessage()) < 1000
