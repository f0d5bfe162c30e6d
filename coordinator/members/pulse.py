"""Deadlines of a member: the instants of its next heartbeat, of the end of its session, and of the
poll that its application owes (CLI-12).

Java's `Heartbeat`. Owns no state of the membership; sends nothing.
"""

from __future__ import annotations

from .backoff import Backoff
from .config import MemberConfig


class Pulse:
    """Deadlines of one member. All instants are milliseconds since the driver's zero."""

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
        """How long after a heartbeat the next one is sent."""
        self.reset(now)

    def reset(self, now: int) -> None:
        """A generation begins: all three start anew."""
        self.beat_at = now + self.interval_ms
        self.reset_session(now)
        self.polled(now)

    def reset_session(self, now: int) -> None:
        """The coordinator has just been found, or was heard."""
        self.session_expires_at = now + self.config.session_timeout_ms

    def polled(self, now: int) -> None:
        """The application called in."""
        self.poll_expires_at = now + self.config.max_poll_interval_ms

    def sent(self, now: int) -> None:
        """A heartbeat is on its way."""
        self.in_flight = True
        self.beat_at = now + self.interval_ms

    def received(self, now: int) -> None:
        """It was answered well, or with 27."""
        self.in_flight = False
        self._backoff.reset()
        self.reset_session(now)

    def failed(self, now: int) -> None:
        """It was not: try again after a backoff, not after a whole interval."""
        self.in_flight = False
        self.beat_at = now + self._backoff.next()

    def should_beat(self, now: int) -> bool:
        """Return whether a heartbeat is due."""
        return not self.in_flight and now >= self.beat_at

    def next_deadline(self) -> int:
        """Return the next of the deadlines."""
        due = self.session_expires_at
        if self.poll_expires_at < due:
            due = self.poll_expires_at
        return due if self.in_flight or due < self.beat_at else self.beat_at
