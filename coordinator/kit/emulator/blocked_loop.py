"""Finds a blocking client on the emulator's own event loop, names it and interrupts it.

With `async with Emulator()` the emulator runs on its caller's loop. A blocking client
(kafka-python, confluent-kafka) that is called on that loop waits for a broker that waits for the
loop, so the test would hang until the client's bootstrap timeout. A thread checks that the loop
still runs. If it does not, and a client library is on its stack, the thread logs that at once.
It also raises an exception in the blocked call; Python delivers it when that thread runs Python
code again (kafka-python 3 waits on a lock until its own bootstrap timeout).
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Iterator
from threading import Event, Thread, get_ident
from types import FrameType

from .options import EmulatorError

logger = logging.getLogger("coordinator.server.net.server")

_LOOK_S = 1.0
_LOOKS = 3
"""The loop counts as blocked after so many checks at which it had neither run nor left the
client."""
_DEBUGGERS = frozenset({"bdb", "pdb", "pydevd", "debugpy", "_pydevd_bundle", "IPython"})


class BlockingClientError(EmulatorError):
    """A blocking client blocks the loop that the emulator runs on: which client, where, and what
    to do instead."""

    told = ""

    def __init__(self, text: str = "") -> None:
        super().__init__(text or self.told)


class BlockWatch:
    """Watches the running loop until `end`, which is called on it, too."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._thread = get_ident()
        self._end = Event()
        self._found: BlockingClientError | None = None
        self._watcher = Thread(target=self._watch, name="coordinator-blocked-loop", daemon=True)
        self._watcher.start()

    def end(self, error: BaseException | None) -> None:
        """End the watch. Raises BlockingClientError if the loop was blocked, unless `error`,
        which ends the block, is that error already."""
        self._end.set()
        self._watcher.join()
        if self._found is not None and not isinstance(error, BlockingClientError):
            raise self._found from error

    def _watch(self) -> None:
        turned, missed = Event(), 0
        while not self._end.wait(_LOOK_S):
            if turned.is_set() or not missed:
                missed = 1
                turned.clear()
                try:
                    self._loop.call_soon_threadsafe(turned.set)
                except RuntimeError:  # the loop is closed
                    return
                continue
            blocked = blocking_client(sys._current_frames().get(self._thread))
            missed = missed + 1 if blocked else 1
            if blocked and missed > _LOOKS and not self._end.is_set():
                self._interrupt(*blocked)
                return

    def _interrupt(self, client: str, where: str) -> None:
        import ctypes  # at first use, so that start-up does not load it

        text = (
            f"{client} blocks the loop that the emulator runs on, at {where}: neither can continue. Call it in a thread "
            "(await asyncio.to_thread(...)), or let the emulator have a thread of its own: `with Emulator(...)`, the fixture kafka"
        )
        kind = type(
            "BlockingClientError", (BlockingClientError,), {"told": text, "__module__": __name__}
        )
        self._found = BlockingClientError(text)
        logger.error("%s", text)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(self._thread), ctypes.py_object(kind)
        )


def blocking_client(innermost: FrameType | None) -> tuple[str, str] | None:
    """Return the client library whose call is on a thread's stack, and the caller's line. None
    if there is none, or if the library is being debugged or imported."""
    frames = list(_outwards(innermost))
    packages = [str(frame.f_globals.get("__name__", "")).partition(".")[0] for frame in frames]
    if _DEBUGGERS.intersection(packages) or any(
        "importlib" in frame.f_code.co_filename for frame in frames
    ):
        return None
    last = max(
        (number for number, package in enumerate(packages) if package == "kafka"), default=-1
    )
    if last + 1 < len(frames) and last >= 0:
        return "kafka-python", _place(frames[last + 1])
    calls = [
        number
        for number, frame in enumerate(frames[:2])
        if packages[number] == "confluent_kafka" or _holds_confluent(frame)
    ]
    if calls:
        return "confluent-kafka", _place(
            frames[next((n for n in calls if packages[n] != "confluent_kafka"), calls[-1])]
        )
    return None


def _outwards(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _holds_confluent(frame: FrameType) -> bool:
    """Return True if a function uses an object of confluent-kafka. Its calls are C code and
    appear on no Python stack."""
    values = list(frame.f_locals.values())
    owner = frame.f_locals.get("self")
    values += vars(owner).values() if hasattr(owner, "__dict__") else ()
    return any(
        base.__module__.partition(".")[0] in ("cimpl", "confluent_kafka")
        for value in values
        for base in type(value).__mro__
    )


def _place(frame: FrameType) -> str:
    return f"{frame.f_code.co_filename}:{frame.f_lineno} in {frame.f_code.co_name}"
