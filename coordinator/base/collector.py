"""Python's garbage collector, told to look less often while much is made that stays.

Its thresholds are CPython's: PyPy has none, and is left alone. Does not depend on what is made.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collecting_seldom(allocations: int, *further: int) -> Iterator[None]:
    """Let the youngest generation wait for so many allocations, unless it does already; `further`:
    the thresholds of the older ones, as they were by default."""
    if not hasattr(gc, "get_threshold"):
        yield
        return
    before = gc.get_threshold()
    if before[0] >= allocations:
        yield
        return
    gc.set_threshold(allocations, *(further or before[1:]))
    try:
        yield
    finally:
        gc.set_threshold(*before)
