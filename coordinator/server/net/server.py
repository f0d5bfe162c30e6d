"""Driver of a broker on real sockets: listeners, the loop's clock and one timer.

Owns the listeners, the loop's one receive buffer, the timer and the orderly stop. The zero of
`now` is the creation of the server; every entry point ends with `Broker.run_resumable` and a
look at the next deadline; a listener beyond loopback must be requested explicitly unless it
authenticates its clients. Does not know requests; see `server.connections`.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable, Collection, Sequence
from errno import EADDRINUSE
from typing import TYPE_CHECKING, Any, Protocol

from coordinator.base.printable import shortened

from ..connections.connection import Connection
from . import stalled
from .closed_connections import ClosedConnections
from .endpoints import Endpoint, ListenError, bind_host, check_endpoints, java_host
from .listening import Descriptors, stop_listening
from .loop_clock import LoopClock, Runtime

if TYPE_CHECKING:
    from ..broker import Broker

logger = logging.getLogger("coordinator.server.net.server")

_RECEIVE_BUFFER_BYTES = 1 << 18
_SMALL_BUFFER_BYTES = (
    1 << 12
    # read at once while there is no room for unfinished requests: whole small ones still come
    # through
)
_BACKLOG = 1024
_TURN_MS = 20  # how long one connection's requests are handled in a row, if others wait
_LOOK_AFTER_S = 1.0  # how often stalled connections are looked for while others wait for memory
FLUSH_GRACE_S = 2.0  # how long a stopping server lets clients read their last answers
END_GRACE_S = 10.0  # how long a connection that is closed may take to read its last answers


class Guarding(Protocol):
    """Interface of the listeners' security (`server.net.guard`)."""

    own_endpoint: Endpoint
    """The endpoint for the testing kit's own clients."""

    @property
    def authenticating(self) -> Collection[str]:
        """Names of the listeners that authenticate their clients."""

    def watch_over(self, broker: Broker) -> None:
        """Connect the security with a broker that was created or restarted."""

    def protocol(self, server: Server, listener: str) -> Callable[[], ServerProtocol]:
        """Return the factory of protocol objects for a listener's connections."""


