"""A server process to measure, and a bare client to measure it with.

The server is a real `coordinator serve`, on the first core where the machine lets us say so; the
measuring process moves to the last. Clients speak raw frames over plain sockets: what is measured
is the server, not a client library.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from struct import Struct
from typing import NamedTuple

from coordinator.wire.framing import frame, request_header, response_header_version
from coordinator.wire.messages import response_type
from coordinator.wire.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from coordinator.wire.messages.sync_group import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
    SyncGroupResponse,
)
from coordinator.wire.schema import Message, Request

_SIZE = Struct(">i")
_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
CLIENT_ID = "bench"


class Row(NamedTuple):
    """One measured figure. `target`: what it is held against, as text."""

    work: str
    value: float
    unit: str
    target: str = ""

    def __str__(self) -> str:
        return f"{self.work:<70} {self.value:>12,.2f} {self.unit:<10} {self.target}"


class ServerProcess:
    """A running `coordinator serve`."""

    def __init__(
        self, process: subprocess.Popen[str], address: tuple[str, int], started_after_s: float
    ) -> None:
        self.pid = process.pid
        self.address = address
        self.started_after_s = started_after_s

    def cpu_s(self) -> float:
        """Processor time it has used, user and system."""
        with open(f"/proc/{self.pid}/stat") as stat:
            fields = stat.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS_PER_SECOND

    def threads_cpu_s(self) -> float:
        """Processor time of the threads that it has now, finer than ticks of the clock."""
        told = Path(f"/proc/{self.pid}/task").glob("*/schedstat")
        return sum(int(each.read_text().split()[0]) for each in told) / 1e9

    def resident_bytes(self) -> int:
        """Memory it holds."""
        with open(f"/proc/{self.pid}/statm") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def free_port() -> int:
    """A port of loopback that was free a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def server(*options: str, loop: str | None = None) -> Iterator[ServerProcess]:
    """Start a server on a free port of loopback, wait until it answers ApiVersions, end it
    afterwards. `loop`: None: its default."""
    port = free_port()
    chosen = [] if loop is None else ["--loop", loop]
    with running(
        ["coordinator", "serve", "--listen", f"127.0.0.1:{port}", *chosen, *options], port
    ) as process:
        yield process


@contextmanager
def running(
    arguments: list[str], port: int, program: Path | None = None
) -> Iterator[ServerProcess]:
    """Run `python -m ...`, or another program, until it answers on its port; on the first core,
    while we are on the last."""
    cores = sorted(os.sched_getaffinity(0))
    command = [str(program), *arguments] if program else [sys.executable, "-m", *arguments]
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, text=True)
    try:
        os.sched_setaffinity(process.pid, cores[:1])
        os.sched_setaffinity(0, cores[-1:])
        _wait_until_it_answers(port, process)
        yield ServerProcess(process, ("127.0.0.1", port), time.perf_counter() - began)
    finally:
        os.sched_setaffinity(0, cores)
        process.terminate()
        process.wait(10)


def _wait_until_it_answers(port: int, process: subprocess.Popen[str]) -> None:
    api_versions_v0 = frame(request_header(18, 0, 1, None), b"")
    while process.poll() is None:
        try:
            with socket.create_connection(("127.0.0.1", port)) as asker:
                asker.sendall(api_versions_v0)
                if asker.recv(4):
                    return
        except ConnectionRefusedError:
            time.sleep(0.001)
    raise RuntimeError(f"the server ended with status {process.returncode}")


class Client:
    """One blocking connection."""

    def __init__(self, address: tuple[str, int]) -> None:
        self.socket = socket.create_connection(address)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.reader = self.socket.makefile("rb", 1 << 16)

    def ask(self, request: Request, version: int) -> Message:
        """Send a request and read its answer."""
        self.send(request, version)
        return self.receive(type(request).api_key, version)

    def send(self, request: Request, version: int) -> None:
        """Send a request."""
        self.socket.sendall(encoded(request, version))

    def receive(self, key: int, version: int) -> Message:
        """Read the next answer."""
        size = _SIZE.unpack(self.reader.read(4))[0]
        return response_type(key).decode(
            version, self.reader.read(size), 4 + response_header_version(key, version)
        )

    def close(self) -> None:
        """Hang up."""
        self.reader.close()
        self.socket.close()


def encoded(request: Request, version: int, correlation_id: int = 1) -> bytes:
    """A whole frame."""
    key = type(request).api_key
    return frame(request_header(key, version, correlation_id, CLIENT_ID), request.encode(version))


def join_request(group: str, member: str) -> JoinGroupRequest:
    """A JoinGroup as any consumer's."""
    return JoinGroupRequest(
        group_id=group,
        session_timeout_ms=60_000,
        rebalance_timeout_ms=60_000,
        member_id=member,
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name="range", metadata=bytes(20))],
    )


def sync_request(group: str, joined: JoinGroupResponse, assigned: list[str]) -> SyncGroupRequest:
    """A SyncGroup; the leader's brings something for everybody in `assigned`."""
    return SyncGroupRequest(
        group_id=group,
        generation_id=joined.generation_id,
        member_id=joined.member_id,
        protocol_type="consumer",
        protocol_name="range",
        assignments=[
            SyncGroupRequestAssignment(member_id=member, assignment=bytes(30))
            for member in assigned
        ],
    )


def member_alone(client: Client, group: str) -> JoinGroupResponse:
    """Join a group as its only member and sync; the group is Stable then."""
    told = client.ask(join_request(group, ""), 9)
    assert isinstance(told, JoinGroupResponse)
    joined = client.ask(join_request(group, told.member_id), 9)
    assert isinstance(joined, JoinGroupResponse) and joined.error_code == 0, joined
    synced = client.ask(sync_request(group, joined, [joined.member_id]), 5)
    assert isinstance(synced, SyncGroupResponse) and synced.error_code == 0, synced
    return joined
