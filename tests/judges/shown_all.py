"""A judge that is shown every line, whatever types it says that it looks at."""

from __future__ import annotations

from collections.abc import Callable

from coordinator.judges import Judge


def shown_all(kind: Callable[[], Judge]) -> Judge:
    """The judge that `kind` makes."""
    one = kind()
    vars(one)["looks_at"] = vars(one)["of_streams"] = None
    return one