class Server:
    """A broker on real sockets: `await listen(...)`, later `await stop()`, all on one loop.

    `first`: the first server of the same cluster. Servers of one cluster share clock and timer,
    which drives `runtime`; after work at one of them all are checked.
    """

    def __init__(
        self,
        broker: Broker,
        loop: asyncio.AbstractEventLoop,
        *,
        runtime: Runtime | None = None,
        first: Server | None = None,
        guard: Guarding | None = None,
    ) -> None:
        self.broker = broker
        self.guard = guard
        """Listeners' demands on clients; None: nothing."""
        if guard is not None:
            guard.watch_over(broker)
        self.runtime: Runtime = runtime or broker
        self.group: list[Server] = [] if first is None else first.group
        self.group.append(self)
        self.loop = loop
        self.protocols: set[ServerProtocol] = set()
        self.unread: set[ServerProtocol] = (
            set()
        )  # not read from: much waits behind a parked request or an unread answer
        self.observers: list[
            Callable[[], None]
        ] = []  # of the first server: called after every piece of work, answer no requests
        self.endpoints: list[Endpoint] = []
        """The endpoints at which it listens for clients."""
        self.own_endpoint: Endpoint | None = None
        """The endpoint to which the testing kit's own clients connect, if that is not the first of
        `endpoints`."""
        self.receive_buffer = memoryview(bytearray(_RECEIVE_BUFFER_BYTES))
        self.input = broker.turns.input
        self.small_buffer = self.receive_buffer[:_SMALL_BUFFER_BYTES]
        self.clock: LoopClock = LoopClock(loop) if first is None else first.clock
        self.now: Callable[[], int] = self.clock.now
        """Milliseconds since this server, or the first of its group, was made."""
        self._listening: list[asyncio.Server] = []
        self.closing: asyncio.Future[None] = (
            loop.create_future()
        )  # the end of the listening sockets of a broker that stopped
        self.closing.set_result(None)
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at: int | None = None
        self._all_gone: asyncio.Future[None] | None = None
        self._max_idle_ms = broker.configs.get_int("connections.max.idle.ms")
        self._idle_timer: asyncio.TimerHandle | None = None
        self._turn: asyncio.Handle | None = None
        self._look_after: asyncio.TimerHandle | None = None
        broker.turns.is_over = self._turn_is_over
        broker.unserved.tell = lambda sentence: logger.warning("%s", shortened(sentence))
        self.frozen = False  # its process is paused: connections are taken, nothing is read
        self.descriptors = Descriptors(loop)
        self.closed_connections: ClosedConnections = (
            ClosedConnections(loop) if first is None else first.closed_connections
        )

    # -- listening

    async def listen(
        self,
        endpoints: Sequence[Endpoint],
        advertised: Sequence[Endpoint] = (),
        *,
        allow_remote: bool = False,
        reserved: bool = False,
    ) -> None:
        """Open all listeners, or none, and store their addresses in the cluster; `advertised`
        overrides them by listener name.

        `reserved`: a socket that does not listen reserves each port (SO_REUSEPORT). Raises
        ListenError for an address beyond loopback without `allow_remote`, and for one that
        cannot be bound.
        """
        guard = self.guard
        check_endpoints(
            endpoints,
            advertised,
            allow_remote=allow_remote,
            authenticating=() if guard is None else guard.authenticating,
        )
        self.descriptors.watch()
        try:
            for endpoint in endpoints:
                self.endpoints.append(await self._open(endpoint, reserved=reserved))
            if guard is not None:
                self.own_endpoint = await self._open(
                    self.own_endpoint or guard.own_endpoint, reserved=reserved
                )
        except ListenError:
            await self.stop()
            raise
        node = self.broker.cluster.brokers[self.broker.node_id]
        node.endpoints = {
            endpoint.name: (endpoint.host, endpoint.port)
            for endpoint in (*self.endpoints, *filter(None, [self.own_endpoint]))
        }
        for name, host, port in advertised:
            node.endpoints[name] = (host, port or node.endpoints[name][1])
        self.broker.cluster.add_broker(node)
        self.settle(self.now())
        if self._max_idle_ms >= 0:
            self._close_idle()

    async def _open(self, endpoint: Endpoint, *, reserved: bool = False) -> Endpoint:
        protocol = self._protocol(endpoint.name)
        try:
            server = await self.loop.create_server(
                protocol,
                bind_host(endpoint.host),
                endpoint.port,
                backlog=_BACKLOG,
                reuse_port=reserved or None,
                start_serving=True,
            )
        except OSError as error:
            reason = (
                "the address is in use; port 0 takes a free one"
                if error.errno == EADDRINUSE
                else error.strerror or str(error)
            )
            raise ListenError(f"cannot listen on {endpoint}: {reason}") from error
        except (UnicodeError, OverflowError) as error:
            raise ListenError(f"cannot listen on {endpoint}: {error}") from error
        self._listening.append(server)
        return endpoint._replace(port=server.sockets[0].getsockname()[1])

    def _protocol(self, listener: str) -> Callable[[], ServerProtocol]:
        """Return the factory of protocol objects for a listener's connections."""
        guard = self.guard
        if guard is None:
            return lambda: ServerProtocol(self, listener)
        return guard.protocol(self, listener)

    # -- after every piece of work

    def settle(self, now: int) -> None:
        """Let connections that can continue do so, read again where there is room, and set the
        timer.
        """
        self.runtime.run_resumable(now)
        for server in self.group:
            broker = server.broker
            if (
                server.unread
                or broker.turns.postponed
                or broker.turns.output.waiting
                or broker.turns.input.full
            ):
                server._look_around()
        first = self.group[0]
        for look in first.observers:
            look()
        deadline = self.runtime.wake_by()
        if deadline is not None and (first._timer_at is None or deadline < first._timer_at):
            first._rearm(deadline)

    def _look_around(self) -> None:
        """Read again from connections that have room, and serve those that wait for a turn or for
        memory.
        """
        broker = self.broker
        if self.unread and not self.frozen:
            for protocol in [protocol for protocol in self.unread if protocol.wants_bytes]:
                protocol.resume_reading()
        if broker.turns.postponed or broker.turns.output.waiting or broker.turns.input.full:
            self._arrange()

    # -- turns and memory

    def _turn_is_over(self) -> bool:
        return self.now() - self.clock.turn_began >= _TURN_MS

    def ask_for_turn(self) -> None:
        """Schedule the next turn of waiting connections, after all sockets were polled."""
        if self._turn is None:
            self._turn = self.loop.call_soon(self._next_turn)

    def _arrange(self) -> None:
        """Schedule work for connections that wait for a turn or for memory."""
        if self.broker.turns.wanted:
            self.ask_for_turn()
        if (
            self.broker.turns.output.waiting or self.broker.turns.input.full
        ) and self._look_after is None:
            self._look_after = self.loop.call_later(_LOOK_AFTER_S, self._look_after_stalled)

    def _next_turn(self) -> None:
        self._turn = None
        now = self.now()
        self.clock.turn_began = now
        self.catch_up(now)
        self.broker.next_turn(now)
        self.settle(now)

    def _look_after_stalled(self) -> None:
        self._look_after = None
        now = self.now()
        stalled.look_after(self.broker, list(self.protocols), self.unread, now)
        self.settle(now)

    # -- the timer

    def _rearm(self, deadline: int) -> None:
        """Let the timer fire at an earlier instant. Firing too early does no harm: it is set again."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer_at = deadline
        self._timer = self.loop.call_at(self.clock.loop_time(deadline), self._on_timer)

    def jump(self, duration_ms: int) -> None:
        """Move the clock of all servers forward, without making connections idle. Timers that
        become due run at the next `tick`.
        """
        self.clock.jump(duration_ms)
        first = self.group[0]
        if first._timer is not None:
            first._timer.cancel()
            first._timer = first._timer_at = None
        for protocol in [protocol for server in self.group for protocol in server.protocols]:
            protocol.active_at += duration_ms

    def catch_up(self, now: int) -> None:
        """Run timers that were due before `now`, if the loop's timer is late, so that a request
        finds the state of its time.
        """
        timer_at = self.group[0]._timer_at
        if timer_at is not None and timer_at < now:
            self.runtime.tick(now)

    def _on_timer(self) -> None:
        self._timer = self._timer_at = None
        # The loop's clock is finer than ours: a timer may fire a fraction of a millisecond before
        # its whole one.
        deadline = self.runtime.next_deadline()
        now = self.now()
        if deadline is not None and now < deadline <= now + 1:
            now = deadline
        self.clock.turn_began = now
        self.runtime.tick(now)
        self.settle(now)

    def _close_idle(self) -> None:
        """Close connections without traffic for connections.max.idle.ms, as Kafka does; check again
        after a quarter of that. A parked request does not keep its connection open, as in Kafka.
        """
        now = self.now()
        for protocol in [
            protocol for protocol in self.protocols if now - protocol.active_at >= self._max_idle_ms
        ]:
            logger.info(
                "%s: connection closed: idle for %d ms",
                protocol.connection.peer,
                now - protocol.active_at,
            )
            protocol.end()
        self._idle_timer = self.loop.call_later(
            max(self._max_idle_ms / 4, 10) / 1000, self._close_idle
        )

    # -- a broker that stops, pauses and starts again

    def close(self, *, abort: bool) -> None:
        """Close listeners and connections, because the broker's process ends. `abort`: without
        sending what is queued.
        """
        self.frozen = False
        self._end_connections(abort=abort)
        self.closing = self.loop.create_task(stop_listening(self.loop, self._listening))
        self.closing.add_done_callback(
            lambda _: self._end_connections(abort=abort)
        )  # those that were accepted just before

    def _end_connections(self, *, abort: bool) -> None:
        for protocol in list(self.protocols):
            protocol.end()
            if abort:
                protocol.transport.abort()

    async def open_again(self, broker: Broker) -> None:
        """Listen on the former addresses again, for the restarted broker."""
        await self.closing
        self.broker, self.input = broker, broker.turns.input
        if self.guard is not None:
            self.guard.watch_over(broker)
        broker.turns.is_over = self._turn_is_over
        broker.unserved.tell = lambda sentence: logger.warning("%s", shortened(sentence))
        for endpoint in self.endpoints:
            await self._open(endpoint, reserved=True)
        if self.own_endpoint is not None:
            await self._open(self.own_endpoint, reserved=True)

    def freeze(self) -> None:
        """Stop reading from all connections: the broker's process is paused."""
        self.frozen = True
        for protocol in self.protocols:
            protocol.transport.pause_reading()

    def thaw(self) -> None:
        """Read again: the broker's process continues."""
        self.frozen = False
        for protocol in self.protocols - self.unread:
            protocol.transport.resume_reading()

    # -- the end

    async def stop(self) -> None:
        """Stop listening, answer parked requests as Kafka does, flush and close every connection,
        and wait for that.
        """
        await self.closing
        await stop_listening(self.loop, self._listening)
        self.descriptors.stop()
        self.closed_connections.stop()
        for handle in (self._idle_timer, self._turn, self._look_after):
            if handle is not None:
                handle.cancel()
        self.broker.groups.shut_down(self.now())
        self._end_connections(abort=False)
        if self.protocols:
            self._all_gone = self.loop.create_future()
            try:
                await asyncio.wait_for(self._all_gone, FLUSH_GRACE_S)
            except TimeoutError:  # somebody does not read what we sent
                self._end_connections(abort=True)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = self._timer_at = None

    def gone(self, protocol: ServerProtocol) -> None:
        """Forget a closed connection; others may wait for the memory that it held."""
        if (self.broker.turns.wanted or self.unread) and self._all_gone is None:
            self.ask_for_turn()
        self.protocols.discard(protocol)
        self.unread.discard(protocol)
        if self._all_gone is not None and not self.protocols and not self._all_gone.done():
            self._all_gone.set_result(None)


