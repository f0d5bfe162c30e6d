"""Requests of the kit itself, handled by the handlers that serve clients, without a connection.

So topics are created, records produced and offsets committed with the same checks, events and
error texts as for any client. Faults do not apply to these requests. An answer that has to wait
is given to a callback. This module must not know sockets.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import TYPE_CHECKING, TypeVar

from coordinator.base.errors import ErrorCode
from coordinator.base.slices import whole
from coordinator.server import apis
from coordinator.server.requests.call import CLOSE, Call, Encoded, Sliced, Special, Unread
from coordinator.wire.messages import response_type

if TYPE_CHECKING:
    from coordinator.server.broker import Broker
    from coordinator.wire.schema import Message, Request, Response

R = TypeVar("R", bound="Response")
CLIENT_ID = "__testing_kit"
_TOKENS = count(-1, -1)
"""Tokens below zero, because those above number the requests of clients."""


class ControlError(Exception):
    """A request to the emulator was refused, or is impossible: what, why, and what would be
    right. `code`: Kafka's error, if a broker refused it."""

    def __init__(self, message: str, code: ErrorCode | None = None) -> None:
        super().__init__(message)
        self.code = code


class _Parked:
    """Takes the place of a connection for an answer that is given later."""

    def __init__(self, done: Callable[[Message | Encoded], None]) -> None:
        self._done = done

    def deliver(self, response: Message | Encoded | Unread, now: int) -> None:
        self._done(response.make() if isinstance(response, Unread) else response)

    def resume(self, now: int) -> None:
        """Do nothing: no request waits behind this one."""

    def release(self, now: int) -> None:
        """Do nothing: nothing is ever held."""


def ask(
    broker: Broker, message: Request, kind: type[R], now: int, *, version: int | None = None
) -> R:
    """Return the response to a request that is answered at once. Raises ControlError for one
    that is not."""
    answers: list[R] = []
    ask_later(broker, message, kind, now, answers.append, version=version)
    if not answers:
        raise ControlError(f"{apis.title(message.api_key)} has no answer yet")
    return answers[0]


def ask_later(
    broker: Broker,
    message: Request,
    kind: type[R],
    now: int,
    done: Callable[[R], None],
    *,
    version: int | None = None,
) -> None:
    """Send a request and pass the response to `done`, now or when it comes."""
    api = apis.served_by(broker)[message.api_key]
    assert api is not None, message
    version = api.highest if version is None else version
    node = broker.cluster.brokers.get(broker.node_id)  # None: it was unregistered
    listener = "PLAINTEXT" if node is None else next(iter(node.endpoints), "PLAINTEXT")
    call = Call(
        message,
        version,
        CLIENT_ID,
        "/127.0.0.1",
        next(_TOKENS),
        now,
        listener,
        None,
        broker.node_id,
        principal="",
    )

    def give(response: Message | Encoded) -> None:
        if isinstance(response, Encoded):
            response = response_type(message.api_key).decode(version, response.body)
        assert isinstance(response, kind)
        done(response)

    result = api.handle(broker, call)
    if isinstance(result, Sliced):
        result = whole(result.work, now)
    if result is None:
        broker.parked.park(call.token, _Parked(give))
    elif isinstance(result, Special):
        raise ControlError(
            f"{apis.title(message.api_key)} was refused{' with its connection' if result is CLOSE else ''}"
        )
    else:
        give(result)


def check(code: int, what: str, text: str | None = None) -> None:
    """Raise ControlError if there is an error code; `what` says what was requested."""
    if code:
        error = ErrorCode(code)
        raise ControlError(f"{what}: {error.name}: {text or error.message}", error)
