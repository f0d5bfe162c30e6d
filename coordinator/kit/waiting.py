"""Waits of tests: conditions that are checked after everything that happens, until they hold.

A condition is a function that returns what is still missing; it is called between two requests.
A waiter on another thread or event loop gets a `concurrent.futures.Future`. A wait on the
emulator's own loop would block the brokers that must bring the condition about, so it is
refused. This module must not know a clock: how long to wait is the caller's decision.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from threading import get_ident
from typing import Any, TypeVar

from .in_process_requests import ControlError

T = TypeVar("T")
Unmet = Callable[[], tuple[str, ...]]


class WaitTimeoutError(AssertionError):
    """A condition did not hold in time. The text says what is missing, what was seen instead,
    and which members the group waits for."""


def not_in_time(text: str) -> WaitTimeoutError:
    """Return the error of a wait whose time is over. Its last line names the page that says what
    to do next."""
    from coordinator.base.installing import see_agents

    return WaitTimeoutError(f"{text}\n({see_agents()})")


class LoopFuture(Future[T]):
    """The result of a wait. Waiting for it on the emulator's own loop would never end, so that
    raises an error."""

    def __init__(self) -> None:
        super().__init__()
        self._loop_thread = get_ident()

    def check_thread(self) -> None:
        """Raise ControlError if a wait on this thread would block the emulator."""
        if not self.done() and get_ident() == self._loop_thread:
            self.cancel()
            raise ControlError(
                "waiting here would hold up the loop that the emulator runs on: await the same of "
                "coordinator.testing.asynchronous.AsyncKafka(kafka), which the fixture akafka is, "
                "or let the emulator have a thread of its own (`with Emulator(...)`, the fixture kafka)"
            )

    def result(self, timeout: float | None = None) -> T:
        """See `Future.result`. On the emulator's own loop, raises ControlError unless the result
        exists."""
        self.check_thread()
        return super().result(timeout)


class _Wait:
    __slots__ = ("future", "unmet", "value")

    def __init__(self, unmet: Unmet, value: Callable[[], Any]) -> None:
        self.unmet = unmet
        self.value = value
        self.future: LoopFuture[Any] = LoopFuture()

    def look(self) -> bool:
        """Check the condition; return True if the wait is over."""
        if self.future.done():
            return True
        try:
            if self.unmet():
                return False
            self.future.set_result(self.value())
        except Exception as error:
            self.future.set_exception(error)
        return True


class WaitBoard:
    """All waits at one emulator."""

    def __init__(self) -> None:
        self._waits: list[_Wait] = []

    def __bool__(self) -> bool:
        return bool(self._waits)

    def begin(self, unmet: Unmet, value: Callable[[], Any]) -> LoopFuture[Any]:
        """Wait until `unmet` returns nothing; the future then gets the value of `value` at that
        instant."""
        wait = _Wait(unmet, value)
        if not wait.look():
            self._waits.append(wait)
        return wait.future

    def look(self) -> None:
        """Check all waits, because something may have happened."""
        self._waits = [wait for wait in self._waits if not wait.look()]

    def end(self, future: Future[Any]) -> None:
        """Drop a wait that its caller gave up."""
        self._waits = [wait for wait in self._waits if wait.future is not future]

    def fail_all(self, error: Exception) -> None:
        """End all waits with an error, because the emulator ends."""
        waits, self._waits = self._waits, []
        for wait in waits:
            if not wait.future.done():
                wait.future.set_exception(error)
