"""Requests that the kit sends to brokers, as a client would: it waits until a broker that can
answer runs, sends the request, and waits for the answer.

    def truncated(reach, ...) -> Steps[int]:
        yield from until(lambda: reach.unready("orders", 0))
        answer = yield from asked(reach, leader, request, DeleteRecordsResponse)
        return ...

Such work is a generator. It runs between two requests, and whenever it has to wait it yields a
function that says what is still missing. Three drivers run it: `Kit` on a thread, the control
port and `produce_when_ready` on an event loop. This module must not know a clock: each driver
decides how long it waits.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from coordinator.server import apis

from .in_process_requests import ControlError, ask_later
from .waiting import Unmet

if TYPE_CHECKING:
    from concurrent.futures import Future

    from coordinator.server.broker import Broker
    from coordinator.wire.schema import Request, Response

    from .reachable_brokers import Reach
    from .waiting import LoopFuture

T = TypeVar("T")
R = TypeVar("R", bound="Response")

Steps = Generator[Unmet, None, T]
"""Work in steps. Each yielded value is a function that says what is missing; the work continues
when nothing is."""


class Done(Protocol):
    """Function that runs work in steps for at most the given seconds, and returns its result."""

    def __call__(self, steps: Steps[T], timeout: float, /) -> T: ...


class Errand(Generic[T]):
    """Work in progress at one emulator. Call `go_on` between two requests until it returns None;
    then `result` is set."""

    result: T

    def __init__(self, reach: Reach, steps: Steps[T]) -> None:
        self._reach = reach
        self._steps = steps
        self._unmet: Unmet = tuple

    def go_on(self) -> LoopFuture[None] | None:
        """Run the steps until one has to wait. Return the future to wait for before the next
        call, or None when the work is done."""
        try:
            self._unmet = next(self._steps)
        except StopIteration as end:
            self.result = end.value
            return None
        return self._reach.waits.begin(self._unmet, lambda: None)

    def ended(self, waited: Future[None], timeout: float) -> ControlError:
        """End work whose time is over. Return the error to raise, which says what was missing."""
        self._reach.waits.end(waited)
        waited.cancel()
        lacking = self._unmet()
        self._steps.close()
        return ControlError(
            f"{'; '.join(lacking) or 'it could go on only now'}; waited for {timeout:g} s"
        )


def without_waiting(steps: Steps[T], instead: str = "") -> T:
    """Run work that need not wait, and return its result. Raises ControlError if it would have
    to wait; `instead` names the call to use then."""
    try:
        unmet = next(steps)
    except StopIteration as end:
        result: T = end.value
        return result
    lacking = "; ".join(unmet())
    steps.close()
    raise ControlError(f"{lacking}{instead and '. '}{instead}")


class UnansweredError(ControlError):
    """The broker stopped before it answered, so the outcome of the request is unknown."""


def until(unmet: Unmet) -> Steps[None]:
    """Wait until nothing is missing."""
    while unmet():
        yield unmet


def asked(
    reach: Reach,
    broker: Broker,
    message: Request,
    kind: type[R],
    *,
    version: int | None = None,
    counts: Callable[[], bool] = lambda: True,
) -> Steps[R]:
    """Send a request and return the response, waiting for it if necessary. Raises
    UnansweredError if the broker stops first, or if `counts` returns False when the response
    comes."""
    answers: list[R] = []
    ask_later(broker, message, kind, reach.now(), answers.append, version=version)
    title = apis.title(message.api_key)

    def unmet() -> tuple[str, ...]:
        if answers or not reach.is_up(broker) or not counts():
            return ()
        return (f"{title} has no answer yet from broker {broker.node_id}",)

    yield from until(unmet)
    if not answers:
        raise UnansweredError(
            f"{title}: broker {broker.node_id} stopped, or lost leadership, before it answered: the outcome is unknown"
        )
    return answers[0]


def coordinated(reach: Reach, group_id: str, act: Callable[[Broker], Steps[T]]) -> Steps[T]:
    """Wait until a group's coordinator runs, then act on it."""
    yield from until(lambda: reach.uncoordinated(group_id))
    broker = reach.coordinator_of(group_id)
    assert broker is not None
    return (yield from act(broker))


def at_once(act: Callable[[Broker], T]) -> Callable[[Broker], Steps[T]]:
    """Turn an action without waits into work in steps."""

    def steps(broker: Broker) -> Steps[T]:
        yield from ()
        return act(broker)

    return steps
