"""Work in slices: generators that stop now and then, so that other work can run meanwhile.

A request may name hundreds of thousands of items; the work on them is done in slices, so that no
other client waits long. Values and functions only: does not depend on who does the work, on
clocks or on loops.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Generator, Iterable
from typing import Final, TypeAlias, TypeVar

A = TypeVar("A")
T = TypeVar("T")
Slices: TypeAlias = Generator[None, int, T]
"""Work that stops from time to time, is sent the instant at which it goes on (milliseconds), and
returns a T in the end."""

ITEMS_A_STEP: Final = 64
"""So many items are seen to between two stops, some 10 microseconds each."""


def whole(work: Slices[T], now: int) -> T:
    """Do all of the work at once and return its result."""
    try:
        next(work)
        while True:
            work.send(now)
    except StopIteration as end:
        value: T = end.value
        return value


def after_first(work: Slices[T]) -> Slices[T]:
    """Return the rest of work that has stopped once."""
    now = yield
    try:
        while True:
            work.send(now)
            now = yield
    except StopIteration as end:
        value: T = end.value
        return value


def done(value: T) -> Slices[T]:
    """Return work that is already done, with this result."""
    yield from ()
    return value


def each(items: Iterable[A], do: Callable[[A], T]) -> Slices[list[T]]:
    """Return `[do(item) for item in items]`, in slices."""
    made: list[T] = []
    for item in items:
        made.append(do(item))
        if not len(made) % ITEMS_A_STEP:
            yield
    return made


def each_in_slices(items: Iterable[A], do: Callable[[A], Slices[T]]) -> Slices[list[T]]:
    """Return the results of `do` for each item, in slices; `do` is itself work in slices, and there
    is a stop after each item.
    """
    made: list[T] = []
    for item in items:
        made.append((yield from do(item)))
        yield
    return made


def only(items: Iterable[A], test: Callable[[A], object]) -> Slices[list[A]]:
    """Return `[item for item in items if test(item)]`, in slices."""
    found: list[A] = []
    for seen, item in enumerate(items, 1):
        if test(item):
            found.append(item)
        if not seen % ITEMS_A_STEP:
            yield
    return found


def uncollected(work: Callable[..., T], *arguments: object) -> T:
    """Do a part of a large piece of work without garbage collection, which would go through all of
    its objects again and again; they are freed by reference counts, or stay.
    """
    if not gc.isenabled():
        return work(*arguments)
    gc.disable()
    try:
        return work(*arguments)
    finally:
        gc.enable()
