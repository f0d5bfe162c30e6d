"""Virtual time for a running asyncio event loop, and for what its thread asks of module `time`.

Owns the patches, and puts everything back. Rules: while something is ready the clock creeps (1 us a
turn, so that a loop that waits for time to pass ends); when nothing is, it jumps to the next timer.
What would take real time (a thread, an executor, a sleep, a real connection) is refused with the
frame that asked for it, or (`real_io="wait"`) time stands still until it is done. Does not depend
on Kafka.
"""

from __future__ import annotations

import asyncio
import functools
import random
import threading
import time
import traceback
from collections.abc import Callable
from typing import Any, Final, Literal

RealIo = Literal["refuse", "wait"]
_TURN_S: Final = 1e-6
_LOOK_S: Final = 0.01
_OWN: Final = (
    "/asyncio/",
    "/coordinator/testing/virtual/",
    "/threading.py",
    "/concurrent/futures/",
)


class VirtualTimeError(RuntimeError):
    """Something that takes real time was asked for under virtual time. Names what, and where."""


class _Task(asyncio.Task[Any]):
    """A task whose hash is its number, so that sets of tasks are in the same order in every
    process."""

    def __init__(self, coro: Any, *, number: int, **options: Any) -> None:
        self._number = number
        super().__init__(coro, **options)

    def __hash__(self) -> int:
        return self._number


class _Future(asyncio.Future[Any]):
    def __init__(self, *, number: int, loop: asyncio.AbstractEventLoop) -> None:
        self._number = number
        super().__init__(loop=loop)

    def __hash__(self) -> int:
        return self._number


class VirtualTime:
    """Patches a running loop. `seed` seeds module `random` meanwhile. `epoch_s`: what `time.time()`
    says at the beginning."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, *, seed: int, epoch_s: float, real_io: RealIo
    ) -> None:
        self.now_s = 0.0
        """Seconds since the beginning."""
        self._loop: Any = loop
        self._seed = seed
        self._epoch_s = epoch_s
        self._real_io = real_io
        self._thread = threading.get_ident()
        self._pending = 0
        self._number = 0
        self._undo: list[Callable[[], None]] = []
        if not hasattr(loop, "_selector"):
            raise VirtualTimeError(
                f"{type(loop).__name__} cannot be given virtual time: use asyncio's own selector event loop, not uvloop"
            )

    # -- on and off

    def begin(self) -> None:
        """From now on time is virtual."""
        zero = time.monotonic()
        zero_ns = time.monotonic_ns()
        loop = self._loop
        state = random.getstate()
        random.seed(self._seed)
        self._undo.append(lambda: random.setstate(state))
        self._patch_time("monotonic", lambda: zero + self.now_s)
        self._patch_time("perf_counter", lambda: zero + self.now_s)
        self._patch_time("monotonic_ns", lambda: zero_ns + int(self.now_s * 1e9))
        self._patch_time("time", lambda: self._epoch_s + self.now_s)
        self._patch_time("time_ns", lambda: int((self._epoch_s + self.now_s) * 1e9))
        self._patch_time(
            "sleep",
            lambda seconds: self._refuse(f"time.sleep({seconds})", "await asyncio.sleep instead"),
        )
        self._patch(loop, "time", lambda: zero + self.now_s)
        self._patch(
            loop._selector, "select", functools.partial(self._select, loop._selector.select)
        )
        self._patch(loop, "create_future", self._future)
        self._patch(
            loop, "run_in_executor", functools.partial(self._run_in_executor, loop.run_in_executor)
        )
        self._patch_start()
        factory = loop.get_task_factory()
        loop.set_task_factory(self._task)
        self._undo.append(lambda: loop.set_task_factory(factory))

    def end(self) -> None:
        """Time is real again."""
        while self._undo:
            self._undo.pop()()

    def _patch(self, owner: Any, name: str, value: Any) -> None:
        had = name in vars(owner)
        before = getattr(owner, name)
        setattr(owner, name, value)
        self._undo.append(lambda: setattr(owner, name, before) if had else delattr(owner, name))

    def _patch_time(self, name: str, virtual: Callable[..., Any]) -> None:
        real, thread = getattr(time, name), self._thread

        def here(*arguments: Any) -> Any:
            return virtual(*arguments) if threading.get_ident() == thread else real(*arguments)

        self._patch(time, name, here)

    def _patch_start(self) -> None:
        start, thread = threading.Thread.start, self._thread

        def refuse(this: threading.Thread) -> None:
            if threading.get_ident() == thread and self._real_io == "refuse":
                self._refuse(
                    f"a thread ({this.name})",
                    'await the work, or use virtual_kafka(real_io="wait")',
                )
            start(this)

        self._patch(threading.Thread, "start", refuse)

    # -- the loop

    def _select(self, select: Callable[[float | None], Any], timeout: float | None) -> Any:
        """What the loop does between two turns: see what is ready, and if nothing is, let time
        pass."""
        self.now_s += _TURN_S
        ready = select(0)
        if ready or timeout == 0:
            return ready
        if self._pending:
            return select(_LOOK_S)  # real work is under way: virtual time stands still
        if timeout is None:
            return select(None)  # no timer at all: only something from outside can go on
        self.now_s += timeout
        return ready

    def _task(self, loop: asyncio.AbstractEventLoop, coro: Any, **options: Any) -> Any:
        self._number += 1
        return _Task(coro, number=self._number, loop=loop, **options)

    def _future(self) -> asyncio.Future[Any]:
        self._number += 1
        return _Future(number=self._number, loop=self._loop)

    # -- what is real

    def _run_in_executor(
        self, run: Callable[..., Any], executor: Any, function: Any, *arguments: Any
    ) -> Any:
        if self._real_io == "refuse":
            self._refuse(
                f"run_in_executor({getattr(function, '__qualname__', function)})",
                'use virtual_kafka(real_io="wait")',
            )
        return self.hold(run(executor, function, *arguments))

    def hold(self, work: Any) -> Any:
        """Let virtual time stand still until a future is done."""
        self._pending += 1
        work.add_done_callback(lambda _: self.release())
        return work

    def release(self) -> None:
        """Something real is done."""
        self._pending -= 1

    def started(self) -> None:
        """Something real has begun."""
        self._pending += 1

    @property
    def waits_for_real_io(self) -> bool:
        """May real things be done, while time stands still?"""
        return self._real_io == "wait"

    def refuse_connection(self, host: object, port: object, known: str) -> None:
        """A connection to somewhere real was asked for. Raises VirtualTimeError."""
        self._refuse(
            f"a connection to {host}:{port}",
            f'the brokers are {known}; for others use virtual_kafka(real_io="wait")',
        )

    def _refuse(self, what: str, instead: str) -> None:
        raise VirtualTimeError(f"{what} under virtual time, at {_frame()}: {instead}")


def _frame() -> str:
    """Whose code asked: the innermost frame outside asyncio and this package."""
    for frame in reversed(traceback.extract_stack()):
        if not any(part in frame.filename for part in _OWN):
            return f"{frame.filename}:{frame.lineno} in {frame.name}"
    return "an unknown place"
