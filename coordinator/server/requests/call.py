"""Values that connections, interceptors and handlers exchange: a decoded request (`Call`) and its
result (`Result`).

Every handler and interceptor imports this module; it imports none of them, nor broker or
connections.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, TypeVar

from coordinator.base.slices import ITEMS_A_STEP

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from coordinator.base.slices import Slices
    from coordinator.wire.schema import Message, Request


A = TypeVar("A")
B = TypeVar("B")


class Special(Enum):
    """A handler's result in place of a response."""

    NO_RESPONSE = "no response"
    CLOSE = "close"


ANONYMOUS: Final = "User:ANONYMOUS"
"""The principal of a client that is not authenticated."""
NO_RESPONSE: Final = Special.NO_RESPONSE
"""The request is done and its client waits for no answer (Produce with acks=0)."""
CLOSE: Final = Special.CLOSE
"""The connection is closed without an answer (Produce with acks=0 and an error)."""


class NoRequest(Exception):
    """Error of a handler for a request that Kafka does not answer: its connection is closed.
    `str()` is the reason.
    """


class Encoded(NamedTuple):
    """An encoded response body in the request's version, without header."""

    body: bytes


class Unread(NamedTuple):
    """A response that is built when it can be sent, so that it takes no memory before."""

    make: Callable[[], Message | Encoded]


Result: TypeAlias = "Message | Encoded | Special | None"
"""A handler's result in the end. None: the request is parked, and `ParkedRequests.answer` answers its
token later."""


class Sliced(NamedTuple):
    """A handler's result for a large request: work in slices that returns the actual result."""

    work: Slices[Result]


Row: TypeAlias = "tuple[int, int, int, bytes] | tuple[int, int, bytes]"
"""A row for a broker's `tape`: one of four values for a request as it comes, one of three for an
answer as it leaves.

A request's token, the broker's id, milliseconds since the driver's zero, and the frame after its
length; or the token of the request that is answered, the milliseconds, and the answer's body
without header.
"""


class Call(NamedTuple):
    """A decoded request as interceptors and handlers get it. `now`: milliseconds since the driver's
    zero.
    """

    message: Request
    version: int
    client_id: str  # "" when the header said null (ENT-8)
    client_host: str  # Java's form: "/127.0.0.1"
    token: int  # for ParkedRequests.answer, later
    now: int
    listener: str  # name of the listener it came through: whose advertised endpoints to show
    cause: int | None  # the log's seq of this request, for whatever it makes happen
    broker: int = -1  # the id of the broker that was asked
    peer: str = ""  # whom its connection is with, as the log names it
    principal: str = ANONYMOUS  # who asks; "": nobody, the testing kit does it itself
    sees: Callable[[str], bool] | None = None  # which topics it is told of; None: all
    fails: Mapping[tuple[bytes, int], int] | None = None  # injected errors of a ShareFetch


def by_element(
    call: Call,
    elements: Iterable[A],
    one: Callable[[A, Call], B],
    after: Callable[[list[B]], Result | Sliced],
) -> Sliced:
    """Answer a request element by element, in slices.

    `one` handles an element and returns its row; it gets the call with the current time. `after`
    builds the response from all rows, in the order of the elements, and may itself work in
    slices. Checks of the whole list are made by the handler before this call.
    """

    def work(call: Call) -> Slices[Result]:
        rows: list[B] = []
        for count, element in enumerate(elements, 1):
            if not count % ITEMS_A_STEP:
                call = call._replace(now=(yield))
            rows.append(one(element, call))
        answer = after(rows)
        return (yield from answer.work) if isinstance(answer, Sliced) else answer

    return Sliced(work(call))
