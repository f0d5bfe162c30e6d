"""Exponential backoff with jitter, as in the Java clients (KIP-580). The caller passes the source
of randomness.
"""

from __future__ import annotations

from collections.abc import Callable

_GROWTH = 2
_JITTER = 0.2


class Backoff:
    """Durations that double from `initial_ms` to `most_ms`, each with a jitter of up to 20 %
    (CLI-1). `chance` draws from 0 to 1.
    """

    __slots__ = ("_attempts", "_chance", "_initial_ms", "_most_ms")

    def __init__(self, initial_ms: int, most_ms: int, chance: Callable[[], float]) -> None:
        self._initial_ms = min(initial_ms, most_ms)
        self._most_ms = most_ms
        self._chance = chance
        self._attempts = 0

    def next(self) -> int:
        """Return the next duration in ms."""
        term = min(self._initial_ms * _GROWTH ** min(self._attempts, 30), self._most_ms)
        self._attempts += 1
        return int(min(term * (1 + _JITTER * (2 * self._chance() - 1)), self._most_ms))

    def reset(self) -> None:
        """Start again with the initial duration, after a success."""
        self._attempts = 0
