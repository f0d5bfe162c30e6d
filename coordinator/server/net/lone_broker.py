"""Stop, start and pause of the only broker of an emulator: its port, its connections, and its state
in memory.

Records, committed offsets and transactions stay; sessions, parked requests and fetch sessions
are lost, as with a process (ERR-7). A controlled shutdown answers parked requests and closes
connections; a crash resets them; a paused process keeps them and does nothing. While the broker
is stopped, a socket that does not listen reserves the port. The broker stays the same object and
keeps its leader epochs. An action that is not possible raises ClusterError and changes nothing.
"""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING

from ..build import follow_release
from ..cluster.network import HostState
from ..cluster_runtime.options import ClusterError
from ..cluster_runtime.upgrades import become
from .endpoints import bind_host

if TYPE_CHECKING:
    from coordinator.base.releases import Release

    from .endpoints import Endpoint
    from .server import Server


class _Halted:
    """Runtime of a broker whose process does nothing."""

    def run_resumable(self, now: int) -> None:
        """Do nothing."""

    def wake_by(self) -> int | None:
        """Return None: no timer."""
        return None

    def next_deadline(self) -> int | None:
        """Return None: no timer."""
        return None

    def tick(self, now: int) -> None:
        """Do nothing."""


class LoneBroker:
    """Host of the only broker. Call everything on its event loop."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._held: list[socket.socket] = []
        self._task: asyncio.Task[None] | None = None
        self.state = HostState.RUNNING

    @property
    def node_id(self) -> int:
        """The broker's id."""
        return self._server.broker.node_id

    def shut_down(self, now: int) -> None:
        """Shut the broker down in a controlled way: parked requests are answered, then the process
        ends.
        """
        self._must_be(HostState.RUNNING)
        self._server.broker.groups.unload(None, now)
        self._end(abort=False)

    def crash(self, now: int) -> None:
        """End the process at once, like SIGKILL; connections are reset before any parked request is
        answered.
        """
        if self.state is HostState.STOPPED:
            self._must_be(HostState.RUNNING)
        self._end(abort=True)
        self._server.broker.groups.unload(None, now)

    def pause(self, now: int) -> None:
        """Freeze the process, like SIGSTOP."""
        self._must_be(HostState.RUNNING)
        self.state = HostState.PAUSED
        self._server.runtime = _Halted()
        self._server.freeze()

    def resume(self, now: int) -> None:
        """Continue a paused process; timers that were due run now."""
        self._must_be(HostState.PAUSED)
        self.state = HostState.RUNNING
        self._server.runtime = self._server.broker
        self._server.thaw()
        self._server.broker.tick(now)

    def start(self, now: int, release: Release | None = None) -> None:
        """Start the broker again, as another release if one is given: it loads what it had written
        and opens its listeners.
        """
        self._must_be(HostState.STOPPED)
        server, broker = self._server, self._server.broker
        if release is not None:
            become(self.node_id, broker.configs, release, broker.cluster.highest_levels)
            follow_release(broker)
        self.state = HostState.RUNNING
        server.runtime = broker
        expiration_ms = broker.configs.get_int("producer.id.expiration.ms")
        for topic in broker.cluster.topics.values():
            for partition in topic.partitions:
                log = partition.log
                log.producers = log.producers.as_written(broker.epoch_ms + now, expiration_ms)
        broker.groups.load(None, now)
        broker.services.logs_found(now)
        self._task = server.loop.create_task(self._open_again(self._task))

    async def settled(self) -> None:
        """Wait until a started broker listens, or a stopped one does not."""
        if self._task is not None:
            await self._task

    def close(self) -> None:
        """Release the reserved ports, because the emulator ends."""
        for held in self._held:
            held.close()
        self._held.clear()

    def _end(self, *, abort: bool) -> None:
        self.state = HostState.STOPPED
        server = self._server
        server.runtime = _Halted()
        server.close(abort=abort)
        vars(server.broker).pop("fetch_sessions", None)
        self._task = server.loop.create_task(self._keep_ports())

    async def _keep_ports(self) -> None:
        await self._server.closing
        for endpoint in filter(None, [*self._server.endpoints, self._server.own_endpoint]):
            self._held.append(_held(endpoint))

    async def _open_again(self, stopped: asyncio.Task[None] | None) -> None:
        if stopped is not None:
            await stopped
        try:
            await self._server.open_again(self._server.broker)
        finally:
            self.close()

    def _must_be(self, wanted: HostState) -> None:
        if self.state is not wanted:
            raise ClusterError(f"broker {self.node_id} is {self.state.value}, not {wanted.value}")


def _held(endpoint: Endpoint) -> socket.socket:
    """Return a socket that reserves a port without listening: connections to it are refused."""
    host = bind_host(endpoint.host) or "0.0.0.0"
    held = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    held.bind((host, endpoint.port))
    return held
