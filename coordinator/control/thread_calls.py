"""How the kit reaches the emulator from any thread: a function is called between two requests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

T = TypeVar("T")
DEFAULT_TIMEOUT_S = 30.0
"""How long the kit waits for something, unless told otherwise."""


class Runner(Protocol):
    """Calls a function between two requests and returns its result; from any thread."""

    def __call__(self, function: Callable[[], T], /) -> T: ...
