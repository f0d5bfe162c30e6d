"""Virtual time for a running asyncio event loop, and for the module `time` in its thread.

It patches both and puts everything back; `turns` decides how time passes. What would take real
time (a thread, an executor, a sleep, a real connection) is refused with the frame of its caller
or, with `real_io="wait"`, stops virtual time until it is done. It must not know Kafka.
"""

from __future__ import annotations

import asyncio
import functools
import itertools
import random
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from typing import Any, Final, Literal

from .turns import Turns

RealIo = Literal["refuse", "wait"]
_OWN: Final = (
    "/asyncio/",
    "/coordinator/testing/virtual/",
    "/threading.py",
    "/concurrent/futures/",
)

_COMPUTE_ONLY = frozenset({"BaseSaslAuthenticator._step"})
"""Work of a client library in a thread so that its loop goes on: done here at once. aiokafka's
logins are such."""


class VirtualTimeError(RuntimeError):
    """Something that takes real time was asked for under virtual time. Names what, and where."""


def _numbered(kind: type[Any], numbers: Iterator[int]) -> Callable[..., Any]:
    """Return a class of futures whose hash is a serial number, so that sets of them have the
    same order in every process."""

    def number(self: Any) -> int:
        try:
            given: int = self._number
        except AttributeError:
            given = self._number = next(numbers)
        return given

    made: Callable[..., Any] = type(kind.__name__, (kind,), {"__hash__": number})
    return made


class VirtualTime:
    """Patches a running loop. `seed` seeds module `random` meanwhile. `epoch_s`: what `time.time()`
    says at the beginning."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, *, seed: int, epoch_s: float, real_io: RealIo
    ) -> None:
        self._loop: Any = loop
        self._seed = seed
        self._epoch_s = epoch_s
        self._real_io = real_io
        self._thread = threading.get_ident()
        self._undo: list[Callable[[], None]] = []
        if not hasattr(loop, "_selector"):
            raise VirtualTimeError(
                f"{type(loop).__name__} cannot be given virtual time: use asyncio's own selector event loop, not uvloop"
            )
        if "_run_once" in vars(loop):
            raise VirtualTimeError("the loop has virtual time already: one block at a time")
        self.turns = Turns(loop)
        """The loop's, while time is virtual."""

    @property
    def now_s(self) -> float:
        """Seconds since the beginning."""
        return self.turns.now_s

    def set(self, handle: asyncio.TimerHandle, at_s: float) -> None:
        """Let a handle run so many seconds after the beginning; it may have run before."""
        turns = self.turns
        turns.set(handle, at_s + turns.time() - turns.now_s)

    # -- on and off

    def begin(self) -> None:
        """Begin virtual time."""
        turns, loop, epoch_s = self.turns, self._loop, self._epoch_s
        turns.take_over()
        self._undo.append(turns.give_back)
        state = random.getstate()
        random.seed(self._seed)
        self._undo.append(lambda: random.setstate(state))
        self._patch_time("monotonic", turns.time)
        self._patch_time("perf_counter", turns.time)
        self._patch_time("monotonic_ns", lambda: int(turns.time() * 1e9))
        self._patch_time("time", lambda: epoch_s + turns.now_s)
        self._patch_time("time_ns", lambda: int((epoch_s + turns.now_s) * 1e9))
        self._patch_time(
            "sleep",
            lambda seconds: self._refuse(f"time.sleep({seconds})", "await asyncio.sleep instead"),
        )
        for name in ("time", "call_soon", "call_later", "call_at"):
            self._patch(loop, name, getattr(turns, name))
        if not loop.get_debug():  # each handle asks: no function of Python's then
            self._patch(loop, "get_debug", bool)
        numbers = itertools.count(1)
        task = _numbered(asyncio.Task, numbers)
        future = functools.partial(_numbered(asyncio.Future, numbers), loop=loop)
        self._patch(loop, "create_future", future)
        self._patch(
            loop, "run_in_executor", functools.partial(self._run_in_executor, loop.run_in_executor)
        )
        self._patch_start()
        factory = loop.get_task_factory()
        loop.set_task_factory(
            lambda loop, coroutine, **options: task(coroutine, loop=loop, **options)
        )
        self._undo.append(lambda: loop.set_task_factory(factory))
        self._patch(loop, "_run_once", turns.turn)

    def end(self) -> None:
        """Return to real time."""
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

    # -- what is real

    def _run_in_executor(
        self, run: Callable[..., Any], executor: Any, function: Any, *arguments: Any
    ) -> Any:
        if getattr(function, "__qualname__", "") in _COMPUTE_ONLY:
            return self._done(function, *arguments)
        if self._real_io == "refuse":
            self._refuse(
                f"run_in_executor({getattr(function, '__qualname__', function)})",
                'use virtual_kafka(real_io="wait")',
            )
        return self.hold(run(executor, function, *arguments))

    def _done(self, function: Callable[..., Any], *arguments: Any) -> asyncio.Future[Any]:
        """Return a finished future with the function's result or error."""
        future: asyncio.Future[Any] = self._loop.create_future()
        try:
            future.set_result(function(*arguments))
        except Exception as error:
            future.set_exception(error)
        return future

    def hold(self, work: Any) -> Any:
        """Let virtual time stand still until a future is done."""
        self.turns.pending += 1
        work.add_done_callback(lambda _: self.release())
        return work

    def release(self) -> None:
        """Note that work outside virtual time has ended."""
        self.turns.pending -= 1

    def started(self) -> None:
        """Note that work outside virtual time has begun."""
        self.turns.pending += 1

    @property
    def waits_for_real_io(self) -> bool:
        """Return whether real input and output may happen while time stands still."""
        return self._real_io == "wait"

    def refuse_connection(self, host: object, port: object, known: str) -> None:
        """Refuse a connection to a real address. Raises VirtualTimeError."""
        self._refuse(
            f"a connection to {host}:{port}",
            f'the brokers are {known}; for others use virtual_kafka(real_io="wait")',
        )

    def _refuse(self, what: str, instead: str) -> None:
        raise VirtualTimeError(f"{what} under virtual time, at {_frame()}: {instead}")


def _frame() -> str:
    """Return the innermost frame outside asyncio and this package: the caller's code."""
    for frame in reversed(traceback.extract_stack()):
        if not any(part in frame.filename for part in _OWN):
            return f"{frame.filename}:{frame.lineno} in {frame.name}"
    return "an unknown place"
