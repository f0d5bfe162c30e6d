"""The turns of an asyncio loop under virtual time: its timers, and when its clock moves.

Owns the timers and what the loop does between two turns. Rules: while something is ready the clock
creeps (1 us a turn, so that a loop that waits for time to pass ends); when nothing is, it jumps to
the next timer. Timers of one instant fire in the order in which they were set, which asyncio does
not promise. Files are looked at in each turn only if somebody else has any. Does not depend on
Kafka.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sized
from contextvars import Context, copy_context
from heapq import heapify, heappop, heappush
from typing import Any, Final

_TURN_S: Final = 1e-6
_EARLY_S: Final = 1e-9  # a timer that is so near is due
_LOOK_S: Final = 0.01
_LOOK_EVERY: Final = 64
_OWN_FILES: Final = 1  # the pipe by which other threads wake the loop
_MANY: Final = 100
_PLAIN: Final[frozenset[Any]] = frozenset({asyncio.Handle, asyncio.TimerHandle})
_new: Final[Callable[[type[Any]], Any]] = object.__new__


class Turns:
    """The turns of a running loop in place of its own, from `take_over` to `give_back`."""

    __slots__ = (
        "_debug",
        "_files",
        "_heap",
        "_loop",
        "_order",
        "_over",
        "_select",
        "_zero_s",
        "now_s",
        "pending",
    )

    def __init__(self, loop: Any) -> None:
        self.now_s = 0.0
        """Seconds since the beginning."""
        self.pending = 0
        """Number of real operations in progress; meanwhile virtual time stands still."""
        self._zero_s = 0.0
        self._loop = loop
        self._select: Callable[[float | None], Any] = loop._selector.select
        # A proactor has no such table: it is looked at whenever time passes.
        self._files: Sized = getattr(loop._selector, "_fd_to_key", (None, None))
        self._heap: list[tuple[float, int, asyncio.TimerHandle]] = []
        self._order = 0
        self._over = False
        self._debug: bool = loop.get_debug()

    def take_over(self) -> None:
        """Begin virtual time at the loop's present time, and take over the loop's timers."""
        loop = self._loop
        self._zero_s = loop.time()
        taken, loop._scheduled = loop._scheduled, []
        for handle in sorted(taken):
            self.set(handle, handle._when)

    def give_back(self) -> None:
        """Give the loop its own turns and timers back; each timer keeps its remaining time."""
        loop = self._loop
        for _, _, handle in sorted(self._heap):
            handle._when -= self.now_s  # type: ignore[attr-defined]
            loop._scheduled.append(handle)  # sorted, so that it is a heap
        self._heap.clear()
        self._over = True

    # -- what is called in place of the loop's own

    def time(self) -> float:
        """Return the time of the loop's clock."""
        return self._zero_s + self.now_s

    def due_by(self) -> float:
        """Anything earlier on the loop's clock is due."""
        return self._zero_s + self.now_s + _EARLY_S

    def call_soon(
        self, callback: Callable[..., Any], *arguments: Any, context: Context | None = None
    ) -> asyncio.Handle:
        """See `asyncio.loop.call_soon`."""
        handle: Any
        if self._debug:  # it keeps where it was made
            handle = asyncio.Handle(callback, arguments, self._loop, context)
        else:  # as its constructor does
            handle = _new(asyncio.Handle)
            handle._context = copy_context() if context is None else context
            handle._loop = self._loop
            handle._callback = callback
            handle._args = arguments
            handle._cancelled = False
            handle._repr = handle._source_traceback = None
        self._loop._ready.append(handle)
        return handle  # type: ignore[no-any-return]

    def call_later(
        self,
        delay: float,
        callback: Callable[..., Any],
        *arguments: Any,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        """See `asyncio.loop.call_later`."""
        return self._timer(self._zero_s + self.now_s + delay, callback, arguments, context)

    def call_at(
        self,
        when: float,
        callback: Callable[..., Any],
        *arguments: Any,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        """See `asyncio.loop.call_at`."""
        return self._timer(when, callback, arguments, context)

    def _timer(
        self,
        when: float,
        callback: Callable[..., Any],
        arguments: tuple[Any, ...],
        context: Context | None,
    ) -> asyncio.TimerHandle:
        handle: Any
        if self._debug:
            handle = asyncio.TimerHandle(when, callback, arguments, self._loop, context)
        else:
            handle = _new(asyncio.TimerHandle)
            handle._context = copy_context() if context is None else context
            handle._loop = self._loop
            handle._callback = callback
            handle._args = arguments
            handle._cancelled = False
            handle._repr = handle._source_traceback = None
            handle._when = when
        self.set(handle, when)
        return handle  # type: ignore[no-any-return]

    def set(self, handle: asyncio.TimerHandle, when: float) -> None:
        """Let a handle run at an instant of the loop's clock; it may have run before."""
        self._order = order = self._order + 1
        handle._scheduled = True  # type: ignore[attr-defined]
        heappush(self._heap, (when, order, handle))

    def turn(self) -> None:
        """Run one or several turns of the loop: check what is ready; if nothing is, let time
        pass; then run what is ready. One call makes several turns because the loop's own cost of
        a turn is as large."""
        loop, heap, files = self._loop, self._heap, self._files
        ready: Any = loop._ready
        take, make_ready = ready.popleft, ready.append
        handle: Any
        for _ in range(_LOOK_EVERY):
            self.now_s += _TURN_S
            if not ready and not loop._stopping:
                while heap and heap[0][2]._cancelled:
                    heappop(heap)
                    loop._timer_cancelled_count -= 1
                if heap and not self.pending and len(files) <= _OWN_FILES:
                    wait = heap[0][0] - self._zero_s - self.now_s
                    if wait > 0:
                        self.now_s += wait
                else:
                    self._look(loop, heap)
            end = self._zero_s + self.now_s + _EARLY_S
            while heap and heap[0][0] < end:
                handle = heappop(heap)[2]
                if handle._cancelled:
                    loop._timer_cancelled_count -= 1
                else:
                    handle._scheduled = False
                    make_ready(handle)
            for _ in range(len(ready)):
                handle = take()
                if handle._cancelled:
                    continue
                if handle.__class__ not in _PLAIN:
                    handle._run()  # of a kind that has more to do
                    continue
                try:
                    handle._context.run(handle._callback, *handle._args)
                except (SystemExit, KeyboardInterrupt):
                    raise
                except BaseException as error:
                    context = {"message": f"Exception in callback {handle}", "exception": error}
                    loop.call_exception_handler({**context, "handle": handle})
            if loop._stopping or self._over:  # over: what comes next is the loop's own affair
                return
        loop._process_events(self._select(0))
        if len(heap) > _MANY and 2 * loop._timer_cancelled_count > len(heap):
            heap[:] = [entry for entry in heap if not entry[2]._cancelled]
            heapify(heap)
            loop._timer_cancelled_count = 0

    def _look(self, loop: Any, heap: list[tuple[float, int, Any]]) -> None:
        """Check files while nothing is ready but something outside may act; then let time pass
        until the next timer is due."""
        if self.pending:
            loop._process_events(self._select(_LOOK_S))
        elif not heap:
            loop._process_events(self._select(None))
        else:
            loop._process_events(self._select(0))
            wait = heap[0][0] - self._zero_s - self.now_s
            if wait > 0 and not loop._ready:
                self.now_s += wait
