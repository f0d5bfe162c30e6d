"""`coordinator health`: a broker that answers, and everything else that may be behind a port."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from coordinator import Emulator
from coordinator.cli import main
from coordinator.cli.serving.health import address_of

PATIENTLY = ("--timeout", "120")
"""An answer counts whenever it comes: the other side may stand still."""


@contextmanager
def answering(answer: bytes | None) -> Iterator[str]:
    """A server that reads a request, says `answer` and closes; None: it says nothing, and waits for
    the other side to go."""

    def serve() -> None:
        connection, _ = listening.accept()
        with connection:
            connection.recv(1 << 16)
            if answer is None:
                connection.recv(1)
            else:
                connection.sendall(answer)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve)
        thread.start()
        yield f"127.0.0.1:{listening.getsockname()[1]}"
        thread.join()


def test_a_broker_that_answers_is_healthy(capsys: pytest.CaptureFixture[str]) -> None:
    with Emulator() as kafka:
        assert main(["health", kafka.bootstrap_servers, *PATIENTLY]) == 0
    said = capsys.readouterr()
    assert said.out.startswith(f"{kafka_address(said.out)}: healthy, serves ")
    assert len(said.out.splitlines()) == 1
    assert said.err == ""


def kafka_address(line: str) -> str:
    return line.partition(": ")[0]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (b"", "closed the connection"),
        (b"\0\0\0", "closed the connection"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "not a Kafka broker's"),
        (bytes.fromhex("0000000a 00000001 0000 00000000"), "not a Kafka broker's"),
        (bytes.fromhex("0000000a 48656c6f 0023 00000000"), "error 35"),
    ],
)
def test_what_is_not_healthy(answer: bytes, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    with answering(answer) as address:
        assert main(["health", address, *PATIENTLY]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(f"{address}: ")
    assert words in said.err
    assert len(said.err.splitlines()) == 1


def test_a_silent_peer_is_given_up(capsys: pytest.CaptureFixture[str]) -> None:
    with answering(None) as address:
        assert main(["health", address, "--timeout", "0.1"]) == 1
    assert f"{address}: no answer within 0.1 s" in capsys.readouterr().err


def test_nobody_listens(capsys: pytest.CaptureFixture[str]) -> None:
    with (
        socket.socket() as deaf
    ):  # bound, and does not listen: connections are refused, and nobody else can have the port
        deaf.bind(("127.0.0.1", 0))
        port = deaf.getsockname()[1]
        assert main(["health", f"127.0.0.1:{port}"]) == 1
    assert capsys.readouterr().err == f"127.0.0.1:{port}: cannot be reached: Connection refused\n"


@pytest.mark.parametrize("address", ["localhost", "host:0", "host:x", "host:65536"])
def test_an_address_that_is_none(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["health", address]) == 2
    assert (
        f"'{address}' is no address: give host:port, such as 127.0.0.1:9092"
        in capsys.readouterr().err
    )


@pytest.mark.parametrize("seconds", ["0", "-1", "soon", "nan"])
def test_a_time_limit_that_is_none(seconds: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["health", f"--timeout={seconds}"])
    assert end.value.code == 2
    assert f"'{seconds}' is no time limit" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("address", "environment", "asked"),
    [
        (None, {}, ("127.0.0.1", 9092)),
        (
            None,
            {"KAFKA_LISTENERS": "CONTROLLER://:9093,PLAINTEXT://0.0.0.0:29092"},
            ("127.0.0.1", 29092),
        ),
        (None, {"KAFKA_LISTENERS": "PLAINTEXT://:29092"}, ("127.0.0.1", 29092)),
        (None, {"KAFKA_LISTENERS": "PLAINTEXT://[::]:29092"}, ("::1", 29092)),
        (None, {"KAFKA_LISTENERS": "PLAINTEXT://kafka:29092"}, ("kafka", 29092)),
        ("[::1]:1", {"KAFKA_LISTENERS": "PLAINTEXT://kafka:29092"}, ("::1", 1)),
    ],
)
def test_whom_it_asks(
    address: str | None,
    environment: dict[str, str],
    asked: tuple[str, int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("KAFKA_LISTENERS", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert address_of(Namespace(address=address, from_environment=True)) == asked


def test_it_loads_nothing_of_the_emulator() -> None:
    program = (
        "import sys; from coordinator.cli import main; main(['health', '127.0.0.1:1']); "
        "print(sorted(name for name in sys.modules if name == 'asyncio' or name.startswith('coordinator')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert (
        done.stdout.strip() == "['coordinator', 'coordinator.base', 'coordinator.base.version', "
        "'coordinator.cli', 'coordinator.cli.serving', 'coordinator.cli.serving.health']"
    )
