"""`coordinator serve --page`: the groups of real clients in a browser, on loopback."""

from __future__ import annotations

import http.client
import json
import signal
import socket
from typing import Any

import pytest

from coordinator.cli import main

from .test_serve import serving


def fetched(url: str) -> dict[str, Any]:
    connection = http.client.HTTPConnection(url.removeprefix("http://").rstrip("/"), timeout=60)
    connection.request("GET", "/picture")
    value: dict[str, Any] = json.loads(connection.getresponse().read())
    connection.close()
    return value


@pytest.mark.parametrize("more", [(), ("--control", "127.0.0.1:0")])
def test_the_page_is_served_beside_the_emulator_and_ends_with_it(more: tuple[str, ...]) -> None:
    with serving("--page", "--seed", "7", "--topic", "orders:3", "--loop", "asyncio", *more) as (
        process,
        lines,
    ):
        url = lines[-1].partition(" page ")[2].split()[0]
        seen = fetched(url)
        assert seen["name"] == "run.jsonl" and seen["picture"]["seed"] == 7
        assert [step["type"] for step in seen["picture"]["steps"]] == ["TopicCreated"]
        process.send_signal(signal.SIGTERM)
        assert process.wait(120) == 0
        assert process.stderr is not None and process.stderr.read() == ""


def test_a_port_that_is_taken_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["serve", "--listen", "127.0.0.1:0", "--page", str(port)]) == 2
    assert f"--page {port}: cannot listen there" in capsys.readouterr().err


def test_what_is_no_port_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["serve", "--page", "80800"])
    assert ended.value.code == 2
    assert "'80800' is no port" in capsys.readouterr().err
