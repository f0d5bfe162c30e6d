"""Work in slices: generators that stop where something else may be done meanwhile.

Requests may name hundreds of thousands of things; what is done for each of them is done in slices,
so that nobody else waits long. Values and functions only: does not depend on who does the work, on
clocks or on loops.
"""

from __future__ import annotations

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
    """What work returns, done at once."""
    try:
        next(work)
        while True:
            work.send(now)
    except StopIteration as end:
        value: T = end.value
        return value


def each(items: Iterable[A], do: Callable[[A], T]) -> Slices[list[T]]:
    """`[do(item) for item in items]`."""
    done: list[T] = []
    for item in items:
        done.append(do(item))
        if not len(done) % ITEMS_A_STEP:
            yield
    return done
