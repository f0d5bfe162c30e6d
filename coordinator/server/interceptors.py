"""Faults of single requests: verdicts that let a request pass, answer it, hold it, drop it, close
its connection, or change the request or the answer.

A broker calls its interceptors with every decoded request before the handler; the first verdict
other than None decides. An interceptor with an attribute `api_keys` is called for those APIs
only. One with a method `asked_about` returns the interceptors to be called for an API; if its
choice changes, it calls the function in its attribute `on_change`. Depends only on the decoded
request (`server.requests.call`) and messages; does not know the broker, handlers or groups.
Faults of links and hosts are made elsewhere.

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
    """Verdict: send this response without calling the handler, so that nothing changes."""

    response: Message | Encoded


class Hold(NamedTuple):
    """Verdict: hold the request back, then apply the verdict `then`. Its connection waits, as for a
    parked request. `duration_ms`: how long; None: until `ParkedRequests.release` is called with the
    request's token.
    """

    duration_ms: int | None
    then: Verdict = None


class Drop(NamedTuple):
    """Verdict: send no answer. Later requests of the connection wait until the client closes it."""


class Close(NamedTuple):
    """Verdict: close the connection. The event log records the reason `why`."""

    why: str


class Late(NamedTuple):
    """Verdict on an answer: send it `duration_ms` later. Its connection waits meanwhile."""

    duration_ms: int
    response: Message | Encoded


class Handle(NamedTuple):
    """Verdict: give the handler `message` instead of the request, and send the result of `after`,
    which gets the handler's answer.

    `message` None: call no handler; `after` gets None. An answer may already be encoded
    (`Encoded`). A request without an answer (Produce with acks=0) has no `after`. `fails`: for a
    ShareFetch, the partitions from which nothing is acquired, by topic id and index, with their
    errors.
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
    """The interceptors of a broker. `asked[key]`: those called for an API; `tellers`: the
    `saw_answer` methods, which are called with each answer.
    """

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
    """The interceptors called for each API key, computed at the API's first request."""

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
    """Error of an interceptor that raised an exception or returned an invalid verdict or answer.
    The message says what would be right.

    The client does not see it: its connection is closed, and `Emulator` raises the error on
    leaving `with`.
    """


def raise_interceptor_errors(
    errors: Sequence[InterceptorError], error: BaseException | None
) -> None:
    """Raise the first interceptor error. If an exception `error` is already being raised, add a
    note to it instead.
    """
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
    """Return the first verdict that is not None, in the order of installation. Raises
    InterceptorError.
    """
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
    """Return the checked result of `Handle.after`: another answer, or a verdict. Raises
    InterceptorError.
    """
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
    """Raise InterceptorError if a value is no verdict on this request."""
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
    """Raise InterceptorError if a response does not fit this request and its version. Encoded
    responses are not checked.
    """
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
