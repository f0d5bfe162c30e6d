"""One request of a connection, from the bytes of its body to the bytes of its answer.

Owns decoding, the interceptors' verdict, the call of the handler, parking, and encoding of the
answer. A large request does all that in slices (`coordinator.server.requests.large_requests`). A
connection processes one request at a time (META-4). Does not know frames, sockets or clocks (it
is passed the time); `connection` cuts the frames.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from struct import Struct
from typing import TYPE_CHECKING, Any, Self, TypeVar

from coordinator.base.slices import after_first
from coordinator.wire.primitives import ResponseTooLarge, WireError
from coordinator.wire.schema import Message

from .. import apis
from ..client_links import LINK_IS_CUT, THROTTLED
from ..interceptors import Answer, Close, Drop, Handle, Hold, InterceptorError, changed, consult
from ..requests.call import (
    ANONYMOUS,
    CLOSE,
    NO_RESPONSE,
    Call,
    Encoded,
    NoRequest,
    Sliced,
    Special,
    Unread,
)
from . import wire_log

if TYPE_CHECKING:
    from coordinator.base.slices import Slices

    from ..broker import Broker
    from ..interceptors import Interceptor, Outgoing, Verdict
    from ..requests.call import Result

T = TypeVar("T")
HEAD = Struct(">ii")
"""Size and correlation id."""
_FLEXIBLE_HEAD = Struct(">iib")  # no tagged fields
_LARGE_BODY = 4096
_MANY_ANSWERS = 256
"""Answers are gathered into one write up to this; what has been written can pause the connection
(`pause`)."""
_SIGNS_OF_LIFE = frozenset(
    {
        "join_group",
        "sync_group",
        "heartbeat",
        "consumer_group_heartbeat",
        "share_group_heartbeat",
    }
)
"""Requests of a member that names itself."""
_IN_SLICES = 0
"""Stands for the token of a request while it is handled in slices: the connection is muted, and no
response can be sent."""


class Twice(Encoded):
    """Answer that an interceptor wants to be sent twice. It counts as encoded, so it is not
    checked.
    """

    message: Message | Encoded

    def __new__(cls, message: Message | Encoded) -> Self:
        self = super().__new__(cls, b"")
        self.message = message
        return self


class Exchange:
    """State of the request that a connection is processing: waiting for the handler, delayed by a
    fault, or ready to be sent.
    """

    principal: str = ANONYMOUS
    """The client's principal."""

    __slots__ = (
        "_after",
        "_api",
        "_broker",
        "_call",
        "_correlation_id",
        "_fetches",
        "_finish",
        "_measured",
        "_output",
        "_paused",
        "_ready",
        "_size",
        "_speaks_for",
        "_then",
        "_token",
        "_twice",
        "_work",
        "_write",
        "client_host",
        "client_id",
        "closed",
        "large",
        "listener",
        "peer",
    )

    def __init__(
        self,
        broker: Broker,
        peer: str,
        client_host: str,
        listener: str,
        write: Callable[[bytes], None],
    ) -> None:
        self.peer = peer
        self.client_host = client_host
        self.client_id = ""  # of its latest request
        self.listener = listener
        self.closed = False
        self._broker = broker
        self._write = write
        self._output: list[bytes] = []
        self._paused = 0  # why nothing is handled: a sum of reasons
        self._size = 0  # of its latest request
        self._speaks_for: Any = None  # the latest request in which a member spoke for itself
        self._measured = 0  # the token of the last request whose answer counted for quotas
        # The one request in hand, while it is parked:
        self._token: int | None = None
        self._api: apis.Api | None = None
        self._correlation_id = 0
        self._fetches: dict[bytes, tuple[int, Message]] = {}  # that may come again: body, version
        self._call: Call | None = None
        self._ready: Message | Encoded | Unread | None = (
            None  # its answer, which waits for room or for the next turn
        )
        # What an interceptor wants done with it:
        self._then: Verdict = None
        self._after: Callable[[Message | Encoded | None], Outgoing] | None = None
        self._twice = False
        # While it is handled in slices:
        self.large = False
        self._work: Generator[None, int, Any] | None = None
        self._finish: Callable[[Any, int], None] | None = None  # gets what the work returns

    # -- the request comes

    def _decode_in_slices(
        self,
        api: apis.Api,
        version: int,
        correlation_id: int,
        client_id: str,
        frame: bytes,
        at: int,
        now: int,
    ) -> None:
        """Decode a large request in slices, then handle it. Invalid bytes close the connection."""

        def finish(decoded: Any, now: int) -> None:
            if isinstance(decoded, WireError):
                self._refuse(f"{apis.title(api.key)} v{version}: {decoded}", now)
            else:
                self._decoded(api, version, correlation_id, client_id, decoded, frame, now)

        self._in_slices(
            or_error(api.request.decode_in_slices(version, frame, at, limited=api.limited)),
            finish,
            now,
        )

    def _decoded(
        self,
        api: apis.Api,
        version: int,
        correlation_id: int,
        client_id: str,
        message: Any,
        frame: bytes,
        now: int,
    ) -> None:
        """Handle a decoded request."""
        broker = self._broker
        self._size = len(frame)
        if api.name in _SIGNS_OF_LIFE:
            if broker.disconnected_members and self._speaks_for is None:
                wire_log.member_reconnected(broker, self.peer, client_id, message, now)
            self._speaks_for = message
        cause = (
            None
            if broker.log is None
            else wire_log.seen(broker, self.peer, api.name, version, client_id, message, now)
        )
        token = broker.next_token()
        call = Call(
            message,
            version,
            client_id,
            self.client_host,
            token,
            now,
            self.listener,
            cause,
            broker.node_id,
            self.peer,
            self.principal,
        )
        if broker.tape is not None:
            broker.tape((token, broker.node_id, now, frame))
        if (
            broker.interceptors
            and (asked := broker.interceptors.asked[api.key])
            and self._intercepted(asked, api, call, correlation_id)
        ):
            return
        self._ask(api, call, correlation_id)

    # -- interceptors

    def _intercepted(
        self, asked: Sequence[Interceptor], api: apis.Api, call: Call, correlation_id: int
    ) -> bool:
        """Call the interceptors of the API. Return True if one of them took over the request."""
        try:
            verdict = consult(asked, call)
        except InterceptorError as error:
            self._interceptor_failed(api, call, error, call.now)
            return True
        if verdict is None:
            return False
        self._carry_out(verdict, api, call, correlation_id, call.now)
        return True

    def _carry_out(
        self, verdict: Verdict, api: apis.Api, call: Call, correlation_id: int, now: int
    ) -> None:
        """Carry out an interceptor's verdict."""
        if verdict is None:
            self._ask(api, call, correlation_id)
        elif isinstance(verdict, Answer):
            self._respond(api, call, correlation_id, self._one(verdict.response), now)
        elif isinstance(verdict, Handle):
            self._after = verdict.after
            if verdict.message is None:
                self._respond(api, call, correlation_id, None, now)
            else:
                asked = call._replace(message=verdict.message, fails=verdict.fails)
                self._ask(api, asked, correlation_id)
        elif isinstance(verdict, Close):
            self._refuse(verdict.why, now)
        else:
            self._park(api, call, correlation_id)
            if isinstance(verdict, Hold):
                self._then = verdict.then
                self._broker.parked.hold(call.token, verdict.duration_ms, self, now)

    def _changed(
        self,
        api: apis.Api,
        call: Call,
        correlation_id: int,
        response: Message | Encoded | None,
        now: int,
    ) -> Message | Encoded | None:
        """Return the answer that the interceptor's `Handle.after` makes of the handler's; None if
        nothing is to be sent now.
        """
        assert self._after is not None
        after, self._after = self._after, None
        try:
            outgoing = changed(after, response, call)
        except InterceptorError as error:
            self._interceptor_failed(api, call, error, now)
            return None
        if isinstance(outgoing, Close | Drop | Hold):
            self._carry_out(outgoing, api, call, correlation_id, now)
            return None
        return self._one(outgoing)

    def _one(self, response: Message | Encoded) -> Message | Encoded:
        """Return the answer itself, and note if it is to be sent twice."""
        if not isinstance(response, Twice):
            return response
        self._twice = True
        return response.message

    def _interceptor_failed(
        self, api: apis.Api, call: Call, error: InterceptorError, now: int
    ) -> None:
        """Keep an interceptor's error for the embedder and close the connection."""
        self._broker.note_interceptor_error(error)
        self._refuse(f"{apis.title(api.key)} v{call.version}: {error}", now, error)

    # -- handler and answer

    def _ask(self, api: apis.Api, call: Call, correlation_id: int) -> None:
        """Call the request's handler; queue the answer, or park the request."""
        try:
            result = api.handle(self._broker, call)
        except Exception as error:
            self._failed(api, call, error, call.now)
            return
        if isinstance(result, Message) and self._broker.groups.gate is None:
            self._respond(api, call, correlation_id, result, call.now)
        elif isinstance(result, Sliced):
            self._handle_in_slices(api, call, correlation_id, result.work)
        else:
            self._handled(api, call, correlation_id, result, call.now)

    def _handle_in_slices(
        self, api: apis.Api, call: Call, correlation_id: int, work: Slices[Result]
    ) -> None:
        """Continue a handler that works in slices; most are finished in the first."""
        gate = self._broker.groups.gate
        if gate is not None:
            work = gate.across(work)
        try:
            next(work)
        except StopIteration as end:
            if not self.closed:
                self._handled(api, call, correlation_id, end.value, call.now)
            return
        except Exception as error:
            if not self.closed:
                self._failed(api, call, error, call.now)
            return

        def finish(result: Any, now: int) -> None:
            if isinstance(result, Exception):
                self._failed(api, call, result, now)
            else:
                self._handled(api, call, correlation_id, result, now)

        self._in_slices(or_error(after_first(work)), finish, call.now)

    def _failed(self, api: apis.Api, call: Call, error: Exception, now: int) -> None:
        """Close the connection, because the handler raised an exception."""
        if isinstance(error, NoRequest | ResponseTooLarge):
            self._refuse(f"{apis.title(api.key)} v{call.version}: {error}", now)
        else:
            self._refuse(
                f"{apis.title(api.key)} v{call.version}: failed here, which is the emulator's fault",
                now,
                error,
            )

    def _handled(
        self, api: apis.Api, call: Call, correlation_id: int, result: Result, now: int
    ) -> None:
        if result is None:
            self._park(api, call, correlation_id)
            self._broker.parked.park(call.token, self)
        elif result is CLOSE:
            self._refuse(
                f"{apis.title(api.key)} v{call.version}: refused, and its client waits for no answer (acks=0)",
                now,
            )
        elif result is NO_RESPONSE:
            self._after = None
            if self._broker.services.throttling is not None:
                self._count(call, None, now)
        else:
            assert not isinstance(result, Special)
            if self._broker.groups.gate is not None and self._broker.groups.hold_back(call, result):
                self._park(api, call, correlation_id)
                self._broker.parked.park(call.token, self)
            else:
                self._respond(api, call, correlation_id, result, now)

    def _park(self, api: apis.Api, call: Call, correlation_id: int) -> None:
        self._token, self._api, self._call, self._correlation_id = (
            call.token,
            api,
            call,
            correlation_id,
        )

    def _respond(
        self,
        api: apis.Api,
        call: Call,
        correlation_id: int,
        response: Message | Encoded | None,
        now: int,
        body: bytes | Exception | None = None,
        errors: wire_log.Errors | None = None,
    ) -> None:
        """Queue an answer. `body`: its encoded bytes, or the reason why it cannot be encoded;
        `errors`: the error codes in it, if known.
        """
        broker = self._broker
        if body is None:
            if self._after is not None or broker.services.throttling is not None:
                response = self._reconsidered(api, call, correlation_id, response, now)
            if response is None:
                return
            if isinstance(response, Encoded):
                body = response.body
            elif self.large:
                self._encode_in_slices(api, call, correlation_id, response, now)
                return
            else:
                try:
                    body = response.encode(call.version, broker.turns.encoded_at_once)
                except WireError as error:
                    body = error
                    if isinstance(error, ResponseTooLarge) and self._is_encoded_later(
                        api, call, correlation_id, response, now
                    ):
                        return
        if not isinstance(body, bytes) or (size := len(body)) > broker.turns.most_response_bytes:
            self._cannot_send(api, call, body, now)
            return
        if broker.tape is not None:
            broker.tape((call.token, now, body))
        if broker.interceptors and response is not None:
            for look in broker.interceptors.tellers:
                look(call, response, now)
        log = broker.log
        if log is not None:
            wire_log.answered(log, self.peer, api.name, call, response, now, errors)
        output = self._output
        head = (  # ApiVersions: always header v0 (KIP-511)
            _FLEXIBLE_HEAD.pack(5 + size, correlation_id, 0)
            if call.version >= api.flexible and api.key != apis.API_VERSIONS
            else HEAD.pack(4 + size, correlation_id)
        )
        output.append(head + body)
        if self._twice:
            self._twice = False
            output.append(output[-1])
        if size > _LARGE_BODY or len(output) >= _MANY_ANSWERS:
            self._flush()

    def _is_encoded_later(
        self, api: apis.Api, call: Call, correlation_id: int, response: Message, now: int
    ) -> bool:
        """Start to encode a large answer to a small request in slices, once no other connection
        processes a large request. Return False if the answer is larger than allowed.
        """
        if self._broker.turns.encoded_at_once == self._broker.turns.most_response_bytes:
            return False
        if self._broker.turns.lane.take(self):
            self.large = True
            self._encode_in_slices(api, call, correlation_id, response, now)
        else:
            self._park(api, call, correlation_id)
            self._ready = response
        return True

    def _reconsidered(
        self,
        api: apis.Api,
        call: Call,
        correlation_id: int,
        response: Message | Encoded | None,
        now: int,
    ) -> Message | Encoded | None:
        """Apply quotas and the interceptor to an answer. Return the answer to send, or None if
        nothing is to be sent now.
        """
        if self._broker.services.throttling is not None and response is not None:
            response = self._count(call, response, now)
        if self._after is not None:
            response = self._changed(api, call, correlation_id, response, now)
        return response

    def _count(
        self, call: Call, response: Message | Encoded | None, now: int
    ) -> Message | Encoded | None:
        """Charge the request to the client's quotas. If it exceeds one, its answer has a throttle
        time and nothing is read from the client for that long (QUO-1).
        """
        throttling = self._broker.services.throttling
        if call.token == self._measured or throttling is None:
            return response
        from .throttled import Throttled, measured, note  # at first use: few brokers have quotas

        self._measured = call.token
        waits, response = measured(throttling, call._replace(now=now), self._size, response)
        if waits:
            note(self._broker.log, call, waits, now)
            self.pause(THROTTLED)
            self._broker.parked.hold(call.token, waits, Throttled(self), now)
        return response

    def _encode_in_slices(
        self, api: apis.Api, call: Call, correlation_id: int, response: Message, now: int
    ) -> None:
        """Encode an answer that is or may be large, in slices."""
        errors = None

        def work() -> Slices[bytes]:
            nonlocal errors
            body = yield from response.encode_in_slices(
                call.version, self._broker.turns.most_response_bytes
            )
            if self._broker.log is not None:
                errors = yield from wire_log.errors_in_slices(api.name, response)
            return body

        def finish(body: bytes | Exception, now: int) -> None:
            self._respond(api, call, correlation_id, response, now, body, errors)

        self._in_slices(or_error(work()), finish, now)

    def _cannot_send(self, api: apis.Api, call: Call, body: bytes | Exception, now: int) -> None:
        """Close the connection, because the answer is too large or cannot be encoded."""
        fault = None
        if isinstance(body, bytes):
            why = f"the answer has {len(body)} bytes, {self._broker.turns.most_response_bytes} are allowed (max_response_bytes)"
        elif isinstance(body, ResponseTooLarge):
            why = str(body)
        else:
            why, fault = "the answer cannot be encoded, which is the emulator's fault", body
        self._refuse(f"{apis.title(api.key)} v{call.version}: {why}", now, fault)

    def _flush(self) -> None:
        output = self._output
        if output and not self._paused & LINK_IS_CUT:
            if self._broker.log is not None:
                self._broker.log.flush()  # the log never knows less than a client
            self._write(output[0] if len(output) == 1 else b"".join(output))
            output.clear()

    # -- slices

    def _in_slices(self, work: Slices[Any], finish: Callable[[Any, int], None], now: int) -> None:
        """Do work in slices, in this turn and the next ones; `finish` gets the result."""
        self._token = _IN_SLICES
        self._work, self._finish = work, finish
        self._go_on(now, begins=True)

    def _go_on(self, now: int, *, begins: bool = False) -> None:
        """Continue the work in slices."""
        work, finish = self._work, self._finish
        assert work is not None and finish is not None
        turn_is_over = self._broker.turns.is_over
        try:
            if begins:
                next(work)
            else:
                work.send(now)
            while not turn_is_over():
                work.send(now)
        except StopIteration as end:
            self._work = self._finish = self._token = None
            if not self.closed:
                finish(end.value, now)
        else:
            self._broker.turns.postpone(self)

    # -- the connection's

    def deliver(self, response: Message | Encoded | Unread, now: int) -> None:
        """Send the answer of the parked request, or keep it until there is room."""
        raise NotImplementedError

    def pause(self, why: int) -> None:
        """Handle no further request until `unpause` with the same reason."""
        raise NotImplementedError

    def unpause(self, now: int, why: int) -> None:
        """Remove one reason for the pause, and continue if it was the last."""
        raise NotImplementedError

    def resume(self, now: int) -> None:
        """Continue a request, an answer or received bytes that had to wait."""
        raise NotImplementedError

    def release(self, now: int) -> None:
        """Continue a request or an answer that an interceptor held."""
        raise NotImplementedError

    def _refuse(
        self, why: str, now: int, fault: Exception | None = None, *, tell: bool = True
    ) -> None:
        """Close the connection."""
        raise NotImplementedError


def or_error(work: Slices[T]) -> Slices[T | Exception]:
    """Run work in slices; return the exception that it raises instead of raising it."""
    try:
        return (yield from work)
    except Exception as error:
        return error
