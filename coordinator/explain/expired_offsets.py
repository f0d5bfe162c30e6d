"""Offsets that expired because a wall clock had jumped, as a note of a group's timeline. Other
expiries are none: they are routine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from .views import GroupView, Note
from .words import duration, partitions

if TYPE_CHECKING:
    from ..event_log.reader import Line

_DAY_MS = 86_400_000


class Clocked(Protocol):
    """What a timeline knows of clocks: how far that of each broker's host has jumped so far."""

    clocks_ahead_ms: dict[int, int]


def note_expiry(timeline: Clocked, group: GroupView, line: Line) -> None:
    """Committed offsets went. Tell it if they expired by a clock that is not where it was."""
    broker = line.get("broker")
    ahead_ms = timeline.clocks_ahead_ms.get(broker, 0) if isinstance(broker, int) else 0
    if line["reason"] != "expired" or not ahead_ms:
        return
    gone: dict[str, list[int]] = {}
    for row in line["partitions"]:
        gone.setdefault(row["topic"], []).append(row["partition"])
    told = (
        f"The offsets committed for {partitions(gone)} expired (EXP-1): the wall clock of broker {broker}'s host has jumped and is now "
        f"{_span(abs(ahead_ms))} {'ahead of' if ahead_ms > 0 else 'behind'} what it would be."
    )
    group.entries.append(
        Note(
            line["at_ms"],
            line["seq"],
            line["type"],
            group.generation,
            [],
            line,
            last_ms=line["at_ms"],
            sentence=told,
        )
    )


def _span(ms: int) -> str:
    """`10 days`, `1 day 2 h`, or what `duration` says of less than a day."""
    days, rest = divmod(ms, _DAY_MS)
    if not days:
        return duration(ms)
    hours = rest // 3_600_000
    return f"{days} day{'s' if days > 1 else ''}" + (f" {hours} h" if hours else "")
