"""A raw connection: one message out by name, version and plain fields; one answer back as a plain
dict.

Owns the socket, the correlation ids and the order of answers. Plain values are those of the test
vectors: the protocol's snake_case names, hex text for bytes and uuids. It does not depend on what
any answer means, retries nothing and follows nothing: a closed connection is a fact to be recorded,
never repaired. No call waits beyond the connection's deadline, whatever the peer does.
"""

from __future__ import annotations

import math
import socket
import struct
import time
from collections import deque
from typing import Any, NamedTuple, Protocol

Plain = dict[str, Any]

PATIENCE_MS = 15_000
"""How long an answer that must come may take."""

CONNECT_MS = 5_000


class Codec(Protocol):
    """What a connection needs to know of the protocol's schemas."""

    def key(self, api: str) -> int:
        """The API key of the API so named."""

    def spoken(self, api: str, version: int) -> int:
        """The version that is sent where a scenario asks for one."""

    def header_versions(self, api: str, version: int) -> tuple[int, int]:
        """The versions of the request's and the response's header."""

    def encode(self, api: str, version: int, fields: Plain) -> bytes:
        """The request's body; fields not given take the protocol's defaults."""

    def decode(self, api: str, version: int, body: bytes) -> Plain:
        """The response's body as plain values."""


class Closed(Exception):
    """The peer closed the connection while an answer was awaited."""


class Silent(Exception):
    """No answer came within the time allowed."""


class OutOfTime(Exception):
    """The deadline passed that a connection was given."""


class Awaited(NamedTuple):
    """A request sent and not answered yet."""

    correlation_id: int
    api: str
    version: int


class RawConnection:
    """One TCP connection to `address` ("host:port"); blocking, for one thread.

    `deadline` is an instant of time.monotonic(), in seconds: any call that would wait longer raises
    OutOfTime.
    """

    def __init__(
        self, address: str, codec: Codec, client_id: str | None = "raw", deadline: float = math.inf
    ) -> None:
        self._deadline = deadline
        host, port = address.rsplit(":", 1)
        self._socket = socket.create_connection(
            (host, int(port)), min(CONNECT_MS / 1000, self._left())
        )
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._codec = codec
        self._client_id = client_id
        self._received = bytearray()
        self._correlation_id = 0
        self._awaited: deque[Awaited] = deque()

    def send(self, api: str, version: int, fields: Plain) -> None:
        """Send a request and leave it parked: `receive` brings its answer later."""
        body = self._codec.encode(api, version, fields)
        self.send_body(api, version, body)

    def send_body(self, api: str, version: int, body: bytes, *, answered: bool = True) -> None:
        """Send a request whose body is given as bytes; `answered` False when no answer is to be
        awaited."""
        request_header, _ = self._codec.header_versions(api, version)
        self._correlation_id += 1
        frame = self.header(self._codec.key(api), version, request_header) + body
        self.send_bytes(struct.pack(">i", len(frame)) + frame)
        if answered:
            self._awaited.append(Awaited(self._correlation_id, api, version))

    def header(self, key: int, version: int, header_version: int) -> bytes:
        """A request header with the connection's client id and latest correlation id."""
        client = (
            b"\xff\xff"
            if self._client_id is None
            else struct.pack(">h", len(self._client_id.encode())) + self._client_id.encode()
        )
        return (
            struct.pack(">hhi", key, version, self._correlation_id)
            + client
            + (b"\x00" if header_version >= 2 else b"")
        )

    def send_bytes(self, data: bytes) -> None:
        """Send bytes as they are, no frame put around them. A peer that has hung up is noticed by
        the next read."""
        self._socket.settimeout(min(PATIENCE_MS / 1000, self._left()))
        try:
            self._socket.sendall(data)
        except OSError:
            self._left()

    def receive(self, timeout_ms: int = PATIENCE_MS) -> tuple[Awaited, Plain]:
        """The answer to the oldest unanswered request.

        Raises `Silent` after `timeout_ms`, `Closed` when the peer hung up, AssertionError on an
        answer out of order.
        """
        frame = self.receive_frame(timeout_ms)
        awaited = self._awaited.popleft()
        assert int.from_bytes(frame[:4], "big", signed=True) == awaited.correlation_id, (
            "answers must keep the order of requests"
        )
        _, response_header = self._codec.header_versions(awaited.api, awaited.version)
        start = 4
        if response_header >= 1:
            assert frame[4] == 0, "no tagged field is defined for response headers"
            start = 5
        return awaited, self._codec.decode(awaited.api, awaited.version, bytes(frame[start:]))

    def receive_frame(self, timeout_ms: int = PATIENCE_MS) -> bytes:
        """The next frame without its size. Raises `Silent` or `Closed`."""
        deadline = time.monotonic() + timeout_ms / 1000
        while True:
            left = self._left()
            if len(self._received) >= 4:
                size = int.from_bytes(self._received[:4], "big")
                if len(self._received) >= 4 + size:
                    frame = bytes(self._received[4 : 4 + size])
                    del self._received[: 4 + size]
                    return frame
            self._socket.settimeout(min(max(deadline - time.monotonic(), 0.001), left))
            try:
                data = self._socket.recv(1 << 20)
            except TimeoutError:
                self._left()
                raise Silent from None
            except ConnectionError:
                raise Closed from None
            if not data:
                raise Closed
            self._received += data

    def _left(self) -> float:
        """Seconds until the deadline, above 0. Raises OutOfTime."""
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise OutOfTime
        return left

    def poll(self, timeout_ms: int) -> bool:
        """Is a whole frame there, or does one come within the time? Raises `Closed`."""
        try:
            frame = self.receive_frame(timeout_ms)
        except Silent:
            return False
        self._received[:0] = struct.pack(">i", len(frame)) + frame
        return True

    def forget(self) -> None:
        """Await no longer the oldest unanswered request (one that is known never to be
        answered)."""
        self._awaited.popleft()

    def half_close(self) -> None:
        """Say that nothing more will be sent."""
        self._socket.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        """Hang up."""
        self._socket.close()