class ServerProtocol(asyncio.BufferedProtocol):
    """asyncio protocol of one connection. All share the server's receive buffer, which is empty
    again when a call returns.
    """

    __slots__ = (
        "_server",
        "active_at",
        "connection",
        "favoured",
        "listener",
        "output",
        "taken_at",
        "transport",
        "unsent",
    )

    transport: Any  # asyncio.Transport; uvloop's has no base class in common

    def __init__(self, server: Server, listener: str) -> None:
        self._server = server
        self.listener = listener
        self.active_at = self.taken_at = server.now()
        self.unsent = 0
        self.favoured = False
        self.output = server.broker.turns.output  # a broker that was started again has another one
        self.connection: Connection

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        sock = transport.get_extra_info("socket")
        if sock is not None:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._server.descriptors.accepted(sock.fileno())
        self.transport.set_write_buffer_limits(
            high=0
        )  # what the kernel does not take at once pauses the connection, and is counted
        host, port = (transport.get_extra_info("peername") or ("?", 0))[:2]
        self.connection = self._new_connection(f"{host}:{port}", java_host(host))
        self._server.protocols.add(self)
        if self._server.frozen:
            self.transport.pause_reading()

    def _new_connection(self, peer: str, client_host: str) -> Connection:
        return Connection(
            self._server.broker,
            peer=peer,
            client_host=client_host,
            listener=self.listener,
            write=self._write,
            close=self._close,
        )

    def _write(self, data: bytes) -> None:
        self.active_at = (
            self._server.clock.turn_began
        )  # not now(): the clock would be asked for each answer
        self.transport.write(data)
        if self.unsent:
            self.count_unsent()

    def get_buffer(self, sizehint: int) -> memoryview:
        server = self._server
        return (
            server.small_buffer
            if server.input.full and not self.favoured
            else server.receive_buffer
        )

    def buffer_updated(self, nbytes: int) -> None:
        server = self._server
        connection = self.connection
        self.active_at = now = server.now()
        server.clock.turn_began = now
        server.catch_up(now)
        connection.receive(server.receive_buffer[:nbytes], now)
        if connection.kept is None:
            self.favoured = False
        elif not self.wants_bytes:
            self.transport.pause_reading()
            server.unread.add(self)
        server.settle(now)

    @property
    def wants_bytes(self) -> bool:
        """True if the socket should be read: not while much waits here, nor for an unfinished
        request while such requests fill the memory bound.
        """
        if not self.connection.wants_bytes:
            return False
        return self.favoured or not self._server.input.full or self.connection.kept is None

    def resume_reading(self) -> None:
        """Read again."""
        self._server.unread.discard(self)
        self.transport.resume_reading()

    def end(self) -> None:
        """Handle no further request; send queued answers if the client reads them soon, then close."""
        self.connection.lost()
        self._server.unread.discard(self)
        self.transport.close()
        if self.unsent:
            self._server.loop.call_later(END_GRACE_S, self.transport.abort)

    def abort(self, why: str) -> None:
        """Close at once, and report the reason."""
        self._server.closed_connections.closed(self.connection.peer, why)
        self.connection.lost()
        self._server.unread.discard(self)
        self.transport.abort()

    def count_unsent(self) -> None:
        """Update the count of unsent bytes, here and for all connections."""
        size = self.transport.get_write_buffer_size()
        self.output.add(size - self.unsent)
        self.unsent = size

    def pause_writing(self) -> None:
        self.connection.pause()
        self.taken_at = self._server.now()
        self.count_unsent()

    def resume_writing(self) -> None:
        now = self._server.now()
        self.count_unsent()
        self._server.clock.turn_began = now
        self.connection.unpause(now)
        self._server.settle(now)

    def connection_lost(self, error: Exception | None) -> None:
        self.output.add(-self.unsent)
        self.unsent = 0
        self.connection.lost(self._server.now())
        self._server.gone(self)

    def _close(self, why: str, fault: Exception | None) -> None:
        self._server.closed_connections.closed(self.connection.peer, why, fault)
        self.end()
