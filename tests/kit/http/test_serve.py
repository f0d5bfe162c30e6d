"""`serve --control` as its users start it: the `ready:` line, the token, wrong options."""

from __future__ import annotations

import http.client
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from coordinator.base.installing import pip_install, see_agents
from coordinator.cli import main
from coordinator.kit.http.client import Client, Refused


@contextmanager
def serving(*options: str) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    """A server process and the words of its `ready:` line."""
    command = [sys.executable, "-m", "coordinator", "serve", "--listen", "127.0.0.1:0", *options]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            ready = next(line for line in process.stdout if line.startswith("ready: "))
            yield process, ready.split()
        finally:
            process.kill()


def test_the_ready_line_names_the_port_and_its_drawn_token_and_it_ends_with_readers_of_the_log() -> (
    None
):
    with serving(
        "--control", "0.0.0.0:0", "--control-advertise", "localhost", "--allow-remote"
    ) as (process, words):
        assert words[2] == "control"
        assert words[3].startswith("http://localhost:")
        assert words[4] == "token"
        client = Client(words[3], words[5])
        assert client.get("/")["bootstrap_servers"] == words[1]
        with pytest.raises(Refused, match="a token is needed"):
            Client(words[3]).get("/")
        client.post("/topics", {"name": "orders", "partitions": 2})
        assert client.get("/events", type="TopicCreated")["events"][-1]["topic"] == "orders"
        reader = http.client.HTTPConnection(words[3].removeprefix("http://"), timeout=60)
        reader.request("GET", "/events/stream", headers={"Authorization": f"Bearer {words[5]}"})
        with closing(reader), closing(reader.getresponse()) as answer:
            process.send_signal(signal.SIGTERM)
            assert b"TopicCreated" in answer.read()
        assert process.wait(120) == 0
        assert process.stderr is not None
        assert process.stderr.read() == ""


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ["--control", "nowhere"],
            "--control: 'nowhere' is no address: give host:port, such as 127.0.0.1:0",
        ),
        (
            ["--control", "0.0.0.0:0"],
            "--control: 0.0.0.0:0 can be reached from other machines: if that is meant, say so (--allow-remote); "
            + see_agents(),
        ),
        (
            ["--control-allow-origin", "http://a"],
            "--control-allow-origin: there is no control port; give --control 127.0.0.1:0, say",
        ),
        (["--control-advertise", "a"], "--control-advertise: there is no control port"),
    ],
)
def test_wrong_options(options: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--listen", "127.0.0.1:0", "--loop", "asyncio", *options]) == 2
    assert said in capsys.readouterr().err


def test_without_the_extra(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("coordinator.kit.http.serving.find_spec", lambda name: None)
    assert (
        main(["serve", "--listen", "127.0.0.1:0", "--control", "127.0.0.1:0", "--loop", "asyncio"])
        == 2
    )
    assert f"starlette ({see_agents()}): {pip_install('control')}\n" in capsys.readouterr().err


def test_peers_reach_a_broker_that_advertises_what_cannot_be_reached_from_here() -> None:
    with serving(
        "--advertise", "kafka.invalid:9092", "--control", "127.0.0.1:0", "--topic", "orders:2"
    ) as (_, words):
        assert words[1] == "kafka.invalid:9092"
        client = Client(words[3])
        client.post("/peers", {"group": "billing", "topics": ["orders"]})
        assert (
            client.post(
                "/groups/billing/wait", {"state": "Stable", "members": 1, "assigned": "all"}
            )["generation"]
            == 1
        )
