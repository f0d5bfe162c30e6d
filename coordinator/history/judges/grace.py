"""Tolerance of judges of time: how exact a log's instants are, and how late something may be.

Under virtual time nothing is late: a timer fires at its millisecond, and messages travel as long
as their links say. In real time a driver may be late, a machine may stand still, and a client's
clock differs from its broker's.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Grace(NamedTuple):
    """The allowances. `late_ms`: so far from its instant may happen what is due. `link_ms`: so
    long may a message be on its way between a member and its broker, which a member's own instants
    do not tell. `heartbeat_ms`: so often at least does a member that is well send a heartbeat;
    None: that is not known."""

    late_ms: int
    link_ms: int
    heartbeat_ms: int | None = None


REAL_TIME: Final = Grace(10_000, 0)
"""For a live emulator or a real broker, on a machine that has other things to do."""


def virtual_time(link_ms: int, heartbeat_ms: int) -> Grace:
    """For a simulation whose links take so long at most, and whose members' heartbeats come so
    often at least."""
    return Grace(0, link_ms, heartbeat_ms)
