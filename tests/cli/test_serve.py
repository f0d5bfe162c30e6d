"""`coordinator serve` as its users start it: what it prints, how it ends, what it says of wrong
options."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from coordinator.base.installing import see_agents
from coordinator.cli import main

API_VERSIONS_V0 = bytes.fromhex("0000000a 0012 0000 00000001 ffff")


@contextmanager
def serving(*options: str) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    """A server process and what it printed until it was ready."""
    command = [sys.executable, "-m", "coordinator", "serve", "--listen", "127.0.0.1:0", *options]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            lines = []
            for line in process.stdout:
                lines.append(line.rstrip())
                if line.startswith("ready: "):
                    break
            yield process, lines
        finally:
            process.kill()


def connect(lines: list[str]) -> socket.socket:
    host, port = lines[-1].removeprefix("ready: ").split(":")
    return socket.create_connection((host, int(port)), timeout=60)


@pytest.mark.parametrize("loop", ["asyncio", "auto"])
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_says_what_is_in_force_serves_and_ends_gracefully(
    loop: str, how: signal.Signals, tmp_path: Path
) -> None:
    log = tmp_path / "run.jsonl"
    options = (
        "--topic",
        "orders:12",
        "--config",
        "num.partitions=3",
        "--seed",
        "7",
        "--log",
        str(log),
        "--loop",
        loop,
    )
    with serving(*options) as (process, lines):
        text = "\n".join(lines)
        assert "seed 7" in text
        assert "topics: orders:12" in text
        assert f"event log: {log}" in text
        assert "* num.partitions = 3 (Kafka: 1)" in text
        assert "* group.initial.rebalance.delay.ms = 0 (Kafka: 3000)" in text
        assert "  group.max.session.timeout.ms = 1800000" in text
        with connect(lines) as client:
            client.sendall(API_VERSIONS_V0)
            assert len(client.recv(4)) == 4
            process.send_signal(how)
            assert process.wait(120) == 0
            while client.recv(1 << 16):
                pass
        assert process.stderr is not None
        assert process.stderr.read() == ""
    assert log.read_text().endswith("\n")


def test_sigterm_before_it_listens_is_a_graceful_stop_too() -> None:
    """Process 1 of a container does not hear signals that it has no handler for."""
    program = (
        "import os, signal, sys; from coordinator.cli import main; "
        "from coordinator.cli.serving import serve; "
        "serve._emulator = lambda args: os.kill(os.getpid(), signal.SIGTERM); "
        "former = signal.getsignal(signal.SIGTERM); "
        "status = None\n"
        "try: main(['serve', '--loop', 'asyncio'])\n"
        "except SystemExit as end: status = end.code\n"
        "print(status, signal.getsignal(signal.SIGTERM) is former)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert done.stdout == "0 True\n"


def test_kafkas_defaults_and_advertised_addresses() -> None:
    with serving("--kafka-defaults", "--advertise", "kafka.example:1234") as (_, lines):
        text = "\n".join(lines)
        assert "  group.initial.rebalance.delay.ms = 3000" in text
        assert "advertised as kafka.example:1234" in text


def test_a_hostile_peer_costs_one_line_on_standard_error() -> None:
    with serving() as (process, lines):
        with connect(lines) as client:
            client.sendall(b"GET / HTTP/1.1\r\n\r\n")
            assert client.recv(1) == b""
        process.terminate()
        assert process.wait(120) == 0
        assert process.stderr is not None
        (line,) = process.stderr.read().splitlines()
        assert "127.0.0.1:" in line
        assert "HTTP" in line


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--topic", "a b"], ["--topic", "'a b'", "characters"]),
        (["--topic", "orders:0"], ["--topic", "orders", "from 1"]),
        (["--config", "nonsense"], ["--config", "'nonsense'", "name=value"]),
        (
            ["--config", "num.partition=3"],
            ["--config", "num.partition ", "did you mean num.partitions"],
        ),
        (["--config", "num.partitions=three"], ["--config", "num.partitions=three"]),
        (["--listen", "nowhere"], ["'nowhere'", "such as 127.0.0.1:9092"]),
        (["--listen", "0.0.0.0:0"], ["0.0.0.0", "--allow-remote", see_agents()]),
        (["--listen", "0.0.0.0:0", "--allow-remote"], ["0.0.0.0", "--advertise"]),
        (["--listen", "127.0.0.1:0", "--advertise", "X://h:1"], ["X://h:1", "PLAINTEXT"]),
        (
            ["--listen", "127.0.0.1:0", "--log", __file__],
            [__file__, "exists already", "--log-append", "--log-replace"],
        ),
        (
            ["--listen", "127.0.0.1:0", "--log", __file__, "--log-append"],
            [__file__, "line 1", "no event log"],
        ),
        (
            ["--listen", "127.0.0.1:0", "--log-append", __file__],
            [__file__, "line 1", "no event log"],
        ),
        (["--log-replace"], ["of which log", "--log PATH --log-replace"]),
        (
            ["--log", "a.jsonl", "--log-append", "b.jsonl"],
            ["a.jsonl", "b.jsonl", "name its path once"],
        ),
        (
            ["--listen", "127.0.0.1:0", "--log", "/no/such/place.jsonl"],
            ["/no/such/place.jsonl", "No such file"],
        ),
    ],
)
def test_wrong_options(
    options: list[str], words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", "--loop", "asyncio", *options]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("coordinator serve: error: ")
    assert len(captured.err.splitlines()) == 1
    for word in words:
        assert word in captured.err


def test_a_port_in_use(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["serve", "--loop", "asyncio", "--listen", f"127.0.0.1:{port}"]) == 2
    assert f"PLAINTEXT://127.0.0.1:{port}: the address is in use" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments", [["serve", "--tpic", "x"], ["serv"], ["serve", "--seed", "x"]]
)
def test_unknown_options_and_commands(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 2
    assert arguments[-1] in capsys.readouterr().err


def test_help_and_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert "serve" in capsys.readouterr().out
    with pytest.raises(SystemExit) as end:
        main(["--version"])
    assert end.value.code == 0
    assert capsys.readouterr().out.startswith("coordinator ")


def test_the_version_is_told_without_any_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("coordinator.cli.import_module", pytest.fail)
    with pytest.raises(SystemExit) as end:
        main(["--version"])
    assert end.value.code == 0
