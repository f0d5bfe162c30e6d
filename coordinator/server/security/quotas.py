"""Quota arithmetic of Kafka: a rate over time windows, and a token bucket.

`Rate` is Kafka's Rate over a WindowedSum: `samples` windows of `window_ms`, the youngest
unfinished; if the rate is too high, it gives the throttle time (QUO-2). `TokenBucket` limits
topic changes (KIP-599): tokens arrive at the rate, up to the amount of all windows, and a change
may take more than are left (QUO-4). Rates are per second; the caller passes the time. Does not
know clients.
"""

from __future__ import annotations

from math import floor
from typing import NamedTuple


class Windows(NamedTuple):
    """Values of `quota.window.num` and `quota.window.size.seconds`."""

    samples: int = 11
    window_ms: int = 1_000

    @property
    def full_ms(self) -> int:
        """Shortest time over which a rate is computed: all windows but the unfinished one."""
        return (self.samples - 1) * self.window_ms


class _Sample:
    __slots__ = ("last_ms", "start_ms", "value")

    def __init__(self, now: int) -> None:
        self.start_ms = self.last_ms = now
        self.value = 0.0


class Rate:
    """Amounts used, by window."""

    __slots__ = ("_at", "_samples", "_windows")

    def __init__(self, windows: Windows) -> None:
        self._windows = windows
        self._samples: list[_Sample] = []
        self._at = 0

    def record(self, value: float, now: int) -> None:
        """Add an amount; a negative one takes back an earlier one."""
        samples = self._samples
        if not samples:
            samples.append(_Sample(now))
        sample = samples[self._at]
        if now - sample.start_ms >= self._windows.window_ms:
            # one more than are counted: the unfinished window has one of its own
            self._at = (self._at + 1) % (self._windows.samples + 1)
            if self._at == len(samples):
                samples.append(_Sample(now))
            sample = samples[self._at]
            sample.start_ms, sample.value = now, 0.0
        sample.value += value
        sample.last_ms = now

    def throttle_ms(self, limit: float, now: int) -> int:
        """Return how long nothing may be used until the rate is back at the limit; 0 if it is not
        too high.
        """
        windows = self._windows
        expire_ms = windows.samples * windows.window_ms
        total, oldest = 0.0, now
        for sample in self._samples:
            if now - sample.last_ms >= expire_ms:
                sample.start_ms = sample.last_ms = now
                sample.value = 0.0
            total += sample.value
            oldest = min(oldest, sample.start_ms)
        elapsed_ms = now - oldest
        missing = windows.samples - 1 - elapsed_ms // windows.window_ms
        if missing > 0:
            elapsed_ms += missing * windows.window_ms
        elapsed_ms = max(elapsed_ms, 1)
        rate = total / (elapsed_ms / 1000)
        if rate <= limit:
            return 0
        return floor((rate - limit) / limit * elapsed_ms + 0.5)

    def is_over(self, now: int) -> bool:
        """Return True if no recorded amount counts any more."""
        expire_ms = self._windows.samples * self._windows.window_ms
        return all(now - sample.last_ms >= expire_ms for sample in self._samples)


class TokenBucket:
    """Budget of changes, full at first."""

    __slots__ = ("_at_ms", "_tokens", "_windows")

    def __init__(self, windows: Windows) -> None:
        self._windows = windows
        self._tokens: float | None = None
        self._at_ms = 0

    def take(self, count: float, limit: float, now: int) -> None:
        """Take tokens for `count` changes, even if there are not enough."""
        self._tokens = self._filled(limit, now) - count

    def throttle_ms(self, limit: float, now: int) -> int:
        """Return the time in ms until the bucket is no longer negative; 0 if it is not."""
        self._tokens = tokens = self._filled(limit, now)
        return floor(-tokens / limit * 1000 + 0.5) if tokens < 0 else 0

    def _filled(self, limit: float, now: int) -> float:
        most = self._windows.samples * self._windows.window_ms / 1000 * limit
        tokens = most if self._tokens is None else self._tokens
        tokens = min(most, tokens + limit * (now - self._at_ms) / 1000)
        self._at_ms = now
        return tokens

    def is_over(self, now: int) -> bool:
        """Return True if the bucket is certainly full again, whatever the limit."""
        expire_ms = self._windows.samples * self._windows.window_ms
        return now - self._at_ms >= expire_ms and (self._tokens or 0) >= 0
