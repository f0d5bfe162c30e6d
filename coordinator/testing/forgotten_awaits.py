"""Fails tests that forgot an `await`: a call of the asynchronous kit without it waits for nothing,
and Python only warns.

Only the kit's own coroutines are checked. One that is still referenced when the test function
ends, for example by a fixture, is checked when the test's fixtures have ended; one that was made
a task counts as awaited.
"""

from __future__ import annotations

import gc
import inspect
import linecache
import os
from collections.abc import Iterable
from typing import Any, Final

import pytest

from coordinator.base.forgotten_awaits import Call, Watch

_WATCH: Final = pytest.StashKey[Watch]()


def begin(item: pytest.Item) -> None:
    """Begin to record the calls of a test and its fixtures."""
    item.stash[_WATCH] = watch = Watch()
    watch.begin()


def check(item: pytest.Item, *, held: bool) -> None:
    """Fail if a call was not awaited. `held`: also if its coroutine is still referenced."""
    watch = item.stash.get(_WATCH, None)
    if watch is None:
        return
    forgotten = [
        call for call in watch.calls if _not_begun(call) and not _is_held(call, anybody=not held)
    ]
    if forgotten:
        for call in forgotten:
            call.coroutine.close()  # Python does not warn of it any more
        pytest.fail(_told(forgotten), pytrace=False)


def forget(item: pytest.Item) -> None:
    """Ignore all calls so far, because the test has failed; Python still warns as usual."""
    if (watch := item.stash.get(_WATCH, None)) is not None:
        watch.calls.clear()


def end(item: pytest.Item) -> None:
    """End the recording."""
    item.stash[_WATCH].end()
    del item.stash[_WATCH]


def _not_begun(call: Call) -> bool:
    coroutine: Any = call.coroutine
    return inspect.getcoroutinestate(coroutine) == inspect.CORO_CREATED


def _is_held(call: Call, *, anybody: bool) -> bool:
    """Return True if a task refers to the coroutine or, with `anybody`, if anything does."""
    import asyncio

    holders = [each for each in gc.get_referrers(call.coroutine) if each is not call]
    return any(anybody or isinstance(each, asyncio.Future) for each in holders)


def _told(calls: Iterable[Call]) -> str:
    lines = []
    for call in calls:
        file = os.path.relpath(call.file) if os.path.isabs(call.file) else call.file
        source = linecache.getline(call.file, call.line).strip()
        lines.append(
            f"{file}:{call.line}: {call.name}() was not awaited, so nothing was waited for: write await before it"
        )
        if source:
            lines.append(f"    {source}")
    return "\n".join(lines)
