"""Heartbeats a second, and what one costs the server in processor time.

Three ways to ask: one connection that waits for each answer, one connection that keeps 100 requests
in flight, 50 connections with 1 or 20 in flight each. Every connection is a member of a Stable
group of its own. Beside them stands what a bare echo costs on the same sockets and loop.
"""

from __future__ import annotations

import time
from select import EPOLLIN, epoll
from ssl import SSLSocket

from benchmarks.process import (
    Client,
    Row,
    ServerProcess,
    encoded,
    free_port,
    member_alone,
    running,
    server,
)
from coordinator.wire.messages.heartbeat import HeartbeatRequest

_VERSION = 4
_ANSWER_BYTES = 16  # size, correlation id, no tagged fields, throttle time, error, no tagged fields
_SECONDS = 2.0


class Asker:
    """A connection that sends bursts of requests of one size, each answered by 16 bytes."""

    def __init__(self, client: Client, request: bytes, deep: int) -> None:
        self.client = client
        self.burst = request * deep
        self.deep = deep
        self.socket = client.socket
        self.missing = 0
        self.last = b""

    def send(self) -> None:
        """Send a burst."""
        self.missing = self.deep * _ANSWER_BYTES
        self.socket.sendall(self.burst)

    def receive(self) -> bool:
        """Read what is there; True when the whole burst is answered. What TLS has read already is
        no news to who waits for the socket."""
        while True:
            self.last = self.socket.recv(1 << 16)
            self.missing -= len(self.last)
            if not self.missing or not isinstance(self.socket, SSLSocket):
                return self.missing == 0


def member(client: Client, group: str) -> tuple[Client, bytes]:
    """A member of a Stable group of its own, and its heartbeat."""
    joined = member_alone(client, group)
    beat = HeartbeatRequest(
        group_id=group, generation_id=joined.generation_id, member_id=joined.member_id
    )
    return client, encoded(beat, _VERSION)


def _heartbeats(loop: str, connections: int, deep: int, seconds: float) -> tuple[float, float]:
    """(heartbeats a second, microseconds of the server's processor time for one)."""
    with server(loop=loop) as serving:
        askers = [
            Asker(*member(Client(serving.address), f"group-{index}"), deep)
            for index in range(connections)
        ]
        figures = drive(serving, askers, seconds)
        for asker in askers:
            assert asker.last.endswith(bytes(7)), (
                asker.last
            )  # throttle time 0, error 0, no tagged fields
    return figures


def _floor(loop: str, connections: int, seconds: float) -> float:
    """Microseconds of processor time for a read and a write by a server that does nothing else."""
    port = free_port()
    with running(["benchmarks.echo", str(port), loop], port) as serving:
        return drive(
            serving,
            [Asker(Client(serving.address), bytes(80), 1) for _ in range(connections)],
            seconds,
        )[1]


def drive(serving: ServerProcess, askers: list[Asker], seconds: float) -> tuple[float, float]:
    """Let them ask for so long: (answers a second, microseconds of processor time for one)."""
    by_descriptor = {asker.socket.fileno(): asker for asker in askers}
    poll = epoll()
    for descriptor in by_descriptor:
        poll.register(descriptor, EPOLLIN)
    for asker in askers:
        asker.send()
    answered = 0
    cpu, began = serving.cpu_s(), time.perf_counter()
    end = began + seconds
    while time.perf_counter() < end:
        for descriptor, _ in poll.poll():
            asker = by_descriptor[descriptor]
            if asker.receive():
                answered += asker.deep
                asker.send()
    took, cpu = time.perf_counter() - began, serving.cpu_s() - cpu
    poll.close()
    for asker in askers:
        asker.client.close()
    return answered / took, cpu / answered * 1e6


def run(seconds: float = _SECONDS) -> list[Row]:
    """Measure with uvloop and with asyncio's own loop."""
    rows = []
    for loop, cpu_target in (("uvloop", "<= 11"), ("asyncio", "<= 16")):
        for connections, deep in ((1, 1), (1, 100), (50, 1), (50, 20)):
            rate, cost = _heartbeats(loop, connections, deep, seconds)
            what = (
                f"{loop}, {connections} connection{'s' * (connections > 1)}, {deep} in flight each"
            )
            rows.append(
                Row(
                    f"heartbeats a second: {what}",
                    rate,
                    "/s",
                    ">= 50,000" if loop == "uvloop" and deep > 1 else "",
                )
            )
            rows.append(Row(f"server CPU of a heartbeat: {what}", cost, "us", cpu_target))
            if deep == 1:
                rows.append(
                    Row(
                        f"the same of a bare echo: {what}", _floor(loop, connections, seconds), "us"
                    )
                )
    return rows


if __name__ == "__main__":
    print(*run(), sep="\n")
