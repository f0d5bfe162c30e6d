"""Python's garbage collector, made to run less often while many lasting objects are made.

Its thresholds are CPython's: PyPy has none and is left alone. Does not depend on what is made.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collecting_seldom(allocations: int, *further: int) -> Iterator[None]:
    """Raise the collector's first threshold to `allocations` within a block, unless it is that high
    already; `further`: the other thresholds, by default unchanged.
    """
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
