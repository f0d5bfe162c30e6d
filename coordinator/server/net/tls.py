"""TLS on a listener: decrypts a socket's bytes for the connection, and encrypts its answers.

The library's `SSLObject` works on memory, so on any loop; an idle connection holds no buffer,
and a handshake takes its turn like a request. TLS 1.2 and newer (TLS-1); bytes that are not TLS
close the connection with one line; a waiting handshake is closed by connections.max.idle.ms
only, as in Kafka. Does not know where certificates come from.
"""

from __future__ import annotations

import asyncio
import ssl
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

from ..connections.secured import SecuredConnection
from ..security.distinguished_names import distinguished_name
from ..security.handshakes import Disturbance
from .secured import SecuredProtocol

if TYPE_CHECKING:
    from ..security.handshakes import Handshake
    from ..security.listeners import ListenerSecurity
    from ..security.security import Security
    from .server import Server

_READ_BYTES = 1 << 14  # a record has no more
_TLS_HANDSHAKE = 0x16
_HANDSHAKE_FAILURE = b"\x15\x03\x03\x00\x02\x02\x28"
"""The alert of a server that will not go on."""


class Certificates(Protocol):
    """Interface of the source of SSL contexts. It is asked for each handshake, so that a
    certificate can be replaced.
    """

    @property
    def ca_file(self) -> str:
        """Path of the certificate of the authority that clients must trust."""

    def context(self, listener: ListenerSecurity) -> ssl.SSLContext:
        """Return the SSL context for the next handshake."""

    def close(self) -> None:
        """Remove the files that were created."""


class TlsProtocol(SecuredProtocol):
    """asyncio protocol of a connection with TLS."""

    __slots__ = ("_arrived", "_incoming", "_outgoing", "_shaken", "_tls", "_waits")

    def __init__(
        self,
        server: Server,
        security: Security,
        settings: ListenerSecurity,
        certificates: Certificates,
    ) -> None:
        super().__init__(server, security, settings)
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = certificates.context(settings).wrap_bio(
            self._incoming, self._outgoing, server_side=True
        )
        self._shaken = False
        self._arrived = False  # the first byte
        self._waits: asyncio.TimerHandle | None = None

    def buffer_updated(self, nbytes: int) -> None:
        server = self._server
        self.active_at = now = server.now()
        server.clock.turn_began = now
        data = server.receive_buffer[:nbytes]
        if self.connection.closed:
            return
        if not self._arrived:
            self._arrived = True
            if data[0] != _TLS_HANDSHAKE:
                self._fail(f"this is no TLS hello; the listener {self.listener} speaks TLS only")
                return
            disturbed = self._security.next_handshake()
            if disturbed is not None:
                self._disturb(disturbed, bytes(data))
                return
        self._came(data, now)

    def _came(self, data: bytes | memoryview, now: int) -> None:
        server = self._server
        self._incoming.write(data)
        server.catch_up(now)
        try:
            if not self._shaken:
                self._tls.do_handshake()
                self._shaken = True
                self._greet()
            self._read(now)
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            pass
        except ssl.SSLZeroReturnError:  # the client said good-bye
            self.end()
        except ssl.SSLError as error:
            self._send()  # the alert that says why
            self._fail(
                f"TLS {'was broken' if self._shaken else 'handshake failed'}: {error.reason or error}"
            )
        self._send()
        server.settle(now)

    def _disturb(self, disturbed: Handshake, hello: bytes) -> None:
        """Apply an injected fault to this handshake."""
        if disturbed.how is Disturbance.DELAY:
            self.transport.pause_reading()
            self._waits = self._server.loop.call_later(
                disturbed.delay_ms / 1000, self._go_on, hello
            )
            return
        if disturbed.how is Disturbance.REFUSE:
            super()._write(_HANDSHAKE_FAILURE)
        else:
            self._incoming.write(hello)
            with suppress(ssl.SSLError):
                self._tls.do_handshake()
            answer = self._outgoing.read()
            super()._write(answer[: len(answer) // 2])
        self._fail(f"TLS handshake {disturbed.how.value} (asked for by the testing kit)")

    def _go_on(self, hello: bytes) -> None:
        """Continue a delayed handshake."""
        self._waits = None
        if not self.connection.closed and not self.transport.is_closing():
            self.transport.resume_reading()
            self._came(hello, self._server.now())

    def connection_lost(self, error: Exception | None) -> None:
        if self._waits is not None:
            self._waits.cancel()
        super().connection_lost(error)

    def _greet(self) -> None:
        """Set the principal after the handshake, from the client's certificate if there is one."""
        certificate = self._tls.getpeercert(binary_form=True)
        if certificate is not None:
            connection = self.connection
            assert isinstance(connection, SecuredConnection)
            connection.showed_certificate(distinguished_name(certificate), self._server.now())

    def _read(self, now: int) -> None:
        """Pass decrypted bytes on, until `SSLWantReadError`."""
        while not self.connection.closed:
            data = self._tls.read(_READ_BYTES)
            if not data:
                raise ssl.SSLZeroReturnError
            self.connection.receive(data, now)
            if self.connection.kept is None:
                self.favoured = False
            elif not self.wants_bytes and self not in self._server.unread:
                self.transport.pause_reading()
                self._server.unread.add(self)

    def _write(self, data: bytes) -> None:
        self._tls.write(data)
        self._send()

    def _send(self) -> None:
        data = self._outgoing.read()
        if data and not self.transport.is_closing():
            super()._write(data)

    def _fail(self, why: str) -> None:
        connection = self.connection
        assert isinstance(connection, SecuredConnection)
        connection.fail(why, self._server.now())

    def end(self) -> None:
        if self._shaken and not self.transport.is_closing():
            try:
                self._tls.unwrap()  # says good-bye; the answer is not waited for
            except ssl.SSLError:
                pass
            self._send()
        super().end()
