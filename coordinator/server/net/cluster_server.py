"""Servers of a cluster's brokers on real sockets, one for each broker, with one loop, clock and
timer.

Owns the addresses of several brokers, and the listeners of stopped, paused or started ones. A
stopped broker's port stays reserved, so no other process gets it; a crash resets its
connections. Does not know requests or what brokers decide.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..cluster.network import HostState
from ..cluster_runtime import Brokers, Hosts
from .endpoints import Endpoint, ListenError
from .server import Server

if TYPE_CHECKING:
    from .guard import Guard


class ClusterServer:
    """The servers of a cluster's brokers, by broker id."""

    def __init__(
        self, brokers: Brokers, loop: asyncio.AbstractEventLoop, guard: Guard | None = None
    ) -> None:
        self.brokers = brokers
        self.hosts = Hosts(brokers)
        self.servers: dict[int, Server] = {}
        first: Server | None = None
        for node, broker in brokers.brokers.items():
            self.servers[node] = Server(broker, loop, runtime=brokers, first=first, guard=guard)
            first = first or self.servers[node]
        self._reserved: list[socket.socket] = []
        self._tasks: set[asyncio.Task[None]] = set()
        brokers.hosts_changed = self._host_changed

    async def listen(
        self,
        endpoints: Sequence[Endpoint],
        advertised: Sequence[Endpoint] = (),
        *,
        allow_remote: bool = False,
    ) -> None:
        """Open the listeners of all brokers, or none. Broker n uses the ports plus n - 1; with port
        0 each gets a free one. Raises ListenError.
        """
        try:
            for node, server in self.servers.items():
                own = [self._reserve(shifted(endpoint, node - 1)) for endpoint in endpoints]
                shown = [shifted(endpoint, node - 1) for endpoint in advertised]
                if server.guard is not None:
                    server.own_endpoint = self._reserve(server.guard.own_endpoint)
                await server.listen(own, shown, allow_remote=allow_remote, reserved=True)
                self.brokers.set_endpoints(node, server.broker.cluster.brokers[node].endpoints)
        except ListenError:
            await self.stop()
            raise

    async def stop(self) -> None:
        """Stop all servers."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*(server.stop() for server in self.servers.values()))
        for held in self._reserved:
            held.close()
        self._reserved.clear()

    def now(self) -> int:
        """Return milliseconds since the cluster was created."""
        return self.servers[1].now()

    def settle(self) -> None:
        """Run the steps that follow every call from outside: resume connections and set the timer."""
        self.servers[1].settle(self.now())

    def wait_until_listening(self) -> None:
        """Wait until all started brokers listen and no stopped one does. Call it from another
        thread than the loop's.
        """

        async def all_done() -> None:
            await asyncio.gather(
                *self._tasks, *(server.closing for server in self.servers.values())
            )

        asyncio.run_coroutine_threadsafe(all_done(), self.servers[1].loop).result()

    def _reserve(self, endpoint: Endpoint) -> Endpoint:
        """Reserve a port with a socket that does not listen; the broker's listener shares the port."""
        if not hasattr(socket, "SO_REUSEPORT"):
            return endpoint
        family = socket.AF_INET6 if ":" in endpoint.host else socket.AF_INET
        address = ("127.0.0.1" if endpoint.host == "localhost" else endpoint.host, endpoint.port)
        held = socket.socket(family, socket.SOCK_STREAM)
        try:
            if endpoint.port:
                _check_that_nobody_listens(family, address)
            held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            held.bind(address)
        except OSError as error:
            held.close()
            raise ListenError(
                f"cannot listen on {endpoint}: {error.strerror or error}; port 0 takes a free one for each broker"
            ) from error
        self._reserved.append(held)
        return endpoint._replace(port=held.getsockname()[1])

    def _host_changed(self, node: int, state: HostState) -> None:
        server = self.servers[node]
        if state is HostState.PAUSED:
            server.freeze()
        elif state is HostState.STOPPED:
            server.close(abort=self.hosts.crashed(node))
        elif server.frozen:
            server.thaw()
        else:
            task = server.loop.create_task(server.open_again(self.brokers.brokers[node]))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)


def _check_that_nobody_listens(family: int, address: tuple[str, int]) -> None:
    """Raise OSError if another process uses the port: with SO_REUSEPORT it would be shared with
    another cluster of the same user.
    """
    with socket.socket(family, socket.SOCK_STREAM) as alone:
        alone.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        alone.bind(address)


def shifted(endpoint: Endpoint, by: int) -> Endpoint:
    """Return the endpoint with its port moved by `by`; port 0 stays."""
    return endpoint._replace(port=endpoint.port + by if endpoint.port else 0)


def check_ports(endpoints: Sequence[Endpoint], brokers: int) -> None:
    """Raise ListenError if listeners of several brokers would use the same or an invalid port."""
    wanted: dict[int, str] = {}
    for endpoint in endpoints:
        for node in range(1, brokers + 1):
            each = shifted(endpoint, node - 1)
            if not each.port:
                continue
            who = f"{each.name} of broker {node}"
            if each.port > 65535:
                raise ListenError(
                    f"{who} would listen on port {each.port}: give a lower one than {endpoint.port}"
                )
            if each.port in wanted:
                raise ListenError(
                    f"{who} and {wanted[each.port]} would both listen on port {each.port}: with {brokers} brokers each listener "
                    f"takes {brokers} ports from its own on"
                )
            wanted[each.port] = who
