"""Sockets, the loop's clock and one timer around a broker: the real-world driver.

Owns listeners, the one receive buffer of the loop, the re-armed timer and the end of it all. Rules: the zero of `now` is
the server's making; every entry point ends with `Broker.run_resumable` and a look at the next deadline; a bind beyond
loopback needs to be asked for by name, because nothing here authenticates anybody. Refuses to know requests.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Sequence
from errno import EADDRINUSE
from typing import TYPE_CHECKING, Any, NamedTuple

from .broker.connection import Connection

if TYPE_CHECKING:
    from .broker.core import Broker

logger = logging.getLogger("coordinator.server")

DEFAULT_LISTENER = "PLAINTEXT"
_RECEIVE_BUFFER_BYTES = 1 << 18
_BACKLOG = 1024
_WRITE_HIGH_WATER_BYTES = 1 << 20
FLUSH_GRACE_S = 2.0
"""How long a stopping server lets clients read their last answers."""
_WILDCARDS = ("", "0.0.0.0", "::")


class ListenError(OSError):
    """A listener that cannot be opened: which, why, and what to do."""


class Endpoint(NamedTuple):
    """A listener: its name, and where it listens. Port 0: any free one."""

    name: str
    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.name}://{host}:{self.port}"

    @classmethod
    def parse(cls, text: str, default_name: str = DEFAULT_LISTENER) -> Endpoint:
        """Read `host:port` or `NAME://host:port`; IPv6 in brackets. Raises ValueError that says what would be right."""
        name, separator, address = text.rpartition("://")
        host, colon, port = address.rpartition(":")
        if not colon or not port.isdecimal() or int(port) > 65535 or (separator and not name):
            raise ValueError(f"{text!r} is no listener: give host:port or NAME://host:port, such as 127.0.0.1:9092")
        return cls(name or default_name, host.removeprefix("[").removesuffix("]"), int(port))

    @property
    def is_loopback(self) -> bool:
        """Can only this machine connect?"""
        return self.host in ("localhost", "::1") or self.host.startswith("127.")


def check_endpoints(endpoints: Sequence[Endpoint], advertised: Sequence[Endpoint], *, allow_remote: bool) -> None:
    """Raise ListenError for listeners that cannot be meant: doubled names, open to others unasked, no address to advertise."""
    names = [endpoint.name for endpoint in endpoints]
    for endpoint in endpoints:
        if names.count(endpoint.name) > 1:
            apart = f"OTHER://{endpoint.host}:{endpoint.port}"
            raise ListenError(f"two listeners are called {endpoint.name}: name them apart, such as {apart}")
        if not endpoint.is_loopback and not allow_remote:
            raise ListenError(
                f"{endpoint} can be reached from other machines, and nobody is asked for credentials: "
                "if that is meant, say so (--allow-remote)"
            )
        if endpoint.host in _WILDCARDS and endpoint.name not in [shown.name for shown in advertised]:
            wanted = f"--advertise {endpoint.name}://host:{endpoint.port}"
            raise ListenError(f"{endpoint} is no address that a client can connect to: say which one is ({wanted})")
    for shown in advertised:
        if shown.name not in names:
            raise ListenError(f"{shown} is to be advertised, but the listeners are called {', '.join(names)}")
        if shown.host in _WILDCARDS:
            raise ListenError(f"{shown} cannot be advertised: it is no address that a client can connect to")


class Server:
    """A broker on real sockets. `await listen(...)`, later `await stop()`; everything on one loop."""

    def __init__(self, broker: Broker, loop: asyncio.AbstractEventLoop) -> None:
        self.broker = broker
        self.loop = loop
        self.protocols: set[ServerProtocol] = set()
        self.unread: set[ServerProtocol] = set()  # not read from: much waits behind a parked request or an unread answer
        self.endpoints: list[Endpoint] = []
        self.receive_buffer = memoryview(bytearray(_RECEIVE_BUFFER_BYTES))
        self._zero = loop.time()
        self._listening: list[asyncio.AbstractServer] = []
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at: int | None = None
        self._all_gone: asyncio.Future[None] | None = None
        self._max_idle_ms = broker.configs.get_int("connections.max.idle.ms")
        self._idle_timer: asyncio.TimerHandle | None = None

    def now(self) -> int:
        """Milliseconds since this server was made."""
        return int((self.loop.time() - self._zero) * 1000)

    # -- listening ---------------------------------------------------------------------------------------------------

    async def listen(self, endpoints: Sequence[Endpoint], advertised: Sequence[Endpoint] = (), *, allow_remote: bool = False) -> None:
        """Open all listeners or none, and tell the cluster their addresses; `advertised` overrides by listener name.

        Raises ListenError for an address beyond loopback without `allow_remote`, and for one that cannot be had.
        """
        check_endpoints(endpoints, advertised, allow_remote=allow_remote)
        try:
            for endpoint in endpoints:
                self.endpoints.append(await self._open(endpoint))
        except ListenError:
            await self.stop()
            raise
        node = self.broker.cluster.brokers[self.broker.node_id]
        node.endpoints = {endpoint.name: (endpoint.host, endpoint.port) for endpoint in self.endpoints}
        for name, host, port in advertised:
            node.endpoints[name] = (host, port or node.endpoints[name][1])
        self.broker.cluster.add_broker(node)
        self.settle(self.now())
        if self._max_idle_ms >= 0:
            self._close_idle()

    async def _open(self, endpoint: Endpoint) -> Endpoint:
        try:
            server = await self.loop.create_server(
                lambda: ServerProtocol(self, endpoint.name), _bind_host(endpoint.host), endpoint.port, backlog=_BACKLOG, start_serving=True
            )  # fmt: skip
        except OSError as error:
            reason = "the address is in use; port 0 takes a free one" if error.errno == EADDRINUSE else error.strerror or str(error)
            raise ListenError(f"cannot listen on {endpoint}: {reason}") from error
        except (UnicodeError, OverflowError) as error:
            raise ListenError(f"cannot listen on {endpoint}: {error}") from error
        self._listening.append(server)
        return endpoint._replace(port=server.sockets[0].getsockname()[1])

    # -- after every piece of work ------------------------------------------------------------------------------------

    def settle(self, now: int) -> None:
        """Let freed connections go on, read again where there is room again, and look at the next deadline."""
        self.broker.run_resumable(now)
        if self.unread:
            for protocol in [protocol for protocol in self.unread if protocol.connection.wants_bytes]:
                protocol.resume_reading()
        deadline = self.broker.next_deadline()
        if deadline is not None and (self._timer_at is None or deadline < self._timer_at):
            self._rearm(deadline)

    # -- the timer ---------------------------------------------------------------------------------------------------

    def _rearm(self, deadline: int) -> None:
        """Let the timer fire at an earlier instant. One that fires too early does no harm: it is armed anew."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer_at = deadline
        self._timer = self.loop.call_at(self._zero + deadline / 1000, self._on_timer)

    def catch_up(self, now: int) -> None:
        """Let happen what fell due before `now`, if the timer is late: a request finds things as they are at its time."""
        if self._timer_at is not None and self._timer_at < now:
            self.broker.tick(now)

    def _on_timer(self) -> None:
        self._timer = self._timer_at = None
        # The loop's clock is finer than ours: a timer may fire a fraction of a millisecond before its whole one.
        deadline = self.broker.next_deadline()
        now = self.now()
        if deadline is not None and now < deadline <= now + 1:
            now = deadline
        self.broker.tick(now)
        self.settle(now)

    def _close_idle(self) -> None:
        """Close connections on which nothing came or went for connections.max.idle.ms, as Kafka does; look again after a quarter of that.

        A parked request does not keep its connection: Kafka hangs up on it, too.
        """
        now = self.now()
        for protocol in [protocol for protocol in self.protocols if now - protocol.active_at >= self._max_idle_ms]:
            logger.info("%s: connection closed: idle for %d ms", protocol.connection.peer, now - protocol.active_at)
            protocol.end()
        self._idle_timer = self.loop.call_later(max(self._max_idle_ms / 4, 10) / 1000, self._close_idle)

    # -- the end -----------------------------------------------------------------------------------------------------

    async def stop(self) -> None:
        """Stop listening, answer what is parked as Kafka does, flush and close every connection, and wait for that."""
        for listening in self._listening:
            listening.close()
        self._listening.clear()
        if self._idle_timer is not None:
            self._idle_timer.cancel()
        self.broker.shut_down(self.now())
        for protocol in list(self.protocols):
            protocol.end()
        if self.protocols:
            self._all_gone = self.loop.create_future()
            try:
                await asyncio.wait_for(self._all_gone, FLUSH_GRACE_S)
            except TimeoutError:  # somebody does not read what we sent
                for protocol in list(self.protocols):
                    protocol.transport.abort()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = self._timer_at = None

    def gone(self, protocol: ServerProtocol) -> None:
        """A connection has ended."""
        self.protocols.discard(protocol)
        self.unread.discard(protocol)
        if self._all_gone is not None and not self.protocols and not self._all_gone.done():
            self._all_gone.set_result(None)


