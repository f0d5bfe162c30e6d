"""Tolerance of judges of time: how exact a log's instants are, and how late something may be.

Under virtual time nothing is late: a timer fires at its millisecond, and messages travel as long
as their links say. In real time a driver may be late, a machine may stand still, and a client's
clock differs from its broker's.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Grace(NamedTuple):
    """The tolerance. `late_ms`: how late a timer may fire. `link_ms`: longest travel time of a
    message between a member and its broker, which members' own lines do not show.
    `heartbeat_ms`: longest time between two heartbeats of a healthy member; None: unknown."""

    late_ms: int
    link_ms: int
    heartbeat_ms: int | None = None


REAL_TIME: Final = Grace(10_000, 0)
"""For a live emulator or a real broker, on a busy machine."""


def virtual_time(link_ms: int, heartbeat_ms: int) -> Grace:
    """Return the tolerance for a simulation with these longest delays of links and of
    heartbeats."""
    return Grace(0, link_ms, heartbeat_ms)
