"""Faults of single requests: let a request pass, answer it, hold it, drop it, or change what is
asked or answered.

An interceptor is called with every decoded request before its handler is. The first that gives a
verdict other than None decides; with none of them installed a request pays one test for it. One
that says, by an attribute `api_keys`, which APIs it is about is not called for others, and one with
a method `asked_about` gives who is to be called about requests of an API; when either changes it
calls what it finds in its attribute `on_change`. `Handle` also sees the answer before it leaves.
Owns the verdicts. Depends only on the decoded request (`server.requests.call`) and messages; does not depend
on the broker, its handlers or any group. Faults of links and hosts are not made here.

    def second_heartbeat_fails(call: Call) -> Verdict:
        return Answer(HeartbeatResponse(error_code=27)) if isinstance(call.message, HeartbeatRequest) else None

    broker.interceptors.append(second_heartbeat_fails)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self, SupportsIndex, TypeAlias

from coordinator.wire.primitives import WireError
from coordinator.wire.schema import Response

if TYPE_CHECKING:
    from coordinator.wire.schema import Message, Request

    from .requests.call import Call, Encoded


class Answer(NamedTuple):
    """Answer with this and do not ask the broker: nothing changes."""

    response: Message | Encoded


class Hold(NamedTuple):
    """Keep the request back, then go on with `then`. Its connection waits with it, as for a parked
    request.

    `duration_ms`: for so long; None: until `Broker.release` is called with the request's token.
    """

    duration_ms: int | None
    then: Verdict = None


class Drop(NamedTuple):
    """Drop the request or the answer: nothing is sent. Later requests of its connection wait until
    the client hangs up."""


class Close(NamedTuple):
    """Close the connection. `why` stands in the log."""

    why: str


class Late(NamedTuple):
    """Send the answer so much later. Its connection waits with it."""

    duration_ms: int
    response: Message | Encoded


class Handle(NamedTuple):
    """Ask the handler `message` in place of the request, and send what `after` makes of its answer.

    `message` None: ask nothing, and give `after` None. An answer may be bytes already (`Encoded`).
    A request whose client waits for no answer (Produce with acks=0) has no `after`. `fails`: of a
    ShareFetch, partitions from which nothing is taken, by topic id and index, with their errors.
    """

    message: Request | None
    after: Callable[[Message | Encoded | None], Outgoing]
    fails: Mapping[tuple[bytes, int], int] | None = None


Outgoing: TypeAlias = "Message | Encoded | Late | Drop | Close"
"""The outcomes of an answer."""
Verdict: TypeAlias = Answer | Hold | Drop | Close | Handle | None
"""None lets the request pass."""

Interceptor = Callable[["Call"], Verdict]


class Interceptors(list[Interceptor]):
    """The interceptors of a broker. `asked[key]`: those about an API; `tellers`: what is told of
    each answer, `saw_answer` methods."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = _Asked(self)
        self.tellers: list[Callable[[Call, Message | Encoded, int], object]] = []

    def _renew(self) -> None:
        self.asked.clear()
        self.tellers = [
            look for each in self if (look := getattr(each, "saw_answer", None)) is not None
        ]
        for each in self:
            if hasattr(each, "on_change"):
                each.on_change = self.asked.clear

    def append(self, one: Interceptor) -> None:
        super().append(one)
        self._renew()

    def insert(self, index: SupportsIndex, one: Interceptor) -> None:
        super().insert(index, one)
        self._renew()

    def extend(self, more: Iterable[Interceptor]) -> None:
        super().extend(more)
        self._renew()

    def __iadd__(self, more: Iterable[Interceptor]) -> Self:  # type: ignore[override, misc]  # as list has it
        self.extend(more)
        return self

    def remove(self, one: Interceptor) -> None:
        super().remove(one)
        self._renew()

    def pop(self, index: SupportsIndex = -1) -> Interceptor:
        one = super().pop(index)
        self._renew()
        return one

    def clear(self) -> None:
        super().clear()
        self._renew()

    def sort(
        self, *, key: Callable[[Interceptor], Any] | None = None, reverse: bool = False
    ) -> None:
        super().sort(key=key, reverse=reverse)
        self._renew()

    def reverse(self) -> None:
        super().reverse()
        self._renew()

    def __imul__(self, times: SupportsIndex) -> Self:
        super().__imul__(times)
        self._renew()
        return self

    def __setitem__(self, index: Any, one: Any) -> None:
        super().__setitem__(index, one)
        self._renew()

    def __delitem__(self, index: SupportsIndex | slice) -> None:
        super().__delitem__(index)
        self._renew()


