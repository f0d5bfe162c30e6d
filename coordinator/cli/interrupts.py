"""Ctrl-C: commands that compute for long end and print the results so far; commands that run until
they are stopped stop.

A shell that starts a command with `&` lets it ignore SIGINT; these commands handle it all the
same, as servers do.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import asyncio

INTERRUPTED: Final = 130
"""The exit status of what was interrupted and had found nothing wrong until then."""

Handler = Callable[[int, FrameType | None], object]


@contextmanager
def interruptible(handler: Handler = signal.default_int_handler) -> Iterator[None]:
    """Let SIGINT call `handler` within the block; the default one raises KeyboardInterrupt.
    Changes nothing outside a process's main thread, where no handler can be set."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    former = signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, former)


@contextmanager
def unheard() -> Iterator[None]:
    """Hold SIGINT back until the end of the block. Processes that are started within it never
    receive it: their parent ends them."""
    former = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, former)


def stop_on_signals(loop: asyncio.AbstractEventLoop, asked_to_stop: asyncio.Event) -> None:
    """Set the event at the first SIGINT or SIGTERM; the second one ends the process at once."""

    def stop() -> None:
        asked_to_stop.set()
        for number in (signal.SIGINT, signal.SIGTERM):  # the next one ends us in its own way
            loop.remove_signal_handler(number)

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
