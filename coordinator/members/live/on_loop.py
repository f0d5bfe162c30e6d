"""Base of a test's handle of an object on an event loop, usable from synchronous and asynchronous
code.

From another thread every call waits for that loop; on the loop itself, calls that would have to
wait are refused, and asynchronous ones exist instead.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError
from threading import get_ident
from typing import Any, Self, TypeVar

from .peer import PeerError

T = TypeVar("T")
Awaited = Coroutine[Any, Any, T]
"""The result of an asynchronous method."""

_LOOK_S = 1.0


class OnLoop:
    """Calls into a loop from any thread. `loop_thread`: the id of the loop's thread. The object
    ends with `with` and `async with`.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, loop_thread: int) -> None:
        self._loop = loop
        self._loop_thread = loop_thread

    def _name(self) -> str:
        """Return the object's name for errors."""
        raise NotImplementedError

    def stop(self) -> None:
        """End the object; from another thread, wait for it."""
        raise NotImplementedError

    def left(self) -> Awaited[None]:
        """End the object and wait for it, to be awaited."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.left()

    @property
    def _is_here(self) -> bool:
        """True if the loop runs in the calling thread."""
        return self._loop_thread == get_ident()

    def _needs_loop(self, called: str, instead: str) -> None:
        """Raise PeerError if no event loop runs, because a coroutine that is never awaited does
        nothing, and the test would not notice.
        """
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            raise PeerError(
                f"{called} is to be awaited, and no event loop runs here: call {instead}"
            ) from None

    def _do(self, action: Callable[[], T]) -> T:
        if self._is_here or self._loop.is_closed():
            return action()

        async def act() -> T:
            return action()

        return self._result(act())

    def _wait(self, action: Callable[[], Coroutine[Any, Any, T]], instead: str) -> T:
        if self._is_here:
            raise PeerError(
                f"waiting here would hold up the loop that the peer lives on: {instead}"
            )
        return self._result(action())

    def _result(self, work: Coroutine[Any, Any, T]) -> T:
        """Run work on the loop and wait for it, but not for ever if the loop ends meanwhile."""
        loop = self._loop
        if loop.is_closed():
            work.close()
            raise self._gone()
        future = asyncio.run_coroutine_threadsafe(work, loop)
        while True:
            try:
                return future.result(_LOOK_S)
            except TimeoutError:
                if future.done():
                    raise
                if loop.is_closed():
                    raise self._gone() from None
            except CancelledError:
                raise self._gone() from None

    async def _on_loop(self, action: Callable[[], Coroutine[Any, Any, T]]) -> T:
        if self._is_here:
            return await action()
        work = action()
        if self._loop.is_closed():
            work.close()
            raise self._gone()
        future = asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))
        while not future.done():
            await asyncio.wait([future], timeout=_LOOK_S)
            if not future.done() and self._loop.is_closed():
                raise self._gone()
        if future.cancelled():
            raise self._gone()
        return future.result()

    def _gone(self) -> PeerError:
        return PeerError(f"{self._name()} has ended with its emulator")