class _Asked(dict[int, tuple[Interceptor, ...]]):
    """By an API's key, the interceptors that are asked about it; found out when it first comes."""

    def __init__(self, interceptors: Interceptors) -> None:
        super().__init__()
        self._all = interceptors

    def __missing__(self, key: int) -> tuple[Interceptor, ...]:
        about = [
            each
            for each in self._all
            if (keys := getattr(each, "api_keys", None)) is None or key in keys
        ]
        found = tuple(
            each.asked_about(key) if hasattr(each, "asked_about") else each for each in about
        )
        self[key] = found
        return found


class InterceptorError(Exception):
    """An interceptor raised something, or gave what is no verdict or no answer to the request:
    what, and what would be right.

    It is the embedder's to know, not the client's: the client's connection is closed, and
    `Emulator` raises it on leaving `with`.
    """


def raise_interceptor_errors(
    errors: Sequence[InterceptorError], error: BaseException | None
) -> None:
    """Raise the first of what interceptors did wrong; or say it of the exception `error` that is on
    its way already."""
    if not errors:
        return
    if error is not None:
        error.add_note(f"Before that, {errors[0]}")
        return
    if len(errors) > 1:
        errors[0].add_note(
            f"{len(errors) - 1} more interceptor errors followed: see `interceptor_errors`"
        )
    raise errors[0]


def consult(interceptors: Sequence[Interceptor], call: Call) -> Verdict:
    """The first verdict that is not None, in the order of installation. Raises InterceptorError."""
    for interceptor in interceptors:
        try:
            verdict = interceptor(call)
        except Exception as error:
            raise InterceptorError(
                f"{_asked(interceptor, call)} raised {type(error).__name__}: {error}"
            ) from error
        if verdict is not None:
            _check(verdict, interceptor, call)
            return verdict
    return None


def changed(
    after: Callable[[Message | Encoded | None], Outgoing],
    response: Message | Encoded | None,
    call: Call,
) -> Message | Encoded | Drop | Close | Hold:
    """The outcome of `Handle.after`: another answer, or a verdict. Raises
    InterceptorError."""
    try:
        outgoing = after(response)
    except Exception as error:
        raise InterceptorError(
            f"{_asked(after, call)} raised {type(error).__name__}: {error}"
        ) from error
    if isinstance(outgoing, Late):
        _check_answer(outgoing.response, after, call)
        return Hold(outgoing.duration_ms, Answer(outgoing.response))
    if not isinstance(outgoing, Drop | Close):
        _check_answer(outgoing, after, call)
    return outgoing


def _check(verdict: Verdict, interceptor: object, call: Call) -> None:
    """Raise InterceptorError for what is no verdict about this request."""
    if isinstance(verdict, Answer):
        _check_answer(verdict.response, interceptor, call)
    elif isinstance(verdict, Hold):
        if verdict.then is not None:
            _check(verdict.then, interceptor, call)
    elif isinstance(verdict, Handle):
        if verdict.message is not None and type(verdict.message) is not type(call.message):
            wanted = type(call.message).__name__
            raise InterceptorError(
                f"{_asked(interceptor, call)} wants {verdict.message!r} handled; a {wanted} would be right"
            )
    elif not isinstance(verdict, Drop | Close):
        right = "None, Answer(response), Hold(ms), Drop(), Close(why) or Handle(...)"
        raise InterceptorError(
            f"{_asked(interceptor, call)} gave {verdict!r}; {right} would be right"
        )


def _check_answer(response: object, interceptor: object, call: Call) -> None:
    """Raise InterceptorError for what is no answer to this request in its version. Bytes are taken
    as they are."""
    if hasattr(response, "body"):
        return
    wanted = type(call.message).__name__.removesuffix("Request") + "Response"
    if type(response).__name__ != wanted or not isinstance(response, Response):
        raise InterceptorError(
            f"{_asked(interceptor, call)} answered {response!r}; a {wanted} would be right"
        )
    try:
        response.encode(call.version)
    except WireError as error:
        raise InterceptorError(
            f"{_asked(interceptor, call)} answered what v{call.version} cannot say: {error}"
        ) from error


def _asked(interceptor: object, call: Call) -> str:
    name = getattr(interceptor, "__qualname__", type(interceptor).__qualname__)
    return f"the interceptor {name}, asked about a {type(call.message).__name__},"
