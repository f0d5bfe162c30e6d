"""Connections in memory: an asyncio protocol on one side, a broker's connection on the other.

Bytes arrive in order, `latency_s` of virtual time after they were sent. Each direction has one
timer, which is set for the first arrival. It must not know what is sent.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from contextvars import copy_context
from functools import partial
from typing import TYPE_CHECKING, Any

from coordinator.server import data_log
from coordinator.server.broker import Broker
from coordinator.server.connections.connection import Connection
from coordinator.server.connections.secured import SecuredConnection

if TYPE_CHECKING:
    from coordinator.server.security.listeners import ListenerSecurity

    from .turns import Turns


class _Way:
    """Bytes in flight in one direction, in order."""

    __slots__ = ("_arrived", "_handle", "_items", "_latency_s", "_turns")

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        turns: Turns,
        latency_s: float,
        arrived: Callable[[bytes | None], None],
    ) -> None:
        self._turns = turns
        self._latency_s = latency_s
        self._arrived = arrived
        self._items: deque[tuple[float, bytes | None]] = deque()
        self._handle = asyncio.TimerHandle(0, self._arrive, (), loop, copy_context())

    def send(self, data: bytes | None) -> None:
        """Send bytes, or (None) the end of the stream."""
        when = self._turns.time() + self._latency_s
        items = self._items
        items.append((when, data))
        if len(items) == 1:
            self._turns.set(self._handle, when)

    def _arrive(self) -> None:
        items, due_by = self._items, self._turns.due_by()
        try:
            while items and items[0][0] < due_by:
                self._arrived(items.popleft()[1])
        finally:
            if items:
                self._turns.set(self._handle, items[0][0])


class MemoryTransport(asyncio.Transport):
    """The client's end of a connection."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        turns: Turns,
        protocol: asyncio.BaseProtocol,
        broker: Broker,
        listener: str,
        settings: ListenerSecurity | None,
        number: int,
        latency_s: float,
        now: Callable[[], int],
        settle: Callable[[], None],
        ended: Callable[[MemoryTransport], None],
    ) -> None:
        peer = ("127.0.0.1", 30_000 + number)
        host, port = broker.cluster.brokers[broker.node_id].endpoints[listener]
        super().__init__({"peername": (host, port), "sockname": peer})
        self.broker = broker
        self._loop = loop
        self._protocol: Any = protocol
        self._to_broker = _Way(loop, turns, latency_s, self._reach_broker)
        self._to_client = _Way(loop, turns, latency_s, self._reach_client)
        self._now = now
        self._settle = settle
        self._ended = ended
        self._closing = False
        self._reading = True
        self._kept: list[bytes | None] = []
        self._frozen: list[bytes] | None = None  # what comes while the broker's process is paused
        make: Callable[..., Connection] = Connection
        if settings is not None and broker.security is not None:
            make = partial(SecuredConnection, security=broker.security, settings=settings)
        self.connection = make(
            broker,
            peer=f"{peer[0]}:{peer[1]}",
            client_host="/127.0.0.1",
            listener=listener,
            write=self._to_client.send,
            close=self._closed_by_broker,
        )
        data_log.opened(broker.log, broker.node_id, self.connection.peer, listener, now())

    # -- the client's calls

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if not self._closing:
            self._to_broker.send(bytes(data))

    def writelines(self, list_of_data: Any) -> None:
        self.write(b"".join(bytes(each) for each in list_of_data))

    def can_write_eof(self) -> bool:
        return False

    def write_eof(self) -> None:
        raise NotImplementedError("a connection in memory is closed as a whole")

    def get_write_buffer_size(self) -> int:
        return 0

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Do nothing, because no bytes wait in a buffer."""

    def is_closing(self) -> bool:
        return self._closing

    def is_reading(self) -> bool:
        return self._reading

    def pause_reading(self) -> None:
        self._reading = False

    def resume_reading(self) -> None:
        self._reading = True
        kept, self._kept = self._kept, []
        for data in kept:
            self._reach_client(data)

    def get_protocol(self) -> asyncio.BaseProtocol:
        protocol: asyncio.BaseProtocol = self._protocol
        return protocol

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        self._protocol = protocol

    def close(self) -> None:
        if not self._closing:
            self._closing = True
            self._to_broker.send(None)
            self._loop.call_soon(self._protocol.connection_lost, None)

    def abort(self) -> None:
        self.close()

    # -- what is on its way

    def _reach_broker(self, data: bytes | None) -> None:
        if data is None:
            self._lost_by_client()
        elif self._frozen is not None:
            self._frozen.append(data)
        elif not self.connection.closed:
            self.connection.receive(data, self._now())
            self._settle()

    def freeze(self) -> None:
        """Stop reading, as a paused broker process does."""
        self._frozen = self._frozen or []

    def thaw(self) -> None:
        """Continue to read, beginning with the bytes that arrived meanwhile."""
        frozen, self._frozen = self._frozen or [], None
        for data in frozen:
            self._reach_broker(data)

    def cut(self) -> None:
        """End the connection because the client's process has ended; bytes that the broker has
        not read are lost."""
        self._lost_by_client()

    def _lost_by_client(self) -> None:
        if not self.connection.closed:
            data_log.closed(
                self.broker.log,
                self.broker.node_id,
                self.connection.peer,
                self.connection.client_id,
                self._now(),
            )
            self.connection.lost(self._now())
            self._settle()
        self._ended(self)

    def _reach_client(self, data: bytes | None) -> None:
        if self._closing:
            return
        if not self._reading:
            self._kept.append(data)
        elif data is None:
            self.reset()
        elif isinstance(self._protocol, asyncio.BufferedProtocol):
            view = memoryview(data)
            while view:
                room = memoryview(self._protocol.get_buffer(len(view)))
                count = min(len(room), len(view))
                room[:count] = view[:count]
                self._protocol.buffer_updated(count)
                view = view[count:]
        else:
            self._protocol.data_received(data)

    def _closed_by_broker(self, why: str, fault: Exception | None) -> None:
        if fault is not None:
            raise fault
        self._to_client.send(None)  # after the answers that are on their way

    def reset(self) -> None:
        """End the connection at once; bytes in transit are lost."""
        if not self._closing:
            self._closing = True
            if not self.connection.closed:
                data_log.closed(
                    self.broker.log,
                    self.broker.node_id,
                    self.connection.peer,
                    self.connection.client_id,
                    self._now(),
                )
                self.connection.lost()
            self._ended(self)
            self._loop.call_soon(self._protocol.connection_lost, None)
