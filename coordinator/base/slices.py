"""Work in slices: generators that stop where something else may be done meanwhile.

Requests may name hundreds of thousands of things; what is done for each of them is done in slices,
so that nobody else waits long. Values and functions only: does not depend on who does the work, on
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
    """The result of work, done at once."""
    try:
        next(work)
        while True:
            work.send(now)
    except StopIteration as end:
        value: T = end.value
        return value


def after_first(work: Slices[T]) -> Slices[T]:
    """The rest of work that has stopped once."""
    now = yield
    try:
        while True:
            work.send(now)
            now = yield
    except StopIteration as end:
        value: T = end.value
        return value


def done(value: T) -> Slices[T]:
    """Work of which nothing is left to do."""
    yield from ()
    return value


def each(items: Iterable[A], do: Callable[[A], T]) -> Slices[list[T]]:
    """`[do(item) for item in items]`."""
    made: list[T] = []
    for item in items:
        made.append(do(item))
        if not len(made) % ITEMS_A_STEP:
            yield
    return made


def each_in_slices(items: Iterable[A], do: Callable[[A], Slices[T]]) -> Slices[list[T]]:
    """As `each`, where an item itself may be much work: it stops after each."""
    made: list[T] = []
    for item in items:
        made.append((yield from do(item)))
        yield
    return made


def only(items: Iterable[A], test: Callable[[A], object]) -> Slices[list[A]]:
    """`[item for item in items if test(item)]`."""
    found: list[A] = []
    for seen, item in enumerate(items, 1):
        if test(item):
            found.append(item)
        if not seen % ITEMS_A_STEP:
            yield
    return found


def uncollected(work: Callable[..., T], *arguments: object) -> T:
    """Do a part of something large without garbage collection, which would go through all of it
    again and again: what it is made of goes by reference counts, or stays."""
    if not gc.isenabled():
        return work(*arguments)
    gc.disable()
    try:
        return work(*arguments)
    finally:
        gc.enable()
