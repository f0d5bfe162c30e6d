"""The garbage collector leaves alone what a run has collected: modules and thousands of test items
that stay to its end, which every full collection would walk through again."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def what_is_made_here_stays() -> Iterator[None]:
    """Nothing is collected within; whatever is alive at the end is never looked at again. Garbage
    that was made within is taken away first."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.collect()
        gc.freeze()
