"""Waits of tests: conditions that are looked at again after everything that happens, until they hold.

A condition is a function that says what is still missing; it is called between two requests. Waiters on other threads and on
event loops get a `concurrent.futures.Future`. It does not depend on clocks: how long to wait is the waiter's own affair.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

Unmet = Callable[[], tuple[str, ...]]


class WaitTimeoutError(AssertionError):
    """A condition did not come about in time: what is missing, what was seen instead, and whom everybody waits for."""


class _Wait:
    __slots__ = ("future", "unmet", "value")

    def __init__(self, unmet: Unmet, value: Callable[[], Any]) -> None:
        self.unmet = unmet
        self.value = value
        self.future: Future[Any] = Future()

    def look(self) -> bool:
        """Whether the wait is over."""
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
    """Everybody who waits for something at one emulator."""

    def __init__(self) -> None:
        self._waits: list[_Wait] = []

    def __bool__(self) -> bool:
        return bool(self._waits)

    def begin(self, unmet: Unmet, value: Callable[[], Any]) -> Future[Any]:
        """Wait until `unmet` gives nothing; the future then has what `value` gives at that instant."""
        wait = _Wait(unmet, value)
        if not wait.look():
            self._waits.append(wait)
        return wait.future

    def look(self) -> None:
        """Something may have happened: see who need not wait any longer."""
        self._waits = [wait for wait in self._waits if not wait.look()]

    def end(self, future: Future[Any]) -> None:
        """Nobody waits for this any more."""
        self._waits = [wait for wait in self._waits if wait.future is not future]

    def fail_all(self, error: Exception) -> None:
        """The emulator ends: nothing will come about."""
        waits, self._waits = self._waits, []
        for wait in waits:
            if not wait.future.done():
                wait.future.set_exception(error)
