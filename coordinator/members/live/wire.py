"""One TCP connection of a client: the asyncio protocol around a `Channel`.

Owns the socket and its end. All connections of a fleet share one receive buffer, which is empty
again when a call returns. Does not know requests.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from secrets import token_hex
from typing import TYPE_CHECKING, Any, NamedTuple

from coordinator.base.version import __version__
from coordinator.wire.primitives import WireError
from coordinator.wire.schema import Request, Response

from ..connections.channel import Channel
from ..requests import Unsupported

if TYPE_CHECKING:
    from ssl import SSLContext

    from ..connections.login import Credentials, Login

_NONCE_BYTES = 18
Answered = Callable[[Any, "Response | Unsupported"], None]
Lost = Callable[["Wire", list[Any], str], None]


class Entry(NamedTuple):
    """Access to a listener with security: TLS context and credentials."""

    tls: SSLContext | None = None
    credentials: Credentials | None = None

    def login(self) -> Login | None:
        """Return a new login for a connection, or None without credentials."""
        if self.credentials is None:
            return None
        from ..connections.login import Login

        return Login(self.credentials, token_hex(_NONCE_BYTES))


class Wire(asyncio.BufferedProtocol):
    """A connection. `answered` is called with each answer and its context, `lost` once at the end,
    with the contexts of unanswered requests.
    """

    __slots__ = (
        "_among",
        "_answered",
        "_buffer",
        "_ended",
        "_lost",
        "_tls",
        "_why",
        "channel",
        "transport",
    )

    def __init__(
        self,
        client_id: str,
        buffer: memoryview,
        answered: Answered,
        lost: Lost,
        entry: Entry | None = None,
        among: set[Wire] | None = None,
    ) -> None:
        """`entry`: TLS and credentials, if the broker requires them. `among`: a set that contains
        the connection while it is open.
        """
        self._among = among
        self._tls = None if entry is None else entry.tls
        self.channel = Channel(
            client_id, __version__, login=None if entry is None else entry.login()
        )
        self.transport: Any = None  # asyncio.Transport; uvloop's has no base class in common
        self._buffer = buffer
        self._answered = answered
        self._lost = lost
        self._why = "the broker closed the connection"
        self._ended = False

    async def connect(
        self, loop: asyncio.AbstractEventLoop, host: str, port: int, timeout_s: float
    ) -> None:
        """Open the connection. Raises OSError (TimeoutError included)."""
        async with asyncio.timeout(timeout_s):
            await loop.create_connection(
                lambda: self, host, port, ssl=self._tls, server_hostname=host if self._tls else None
            )

    @property
    def is_open(self) -> bool:
        """True if it is connected and not being closed."""
        return self.transport is not None and not self._ended

    def ask(self, message: Request, context: Any) -> None:
        """Send a request, or keep it until the connection is open. Raises Unsupported, WireError."""
        self.channel.ask(message, context)
        if self.transport is not None:
            self.flush()

    def flush(self) -> None:
        """Write the queued frames."""
        if self.channel.output and not self._ended:
            output = self.channel.output
            self.transport.write(output[0] if len(output) == 1 else b"".join(output))
            output.clear()

    def close(self, why: str = "closed") -> None:
        """Close the connection without notifying its owner."""
        self._ended = True
        self._why = why
        if self.transport is not None:
            self.transport.close()

    def abort(self) -> None:
        """Abort the connection without flushing."""
        self._ended = True
        if self.transport is not None:
            self.transport.abort()

    # -- asyncio's calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        if self._ended:
            self.transport.close()
            return
        if self._among is not None:
            self._among.add(self)
        sock = transport.get_extra_info("socket")
        if sock is not None:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.flush()

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        if self._ended:
            return
        try:
            answers = self.channel.receive(self._buffer[:nbytes])
        except WireError as error:
            self._fail(f"the broker sent what is no answer: {error}")
            return
        self.flush()
        for context, answer in answers:
            self._answered(context, answer)

    def connection_lost(self, error: Exception | None) -> None:
        if self._among is not None:
            self._among.discard(self)
        if not self._ended:
            self._fail(str(error) if error else self._why)

    def _fail(self, why: str) -> None:
        self._ended = True
        self.transport.close()
        self._lost(self, self.channel.unanswered(), why)
