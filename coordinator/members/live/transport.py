"""Sockets for a `Driver`: connections to brokers, opened when something is asked, and the loop's
time.

Owns addresses and sockets. A connection that cannot be had, or ends, is told to its owner once,
with what was not answered; when to try again is the client's own affair. Does not depend on who is
driven.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Self

from coordinator.wire.schema import Request

from ..connections.driver import Answered, Lost
from ..effects import Node
from .bootstrap import parse_addresses
from .peer import CONNECT_TIMEOUT_S
from .wire import Wire

if TYPE_CHECKING:
    from .fleet import Fleet
    from .wire import Entry

_RECEIVE_BUFFER_BYTES = 1 << 16


class LiveTransport:
    """Connections of one client on the running loop. `bootstrap`: `host:port,...`; raises
    AddressError.

    `routes`: where to connect instead, by host and port that brokers advertise. `entry`: how brokers
    are got into, where they ask for more than a connection.
    """

    def __init__(
        self,
        bootstrap: str,
        client_id: str,
        routes: Mapping[tuple[str, int], tuple[str, int]] | None = None,
        entry: Entry | None = None,
        wires: set[Wire] | None = None,
    ) -> None:
        """`wires`: where its open connections are to be found."""
        self.loop = asyncio.get_running_loop()
        self.client_id = client_id
        self.buffer = memoryview(bytearray(_RECEIVE_BUFFER_BYTES))
        self._addresses = parse_addresses(bootstrap)
        self._routes = dict(routes or {})
        self.entry = entry
        self.wires = wires
        self._zero = self.loop.time()

    @classmethod
    def of(cls, fleet: Fleet, client_id: str) -> Self:
        """A client's own connections to where a fleet's peers connect."""
        addresses = ",".join(
            f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
            for host, port in fleet.bootstrap.addresses
        )
        return cls(addresses, client_id, fleet.routes, fleet.entry, fleet.wires)

    def now(self) -> int:
        """Milliseconds since the transport was made."""
        return int((self.loop.time() - self._zero) * 1000)

    def connect(self, node: Node | None, turn: int, answered: Answered, lost: Lost) -> Connection:
        """Begin to connect to a broker; None: to one of the bootstrap addresses, in turn."""
        host, port = (
            self._addresses[turn % len(self._addresses)] if node is None else (node.host, node.port)
        )
        return Connection(self, *self._routes.get((host, port), (host, port)), answered, lost)

    def soon(self, action: Callable[[], None]) -> None:
        """Call `action` in the loop's next turn."""
        self.loop.call_soon(action)

    def call_at(self, instant: int, action: Callable[[], None]) -> asyncio.TimerHandle:
        """Call `action` at an instant of this transport's time."""
        return self.loop.call_at(self._zero + instant / 1000, action)


class Connection:
    """One connection, open or about to be."""

    def __init__(
        self, transport: LiveTransport, host: str, port: int, answered: Answered, lost: Lost
    ) -> None:
        self._lost = lost
        self._told = False
        self._wire = Wire(
            transport.client_id,
            transport.buffer,
            answered,
            lambda _, unanswered, why: self._tell(unanswered, why),
            transport.entry,
            transport.wires,
        )
        self._task = transport.loop.create_task(self._open(transport.loop, host, port))

    async def _open(self, loop: asyncio.AbstractEventLoop, host: str, port: int) -> None:
        try:
            await self._wire.connect(loop, host, port, CONNECT_TIMEOUT_S)
        except OSError as error:
            self._tell(
                self._wire.channel.unanswered(),
                f"{host}:{port}: {error.strerror or type(error).__name__}",
            )

    def _tell(self, unanswered: list[Any], why: str) -> None:
        if not self._told:
            self._told = True
            self._lost(unanswered, why)

    def ask(self, message: Request, context: Any) -> None:
        """Send a request, or keep it until there is a connection. Raises Unsupported, WireError."""
        self._wire.ask(message, context)

    def close(self) -> None:
        """Give the connection up; nobody is told."""
        self._told = True
        self._task.cancel()
        self._wire.close()

    def reset(self) -> None:
        """End it as the network would; its owner is told."""
        self._task.cancel()
        self._wire.abort()
        self._tell(self._wire.channel.unanswered(), "the connection was reset")
