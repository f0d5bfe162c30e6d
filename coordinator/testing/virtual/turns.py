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
from contextvars import Context
from heapq import heapify, heappop, heappush
from typing import Any, Final

_TURN_S: Final = 1e-6
_EARLY_S: Final = 1e-9  # a timer that is so near is due
_LOOK_S: Final = 0.01
_LOOK_EVERY: Final = 64
_OWN_FILES: Final = 1  # the pipe by which other threads wake the loop
_MANY: Final = 100


class Turns:
    """What a running loop does in place of its own turns, from `take_over` to `give_back`."""

    __slots__ = (
        "_files",
        "_heap",
        "_loop",
        "_order",
        "_select",
        "_turn",
        "_zero_s",
        "now_s",
        "pending",
    )

    def __init__(self, loop: Any) -> None:
        self.now_s = 0.0
        """Seconds since the beginning."""
        self.pending = 0
        """How many real things are under way; meanwhile virtual time stands still."""
        self._zero_s = 0.0
        self._loop = loop
        self._select: Callable[[float | None], Any] = loop._selector.select
        # A proactor has no such table: it is looked at whenever time passes.
        self._files: Sized = getattr(loop._selector, "_fd_to_key", (None, None))
        self._heap: list[tuple[float, int, asyncio.TimerHandle]] = []
        self._order = 0
        self._turn = 0

    def take_over(self) -> None:
        """The clock stands at the loop's own, and its timers are here."""
        loop = self._loop
        self._zero_s = loop.time()
        taken, loop._scheduled = loop._scheduled, []
        for handle in sorted(taken):
            self.set(handle, handle._when)

    def give_back(self) -> None:
        """The loop does its own turns again: its timers have as long to go as they had here."""
        loop = self._loop
        for _, _, handle in sorted(self._heap):
            handle._when -= self.now_s  # type: ignore[attr-defined]
            loop._scheduled.append(handle)  # sorted, so that it is a heap
        self._heap.clear()

    # -- what is called in place of the loop's own

    def time(self) -> float:
        """The loop's clock."""
        return self._zero_s + self.now_s

    def due_by(self) -> float:
        """What is earlier on the loop's clock is due."""
        return self._zero_s + self.now_s + _EARLY_S

    def call_soon(
        self, callback: Callable[..., Any], *arguments: Any, context: Context | None = None
    ) -> asyncio.Handle:
        """See `asyncio.loop.call_soon`."""
        handle = asyncio.Handle(callback, arguments, self._loop, context)
        self._loop._ready.append(handle)
        return handle

    def call_later(
        self,
        delay: float,
        callback: Callable[..., Any],
        *arguments: Any,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        """See `asyncio.loop.call_later`."""
        when = self._zero_s + self.now_s + delay
        handle = asyncio.TimerHandle(when, callback, arguments, self._loop, context)
        self.set(handle, when)
        return handle

    def call_at(
        self,
        when: float,
        callback: Callable[..., Any],
        *arguments: Any,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        """See `asyncio.loop.call_at`."""
        handle = asyncio.TimerHandle(when, callback, arguments, self._loop, context)
        self.set(handle, when)
        return handle

    def set(self, handle: asyncio.TimerHandle, when: float) -> None:
        """Let a handle run at an instant of the loop's clock; it may have run before."""
        self._order = order = self._order + 1
        handle._scheduled = True  # type: ignore[attr-defined]
        heappush(self._heap, (when, order, handle))

    def turn(self) -> None:
        """See what is ready, and if nothing is, let time pass; then run what is ready."""
        loop, heap = self._loop, self._heap
        ready: Any = loop._ready
        self.now_s += _TURN_S
        self._turn += 1
        if not self._turn % _LOOK_EVERY:
            loop._process_events(self._select(0))
        if not ready and not loop._stopping:
            self._pass(loop, heap)
        end = self._zero_s + self.now_s + _EARLY_S
        while heap and heap[0][0] < end:
            handle: Any = heappop(heap)[2]
            if handle._cancelled:
                loop._timer_cancelled_count -= 1
            else:
                handle._scheduled = False
                ready.append(handle)
        for _ in range(len(ready)):
            handle = ready.popleft()
            if handle._cancelled:
                continue
            kind = handle.__class__
            if kind is not asyncio.Handle and kind is not asyncio.TimerHandle:
                handle._run()  # of a kind that has more to do
                continue
            try:
                handle._context.run(handle._callback, *handle._args)
            except (SystemExit, KeyboardInterrupt):
                raise
            except BaseException as error:
                context = {"message": f"Exception in callback {handle}", "exception": error}
                loop.call_exception_handler({**context, "handle": handle})

    def _pass(self, loop: Any, heap: list[tuple[float, int, Any]]) -> None:
        """Nothing is ready: time passes until the next timer is due, unless somebody outside acts
        first."""
        if len(heap) > _MANY and 2 * loop._timer_cancelled_count > len(heap):
            heap[:] = [entry for entry in heap if not entry[2]._cancelled]
            heapify(heap)
            loop._timer_cancelled_count = 0
        while heap and heap[0][2]._cancelled:
            heappop(heap)
            loop._timer_cancelled_count -= 1
        if self.pending:
            loop._process_events(self._select(_LOOK_S))
        elif not heap:
            loop._process_events(self._select(None))
        else:
            if len(self._files) > _OWN_FILES:
                loop._process_events(self._select(0))
                if loop._ready:
                    return
            wait = heap[0][0] - self._zero_s - self.now_s
            if wait > 0:
                self.now_s += wait
