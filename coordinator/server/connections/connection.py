"""One connection as bytes: frames in, answers out, in order, one request at a time.

Kafka's rules for a connection (META-4, VER-16):
- a parked request mutes its own connection; later frames wait undecoded until it is answered;
- memory is allocated for received bytes only, never because a length field says so;
- a connection handles a bounded number of requests in a row and then yields to others; answers that
  may be large wait unencoded while clients have not read earlier ones (`Broker.output`), and an
  answer that is too large closes its connection;
- bytes that are no request the broker serves close the connection without an answer; `close` gets
  the reason. ApiVersions of an unknown version is answered in version 0; trailing bytes, unknown
  tagged fields and invalid client ids are accepted.

The answers of one `receive` call leave in one `write`. Does not know sockets, clocks (the driver
passes the time) or the meaning of requests; `exchange` processes one request.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from typing import TYPE_CHECKING

from coordinator.base.slices import uncollected
from coordinator.wire.framing import MIN_FRAME_BYTES, read_request_header
from coordinator.wire.primitives import WireError

from .. import apis
from ..client_links import THROTTLED
from ..fetching.repeated import MOST_BYTES, MOST_REQUESTS
from ..requests.call import Encoded, Unread
from ..requests.large_requests import LARGE_REQUEST_BYTES
from . import wire_log
from .exchange import HEAD, Exchange
from .strange_frames import strange_length

if TYPE_CHECKING:
    from coordinator.wire.schema import Message

    from ..broker import Broker

_SIZE = Struct(">i")
_KEY = Struct(">h")
_BUFFERED_ENOUGH = 1 << 16
"""A muted connection that has more than this waiting should not be read from."""
_FRAMES_A_TURN = 256
"""So many requests of one connection are handled in a row; then others have their turn."""
_NOT_KNOWN = (-1, None)
CloseConnection = Callable[[str, Exception | None], None]


class Connection(Exchange):
    """One client's connection to a broker. The driver calls `receive`, `lost`, `pause` and
    `unpause`.
    """

    __slots__ = ("_apis", "_close", "_interrupted", "_needed", "kept")

    def __init__(
        self,
        broker: Broker,
        *,
        peer: str,
        client_host: str,
        listener: str,
        write: Callable[[bytes], None],
        close: CloseConnection,
    ) -> None:
        super().__init__(broker, peer, client_host, listener, write)
        self._close = close
        self._apis = apis.served_by(broker)
        self.kept: bytearray | None = None
        """Bytes that are not handled yet."""
        self._needed = 0  # so many must be in it before its first frame is whole
        self._interrupted = False  # whole frames wait, for room or for the next turn

    # -- what the driver calls

    def receive(self, data: bytes | memoryview, now: int) -> None:
        """Take received bytes, handle every whole request in them, and write the answers.

        `data` is copied as far as it is kept. Call `Broker.run_resumable` afterwards: other
        connections may be able to continue.
        """
        if self.closed:
            return
        if self.kept is not None:
            self.kept += data
            self._broker.turns.input.add(len(data))
            if (
                self._token is not None
                or self._paused
                or self._interrupted
                or len(self.kept) < self._needed
            ):
                return
            data = self._take()
        elif self._token is not None or self._paused:  # muted: what comes waits its turn
            self._keep(data)
            return
        self._handle_frames(bytes(data), now)

    def lost(self, now: int | None = None) -> None:
        """Discard the connection's state after its socket closed; a parked request is not answered.
        `now` None: the broker itself has ended, so no client is logged as disconnected.
        """
        if now is not None and not self.closed and self._speaks_for is not None:
            wire_log.member_disconnected(
                self._broker, self.peer, self.client_id, self._speaks_for, now
            )
        self.closed = True
        self._take()
        self._ready = self._work = None
        self._broker.turns.output.leave(self)
        self._leave_lane()
        if self._token is not None:
            self._broker.forget(self._token)
        if self._paused & THROTTLED:
            self._broker.forget(self._measured)
        self._broker.services.connection_lost(self.peer)

    def pause(self, why: int = 1) -> None:
        """Handle no further request until `unpause` with the same reason: the client does not read
        its answers, or its link is cut.
        """
        self._paused |= why

    def unpause(self, now: int, why: int = 1) -> None:
        """Remove one reason for the pause, and continue if it was the last."""
        self._paused &= ~why
        self._flush()
        if self._work is None:
            self.resume(now)

    @property
    def wants_bytes(self) -> bool:
        """True if the driver should keep reading: not while many bytes wait behind a parked request
        or an unread answer.
        """
        if self._token is None and not self._paused and not self._interrupted:
            return True
        return self.kept is None or len(self.kept) < _BUFFERED_ENOUGH

    @property
    def missing_bytes(self) -> int:
        """The number of bytes that the current request lacks; 0 if no request has begun, or whole
        requests wait for their turn.
        """
        if self.kept is None or self._token is not None or self._paused or self._interrupted:
            return 0
        return max(0, self._needed - len(self.kept))

    # -- what the broker calls

    def deliver(self, response: Message | Encoded | Unread, now: int) -> None:
        """Send the answer of the parked request, or keep it until there is room. The next request
        waits for `resume`.
        """
        assert self._token is not None
        assert self._api is not None
        if (
            self._paused
            or not self._has_room(self._api)
            or (isinstance(response, Unread) and not self._broker.turns.may_wake())
        ):
            self._ready = response
        else:
            self._send_parked(response, now)

    def _send_parked(self, response: Message | Encoded | Unread, now: int) -> None:
        api, call = self._api, self._call
        assert api is not None and call is not None
        self._token = self._call = None
        try:
            made = response.make() if isinstance(response, Unread) else response
        except Exception as error:
            self._refuse(
                f"{apis.title(api.key)} v{call.version}: failed here, which is the emulator's fault",
                now,
                error,
            )
            return
        self._respond(api, call, self._correlation_id, made, now)
        self._flush()

    def _has_room(self, api: apis.Api) -> bool:
        """Return True if an answer of this API may be encoded now; if not, `resume` is called when
        there is room.
        """
        output = self._broker.turns.output
        if not output.full or api.name not in apis.MAY_BE_LARGE:
            return True
        output.wait(self)
        return False

    def resume(self, now: int) -> None:
        """Continue a large request, send an answer that waited for room, and handle requests
        received meanwhile.
        """
        if self._work is not None:
            uncollected(self._go_on, now)
            self._flush()
            if self._work is None:
                self._leave_lane()
        if self._ready is not None and not self._paused and not self.closed:
            assert self._api is not None
            if not self._has_room(self._api):
                return
            if isinstance(self._ready, Unread) and not self._broker.turns.may_wake():
                self._broker.turns.postpone(self)
                return
            ready, self._ready = self._ready, None
            self._send_parked(ready, now)
        if self.kept is not None and self._token is None and not self._paused and not self.closed:
            self._handle_frames(self._take(), now)
        elif self._broker.turns.lane.owner is self and self._work is None:
            self._leave_lane()

    def release(self, now: int) -> None:
        """Continue a request or an answer that an interceptor held, as if it arrived now."""
        assert self._api is not None and self._call is not None
        api, call, correlation_id = self._api, self._call._replace(now=now), self._correlation_id
        then, self._then = self._then, None
        self._token = self._call = None
        self._carry_out(then, api, call, correlation_id, now)
        self._flush()
        self.resume(now)

    # -- frames

    def _handle_frames(self, data: bytes, now: int) -> None:
        """Handle the whole frames of `data` until one is parked; keep the remaining bytes."""
        start, available = 0, len(data)
        self._needed = 4
        self._interrupted = False
        left = _FRAMES_A_TURN
        turns = self._broker.turns
        while available - start >= 4:
            size: int = _SIZE.unpack_from(data, start)[0]
            if not MIN_FRAME_BYTES <= size <= turns.max_request_bytes:
                self._refuse(
                    strange_length(size, data[start : start + 16], turns.max_request_bytes),
                    now,
                )
                break
            end = start + 4 + size
            if end > available:
                self._needed = end - start
                break
            if start and (not left or (not left & 3 and turns.is_over())):
                self._interrupted = True
                turns.postpone(self)
                break
            if turns.output.full and self._must_wait(data, start):
                self._interrupted = True
                break
            if size > LARGE_REQUEST_BYTES:
                if not turns.lane.take(self):
                    self._interrupted = True
                    break
                uncollected(self._handle_frame, data[start + 4 : end], now)
            else:
                self._handle_frame(data[start + 4 : end], now)
            left -= 1
            start = end
            if self._token is not None or self.closed or self._paused:
                self._needed = 4
                break
        if start < available and not self.closed:
            self._keep(data[start:] if start else data)
        self._flush()
        if turns.lane.owner is self and self._work is None:
            self._leave_lane()

    def _must_wait(self, data: bytes, start: int) -> bool:
        """Return True if the next request's answer may be large and there is no room for one."""
        api = self._apis[_KEY.unpack_from(data, start + 4)[0]]
        return api is not None and not self._has_room(api)

    def _keep(self, data: bytes | memoryview) -> None:
        self.kept = bytearray(data)
        self._broker.turns.input.add(len(data))

    def _take(self) -> bytes:
        """Return the kept bytes and release them."""
        data = b"" if self.kept is None else bytes(self.kept)
        self.kept = None
        self._broker.turns.input.add(-len(data))
        return data

    def _handle_frame(self, frame: bytes, now: int) -> None:
        """Decode and handle one request. Invalid bytes close the connection."""
        try:
            key, version, correlation_id, client_id, at = read_request_header(frame)
        except WireError as error:
            self._refuse(f"unreadable request header: {error}", now)
            return
        self.client_id = client_id
        api = self._apis[key]
        if api is None:
            why, first = self._broker.unserved.closing(
                self._broker.log, client_id, self.peer, key, apis.title(key), version, now
            )
            self._refuse(why, now, tell=first)
            return
        if not api.lowest <= version <= api.highest:
            if key == apis.API_VERSIONS:
                body = self._apis.unsupported_version_body
                self._output.append(HEAD.pack(4 + len(body), correlation_id) + body)
            else:
                self._refuse(
                    f"{apis.title(key)} v{version}: versions {api.lowest} to {api.highest} are served",
                    now,
                )
            return
        if len(frame) > LARGE_REQUEST_BYTES:
            self.large = True
            self._decode_in_slices(api, version, correlation_id, client_id, frame, at, now)
            if self._work is None:
                self.large = False
            return
        broker = self._broker
        if key == apis.FETCH and broker.repeated_fetches is not None and not broker.interceptors:
            body = frame[at:]
            known, message = self._fetches.get(body, _NOT_KNOWN)
            if known == version:
                self._decoded(api, version, correlation_id, client_id, message, frame, now)
                return
        else:
            body = b""
        try:
            message = api.decode(version, frame, at)
        except WireError as error:
            self._refuse(f"{apis.title(key)} v{version}: {error}", now)
            return
        if body and len(body) <= MOST_BYTES:
            if len(self._fetches) >= MOST_REQUESTS:
                self._fetches.clear()
            self._fetches[body] = (version, message)
        self._decoded(api, version, correlation_id, client_id, message, frame, now)

    def _leave_lane(self) -> None:
        """Let the next connection process its large request."""
        self.large = False
        following = self._broker.turns.lane.leave(self)
        if following is not None:
            self._broker.turns.postpone(following)

    def _refuse(
        self, why: str, now: int, fault: Exception | None = None, *, tell: bool = True
    ) -> None:
        """Close the connection after the answers already queued. `fault`: an exception to show with
        its traceback. `tell` False: do not report it to the user again.
        """
        self.closed = True
        self._take()
        if self._broker.log is not None:
            wire_log.closed(self._broker.log, self.peer, why, now)
        self._flush()
        self._close(why if tell else "", fault)
