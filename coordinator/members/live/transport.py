"""Transport of a `Driver` on sockets: connections to brokers, opened on demand, and the loop's
time.

Owns addresses and sockets. A connection that fails or ends is reported to its owner once, with
the unanswered requests; the client decides when to try again. Does not know the client.
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

    `routes`: where to connect instead of an advertised host and port. `entry`: TLS and
    credentials, if the brokers require them.
    """

    def __init__(
        self,
        bootstrap: str,
        client_id: str,
        routes: Mapping[tuple[str, int], tuple[str, int]] | None = None,
        entry: Entry | None = None,
        wires: set[Wire] | None = None,
    ) -> None:
        """`wires`: the set to which its open connections are added."""
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
        """Return a transport that connects like a fleet's peers."""
        addresses = ",".join(
            f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
            for host, port in fleet.bootstrap.addresses
        )
        return cls(addresses, client_id, fleet.routes, fleet.entry, fleet.wires)

    def now(self) -> int:
        """Return milliseconds since the transport was created."""
        return int((self.loop.time() - self._zero) * 1000)

    def connect(self, node: Node | None, turn: int, answered: Answered, lost: Lost) -> Connection:
        """Start to connect to a broker; None: to one of the bootstrap addresses, in turn."""
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
    """One connection, open or opening."""

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
        """Send a request, or keep it until the connection is open. Raises Unsupported, WireError."""
        self._wire.ask(message, context)

    def close(self) -> None:
        """Close the connection without notifying its owner."""
        self._told = True
        self._task.cancel()
        self._wire.close()

    def reset(self) -> None:
        """Break the connection like a network fault; its owner is notified."""
        self._task.cancel()
        self._wire.abort()
        self._tell(self._wire.channel.unanswered(), "the connection was reset")
