"""A client's connections on real sockets, behind the same pipes as in the simulated world: delays,
cuts and pauses happen in the pipes.

What a cut or slow link holds back waits on the client's side. A connection that cannot be opened
counts as refused by the broker. This module must not know requests.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol
from weakref import WeakSet

from coordinator.members.connections.driver import Answered, Lost
from coordinator.members.effects import Node
from coordinator.members.live.wire import Entry

from ..simulator.clients.client_side import ClientSide, Sign
from ..simulator.environment import Surroundings


class RealTime(Surroundings, Protocol):
    """A live world, as its connections see it (`world.LiveWorld`)."""

    loop: asyncio.AbstractEventLoop
    connections: dict[SocketConnection, None]
    closing: WeakSet[asyncio.Transport]
    """Closed sockets: over TLS closing waits for the other side."""
    entry: Entry | None
    """Transport security and login of clients; None if brokers ask for neither."""

    def guard(self, action: Callable[[], None]) -> None:
        """Call `action`, unless the run is over. An error in it ends the run."""

    def addresses(self) -> Sequence[tuple[int, str, int]]:
        """Return the ids, hosts and ports of the bootstrap brokers."""


class SocketConnection(ClientSide):
    def __init__(
        self,
        world: RealTime,
        host: str,
        node: int,
        address: tuple[str, int],
        answered: Answered,
        lost: Lost,
        highest: Mapping[int, int] | None,
    ) -> None:
        self._live = world
        self._address = address
        self._opening: asyncio.Task[None] | None = None
        self._socket: asyncio.Transport | None = None
        world.connections[self] = None
        login = None if world.entry is None else world.entry.login()
        super().__init__(world, host, host, node, answered, lost, highest, login)

    def _at_broker(self, what: bytes | Sign) -> None:
        if what is Sign.OPEN:
            self._opening = self._live.loop.create_task(self._open())
        elif isinstance(what, Sign):
            self._shut()
        elif self._socket is not None:
            self._socket.write(what)

    async def _open(self) -> None:
        tls = None if self._live.entry is None else self._live.entry.tls
        host, port = self._address
        try:
            await self._live.loop.create_connection(
                lambda: _Stream(self), host, port, ssl=tls, server_hostname=host if tls else None
            )
        except OSError:
            self._live.guard(lambda: self._down.send(Sign.END))

    def _shut(self) -> None:
        if self._opening is not None:
            self._opening.cancel()
        if self._socket is not None:
            self._socket.close()
            self._live.closing.add(self._socket)
        self._up.close()
        self._live.connections.pop(self, None)

    def cut_off(self) -> None:
        """Abort the socket at the end of the run, without telling the client."""
        if self._socket is not None:
            self._socket.abort()
        self._shut()

    # -- what the socket tells

    def opened(self, transport: asyncio.Transport) -> None:
        """Note that the broker has accepted the connection."""
        self._socket = transport
        self._live.guard(lambda: self._down.send(Sign.ACCEPTED))

    def came(self, data: bytes) -> None:
        """Handle received bytes."""
        self._live.guard(lambda: self._down.send(data))

    def ended(self) -> None:
        """Note that the broker or the network has closed the connection."""
        self._live.connections.pop(self, None)
        self._live.guard(lambda: self._down.send(Sign.END))


class _Stream(asyncio.Protocol):
    """The asyncio protocol of a connection."""

    def __init__(self, owner: SocketConnection) -> None:
        self._owner = owner

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        sock = transport.get_extra_info("socket")
        if sock is not None:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._owner.opened(transport)

    def data_received(self, data: bytes) -> None:
        self._owner.came(bytes(data))

    def connection_lost(self, error: Exception | None) -> None:
        self._owner.ended()


class SocketTransport:
    """Connections of one client, whose name is also its host's (`members.driver.Transport`).
    `highest`: see `Channel`."""

    def __init__(
        self, world: RealTime, host: str, highest: Mapping[int, int] | None = None
    ) -> None:
        self._world = world
        self._host = host
        self._highest = highest

    def now(self) -> int:
        """Return milliseconds since the world's zero."""
        return self._world.now

    def soon(self, action: Callable[[], None]) -> None:
        """Call an action in the loop's next turn."""
        self._world.loop.call_soon(self._world.guard, action)

    def connect(self, node: Node | None, turn: int, answered: Answered, lost: Lost) -> Any:
        """Open a connection to a broker; None: to the `turn`-th of the bootstrap addresses, in a
        circle."""
        if node is None:
            addresses = self._world.addresses()
            number, host, port = addresses[turn % len(addresses)]
        else:
            number, host, port = node
        return SocketConnection(
            self._world, self._host, number, (host, port), answered, lost, self._highest
        )
