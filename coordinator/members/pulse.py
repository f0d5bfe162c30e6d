"""Deadlines of a classic member: its next heartbeat, the end of its session, and the application's
next poll (CLI-12). It is Java's `Heartbeat`. Sends nothing, and does not know the member's
state.
"""

from __future__ import annotations

from .backoff import Backoff
from .config import MemberConfig


class Pulse:
    """Deadlines of one member, in milliseconds since the driver's zero."""

    __slots__ = (
        "_backoff",
        "beat_at",
        "config",
        "in_flight",
        "interval_ms",
        "poll_expires_at",
        "session_expires_at",
    )

    def __init__(self, config: MemberConfig, backoff: Backoff, now: int) -> None:
        self.config = config
        self._backoff = backoff
        self.in_flight = False
        self.interval_ms = config.heartbeat_interval_ms
        """The time between two heartbeats."""
        self.reset(now)

    def reset(self, now: int) -> None:
        """Restart all three deadlines for a new generation."""
        self.beat_at = now + self.interval_ms
        self.reset_session(now)
        self.polled(now)

    def reset_session(self, now: int) -> None:
        """Restart the session timeout."""
        self.session_expires_at = now + self.config.session_timeout_ms

    def polled(self, now: int) -> None:
        """Note a poll of the application."""
        self.poll_expires_at = now + self.config.max_poll_interval_ms

    def sent(self, now: int) -> None:
        """Note that a heartbeat was sent."""
        self.in_flight = True
        self.beat_at = now + self.interval_ms

    def received(self, now: int) -> None:
        """Note a successful answer, or REBALANCE_IN_PROGRESS (27)."""
        self.in_flight = False
        self._backoff.reset()
        self.reset_session(now)

    def failed(self, now: int) -> None:
        """Note a failure: the next heartbeat is sent after a backoff, not after an interval."""
        self.in_flight = False
        self.beat_at = now + self._backoff.next()

    def should_beat(self, now: int) -> bool:
        """Return whether a heartbeat is due."""
        return not self.in_flight and now >= self.beat_at

    def next_deadline(self) -> int:
        """Return the earliest of the deadlines."""
        due = self.session_expires_at
        if self.poll_expires_at < due:
            due = self.poll_expires_at
        return due if self.in_flight or due < self.beat_at else self.beat_at
