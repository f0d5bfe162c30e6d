"""One connection as bytes: frames in, answers out, in order, one request at a time.

Kafka's rules for a connection are kept here (META-4, VER-16):
- a request that is parked mutes its own connection; later frames wait undecoded until it is answered;
- nothing is allocated because a length says so: the buffer grows only with bytes that came;
- bytes that are no request the broker serves close this connection without an answer, and `close` is told why. ApiVersions
  of an unknown version is answered in version 0 with what is known; trailing bytes, unknown tagged fields and odd client ids
  are forgiven.

Answers of one call of `receive` leave in one `write`. Refuses to know sockets and clocks (the driver gives `write` and
`close`, and tells the time) and what requests mean.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from typing import TYPE_CHECKING

from ..interceptors import Answer, Hold, consult
from ..wire.framing import MIN_FRAME_BYTES, parse_request_header
from ..wire.primitives import WireError
from . import apis, wire_log
from .core import CLOSE, NO_RESPONSE, Call, Encoded, NoRequest, Special

if TYPE_CHECKING:
    from ..wire.schema import Message
    from .core import Broker

_SIZE = Struct(">i")
_HEAD = Struct(">ii")  # size, correlation id
_FLEXIBLE_HEAD = Struct(">iib")  # the same and no tagged fields
_BUFFERED_ENOUGH = 1 << 16
"""A muted connection that has more than this waiting should not be read from."""
_LARGE_BODY = 4096
_MANY_ANSWERS = 256
"""Answers are gathered into one write up to this; what has been written can pause the connection (`pause`)."""
_UNSUPPORTED_VERSION_BODY = bytes.fromhex("0023 00000001 0012 0000 0004")
"""ApiVersions v0: error 35 and one entry, ApiVersions 0 to 4."""


Close = Callable[[str, Exception | None], None]


class Connection:
    """One client's connection to a broker. The driver calls `receive`, `lost`, `pause` and `unpause`."""

    __slots__ = (
        "_api", "_broker", "_buffer", "_call", "_close", "_correlation_id", "_needed", "_output", "_paused", "_token", "_write",
        "client_host", "closed", "listener", "peer",
    )  # fmt: skip

    def __init__(
        self, broker: Broker, *, peer: str, client_host: str, listener: str, write: Callable[[bytes], None], close: Close,
    ) -> None:
        self.peer = peer
        self.client_host = client_host
        self.listener = listener
        self.closed = False
        self._broker = broker
        self._write = write
        self._close = close
        self._buffer: bytearray | None = None  # bytes not handled yet
        self._needed = 0  # so many must be in it before its first frame is whole
        self._output: list[bytes] = []
        self._paused = False
        # The one request in hand, while it is parked:
        self._token: int | None = None
        self._api: apis.Api | None = None
        self._correlation_id = 0
        self._call: Call | None = None

    # -- what the driver calls ---------------------------------------------------------------------------------------

    def receive(self, data: bytes | memoryview, now: int) -> None:
        """Take bytes, handle every whole request in them, write the answers.

        `data` is copied as far as it is kept. Call `Broker.run_resumable` afterwards: other connections may have been freed.
        """
        if self.closed:
            return
        if self._buffer is not None:
            self._buffer += data
            if self._token is not None or self._paused or len(self._buffer) < self._needed:
                return
            data = bytes(self._buffer)
            self._buffer = None
        elif self._token is not None or self._paused:  # muted: what comes waits its turn
            self._buffer = bytearray(data)
            return
        self._handle_frames(bytes(data), now)

    def lost(self) -> None:
        """The socket is gone: whatever is parked is answered to nobody."""
        self.closed = True
        self._buffer = None
        if self._token is not None:
            self._broker.forget(self._token)

    def pause(self) -> None:
        """The client does not read its answers: handle nothing more until `unpause`."""
        self._paused = True

    def unpause(self, now: int) -> None:
        """The client reads again."""
        self._paused = False
        self.resume(now)

    @property
    def wants_bytes(self) -> bool:
        """Should the driver go on reading? Not while much is waiting behind a parked request or an unread answer."""
        if self._token is None and not self._paused:
            return True
        return self._buffer is None or len(self._buffer) < _BUFFERED_ENOUGH

    # -- what the broker calls ---------------------------------------------------------------------------------------

    def deliver(self, response: Message | Encoded) -> None:
        """Send the answer of the parked request. The next request waits for `resume`."""
        assert self._token is not None
        assert self._api is not None
        call = self._call
        assert call is not None
        self._token = self._call = None
        self._respond(self._api, call, self._correlation_id, response)
        self._flush()

    def resume(self, now: int) -> None:
        """Handle what came in while a request was parked."""
        if self._buffer is not None and self._token is None and not self._paused and not self.closed:
            data = bytes(self._buffer)
            self._buffer = None
            self._handle_frames(data, now)

    def release(self, now: int) -> None:
        """Handle the request that was held back, as if it came now."""
        assert self._api is not None
        assert self._call is not None
        api, call, correlation_id = self._api, self._call._replace(now=now), self._correlation_id
        self._token = self._call = None
        self._ask(api, call, correlation_id)
        self._flush()
        self.resume(now)

    # -- frames ------------------------------------------------------------------------------------------------------

    def _handle_frames(self, data: bytes, now: int) -> None:
        """Handle the whole frames of `data` until one is parked; keep the rest."""
        start = 0
        available = len(data)
        self._needed = 4
        while available - start >= 4:
            size: int = _SIZE.unpack_from(data, start)[0]
            if not MIN_FRAME_BYTES <= size <= self._broker.max_request_bytes:
                self._refuse(_strange_length(size, data[start : start + 16], self._broker.max_request_bytes))
                break
            end = start + 4 + size
            if end > available:
                self._needed = end - start
                break
            self._handle_frame(data[start + 4 : end], now)
            start = end
            if self._token is not None or self.closed or self._paused:
                self._needed = 4
                break
        if start < available and not self.closed:
            self._buffer = bytearray(data[start:] if start else data)
        self._flush()

    def _handle_frame(self, frame: bytes, now: int) -> None:
        """Decode one request and have it handled. Bad bytes close the connection."""
        try:
            header, at = parse_request_header(frame)
        except WireError as error:
            self._refuse(f"unreadable request header: {error}")
            return
        key, version, correlation_id, client_id = header
        api = apis.api(key)
        if api is None:
            self._refuse(f"{apis.title(key)} (key {key}) is not served")
            return
        if not api.lowest <= version <= api.highest:
            if key == apis.API_VERSIONS:
                self._output.append(_HEAD.pack(4 + len(_UNSUPPORTED_VERSION_BODY), correlation_id) + _UNSUPPORTED_VERSION_BODY)
            else:
                self._refuse(f"{apis.title(key)} v{version}: versions {api.lowest} to {api.highest} are served")
            return
        try:
            message = api.request.decode(version, frame, at)
        except WireError as error:
            self._refuse(f"{apis.title(key)} v{version}: {error}")
            return
        broker = self._broker
        cause = None if broker.log is None else wire_log.seen(broker, self.peer, api.name, version, client_id, message, now)
        call = Call(message, version, client_id, self.client_host, broker.next_token(), now, self.listener, cause)
        if broker.interceptors and self._intercepted(api, call, correlation_id):
            return
        self._ask(api, call, correlation_id)

    def _intercepted(self, api: apis.Api, call: Call, correlation_id: int) -> bool:
        """Ask the interceptors; True if one of them disposed of the request."""
        verdict = consult(self._broker.interceptors, call)
        if verdict is None:
            return False
        if isinstance(verdict, Answer):
            self._respond(api, call, correlation_id, verdict.response)
            return True
        self._park(api, call, correlation_id)
        if isinstance(verdict, Hold):
            self._broker.hold(call.token, call.now + verdict.duration_ms, self)
        return True

    def _ask(self, api: apis.Api, call: Call, correlation_id: int) -> None:
        """Give the request to its handler and queue the answer, or park it."""
        try:
            result = api.handle(self._broker, call)
        except NoRequest as error:
            self._refuse(f"{apis.title(api.key)} v{call.version}: {error}")
            return
        except Exception as error:
            self._refuse(f"{apis.title(api.key)} v{call.version}: failed here, which is the emulator's fault", error)
            return
        if result is None:
            self._park(api, call, correlation_id)
            self._broker.parked[call.token] = self
        elif isinstance(result, Special):
            if result is CLOSE:
                self._refuse(f"{apis.title(api.key)} v{call.version}: refused, and its client waits for no answer (acks=0)")
            else:
                assert result is NO_RESPONSE
        else:
            self._respond(api, call, correlation_id, result)

    def _park(self, api: apis.Api, call: Call, correlation_id: int) -> None:
        self._token = call.token
        self._api = api
        self._call = call
        self._correlation_id = correlation_id

    def _respond(self, api: apis.Api, call: Call, correlation_id: int, response: Message | Encoded) -> None:
        version = call.version
        try:
            body = response.body if isinstance(response, Encoded) else response.encode(version)
        except WireError as error:
            self._refuse(f"{apis.title(api.key)} v{version}: the answer cannot be encoded, which is the emulator's fault", error)
            return
        log = self._broker.log
        if log is not None:
            wire_log.answered(log, self.peer, api.name, call, response)
        if version >= api.flexible and api.key != apis.API_VERSIONS:  # ApiVersions: always header v0 (KIP-511)
            self._output.append(_FLEXIBLE_HEAD.pack(5 + len(body), correlation_id, 0) + body)
        else:
            self._output.append(_HEAD.pack(4 + len(body), correlation_id) + body)
        if len(body) > _LARGE_BODY or len(self._output) >= _MANY_ANSWERS:
            self._flush()

    def _flush(self) -> None:
        output = self._output
        if output:
            if self._broker.log is not None:
                self._broker.log.flush()  # the log never knows less than a client
            self._write(output[0] if len(output) == 1 else b"".join(output))
            output.clear()

    def _refuse(self, why: str, fault: Exception | None = None) -> None:
        """Close the connection, this one only; answers already queued go out first. `fault`: ours, to be shown whole."""
        self.closed = True
        self._buffer = None
        if self._broker.log is not None:
            wire_log.closed(self._broker.log, self.peer, why)
        self._flush()
        self._close(why, fault)


def _strange_length(size: int, start: bytes, most: int) -> str:
    """What to say of a frame whose length cannot be, and what such a peer usually is."""
    if start[:3] in (b"\x16\x03\x00", b"\x16\x03\x01", b"\x16\x03\x02", b"\x16\x03\x03"):
        return "this looks like a TLS hello; the listener speaks plaintext only"
    method = start.split(b" ", 1)[0]
    if method in (b"GET", b"POST", b"HEAD", b"PUT", b"DELETE", b"OPTIONS", b"PATCH", b"CONNECT", b"TRACE", b"PRI"):
        return f"this looks like an HTTP request ({method.decode()} ...); Kafka's protocol is spoken here"
    if size > most:
        return f"a frame of {size} bytes: {most} are allowed (socket.request.max.bytes)"
    return f"a frame of {size} bytes: a request has at least {MIN_FRAME_BYTES}"