class ServerProtocol(asyncio.BufferedProtocol):
    """asyncio's side of one connection. All share the server's receive buffer: it is empty again when a call returns."""

    __slots__ = ("_server", "active_at", "connection", "listener", "transport")

    transport: Any  # asyncio.Transport; uvloop's has no base class in common

    def __init__(self, server: Server, listener: str) -> None:
        self._server = server
        self.listener = listener
        self.active_at = server.now()
        self.connection: Connection

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        sock = transport.get_extra_info("socket")
        if sock is not None:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.transport.set_write_buffer_limits(high=_WRITE_HIGH_WATER_BYTES)
        host, port = (transport.get_extra_info("peername") or ("?", 0))[:2]
        self.connection = Connection(
            self._server.broker, peer=f"{host}:{port}", client_host=java_host(host), listener=self.listener,
            write=self._write, close=self._close,
        )  # fmt: skip
        self._server.protocols.add(self)

    def _write(self, data: bytes) -> None:
        self.active_at = self._server.now()
        self.transport.write(data)

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._server.receive_buffer

    def buffer_updated(self, nbytes: int) -> None:
        server = self._server
        connection = self.connection
        self.active_at = now = server.now()
        server.catch_up(now)
        connection.receive(server.receive_buffer[:nbytes], now)
        if not connection.wants_bytes:
            self.transport.pause_reading()
            server.unread.add(self)
        server.settle(now)

    def resume_reading(self) -> None:
        """There is room again."""
        self._server.unread.discard(self)
        self.transport.resume_reading()

    def end(self) -> None:
        """Handle nothing more; what was answered still goes out."""
        self.connection.lost()
        self._server.unread.discard(self)
        self.transport.close()

    def pause_writing(self) -> None:
        self.connection.pause()

    def resume_writing(self) -> None:
        now = self._server.now()
        self.connection.unpause(now)
        self._server.settle(now)

    def connection_lost(self, error: Exception | None) -> None:
        self.connection.lost()
        self._server.gone(self)

    def _close(self, why: str, fault: Exception | None) -> None:
        logger.log(logging.ERROR if fault else logging.WARNING, "%s: connection closed: %s", self.connection.peer, why, exc_info=fault)
        self.end()


def _bind_host(host: str) -> str | None:
    """What to bind: one address for localhost (its two would get different free ports), every interface for ""."""
    return "127.0.0.1" if host == "localhost" else host or None


def java_host(host: str) -> str:
    """An address as Java's InetAddress.toString gives it: "/127.0.0.1"; IPv6 in full, "/0:0:0:0:0:0:0:1" (DSC-3)."""
    address, percent, scope = host.partition("%")
    if ":" not in address:
        return f"/{host}"
    packed = socket.inet_pton(socket.AF_INET6, address)
    if packed.startswith(b"\0" * 10 + b"\xff\xff"):
        return f"/{socket.inet_ntop(socket.AF_INET, packed[12:])}"
    groups = ":".join(f"{packed[i] << 8 | packed[i + 1]:x}" for i in range(0, 16, 2))
    return f"/{groups}{percent}{scope}"
