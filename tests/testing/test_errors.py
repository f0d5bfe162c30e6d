"""What Docker and a broker's log say becomes one message that says what to do."""

from __future__ import annotations

import gc
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Thread

import pytest
from docker.errors import APIError, DockerException

from coordinator.testing.containers import (
    ContainerError,
    DockerUnavailableError,
    EmulatorContainer,
    RealKafka,
)
from coordinator.testing.containers.daemon import connect
from coordinator.testing.containers.errors import is_port_taken, reason_in, unreachable

# Docker's client does not close a socket that it could not connect; the fixture has that noticed
# here and not in a later test.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture(autouse=True)
def _forgotten_sockets() -> Iterator[None]:
    yield
    gc.collect()


@pytest.mark.parametrize("broker", [RealKafka(), EmulatorContainer()])
def test_no_daemon(
    broker: RealKafka | EmulatorContainer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/docker.sock")
    with pytest.raises(DockerUnavailableError) as refusal:
        broker.start()
    assert (
        f"no Docker daemon answers at unix://{tmp_path}/docker.sock: start Docker (`docker version` must answer)"
        in str(refusal.value)
    )
    assert "No such file or directory" in str(refusal.value)


def test_a_daemon_that_died_and_left_its_socket(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(tmp_path / "docker.sock"))
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/docker.sock")
    with pytest.raises(
        DockerUnavailableError, match=r"no Docker daemon answers at .*Connection refused"
    ):
        RealKafka().start()


def test_a_daemon_that_never_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        accepted: list[socket.socket] = []

        def accept() -> None:
            with suppress(OSError):
                while True:
                    accepted.append(silent.accept()[0])

        thread = Thread(target=accept)
        thread.start()
        monkeypatch.setenv("DOCKER_HOST", f"tcp://127.0.0.1:{silent.getsockname()[1]}")
        try:
            with pytest.raises(
                DockerUnavailableError, match=r"no Docker daemon answers at tcp://.*timed out"
            ):
                connect(limit_s=0.1)
        finally:
            silent.shutdown(socket.SHUT_RDWR)
            thread.join()
            for one in accepted:
                one.close()


def test_no_permission(monkeypatch: pytest.MonkeyPatch) -> None:
    """As Docker's client wraps it: an argument of an argument."""
    monkeypatch.delenv("DOCKER_HOST", raising=False)
    denied = DockerException("Error while fetching server API version: ...")
    denied.__context__ = ConnectionError(
        ConnectionError("Connection aborted.", PermissionError(13, "Permission denied"))
    )
    said = str(unreachable(denied))
    assert said.startswith(
        "no permission to speak to Docker at Docker's usual socket: add this user to the group that owns the socket"
    )


@pytest.mark.parametrize(
    "said",
    [
        "driver failed programming external connectivity on endpoint x: Bind for 0.0.0.0:9092 failed: port is already allocated",
        "Error starting userland proxy: listen tcp4 0.0.0.0:9092: bind: address already in use",
        "Ports are not available: exposing port TCP 0.0.0.0:9092 -> 0.0.0.0:0: listen tcp 0.0.0.0:9092: bind: address already in use",
    ],
)
def test_how_docker_says_that_a_port_is_taken(said: str) -> None:
    assert is_port_taken(APIError("500 Server Error", explanation=said))


def test_another_refusal_is_not_about_ports() -> None:
    assert not is_port_taken(APIError("500 Server Error", explanation="no space left on device"))


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        ("", ""),
        ("starting\nstill starting\n\n", "still starting"),
        (
            'Exception in thread "main" org.apache.kafka.common.config.ConfigException: Invalid value x for num.partitions\n\tat x',
            "it refuses its configuration: Invalid value x for num.partitions",
        ),
        (
            "INFO starting\nERROR Exiting due to fatal exception\nINFO bye\n",
            "ERROR Exiting due to fatal exception",
        ),
        (
            "java.lang.OutOfMemoryError: heap\n\tat java.lang.String.<init>\n",
            "java.lang.OutOfMemoryError: heap",
        ),
        (
            "java.io.IOException: No space left\n\tat java.io.Exception.x\n",
            "java.io.IOException: No space left",
        ),
    ],
)
def test_the_line_that_says_best_why_a_broker_ended(log: str, reason: str) -> None:
    assert reason_in(log) == reason


def test_a_broker_that_does_not_run() -> None:
    broker = RealKafka()
    for use in (
        lambda: broker.bootstrap_servers,
        broker.logs,
        broker.kill_broker,
        lambda: broker.tool("kafka-topics", "--list"),
    ):
        with pytest.raises(
            ContainerError, match="this broker does not run: use it inside `with`, or call start"
        ):
            use()
    broker.stop()
