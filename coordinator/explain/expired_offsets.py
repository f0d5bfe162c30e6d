"""Offsets that expired because a wall clock had jumped, in a sentence."""

from __future__ import annotations

from ..event_log.reader import Line
from ..history.blobs import by_topic
from .words import duration, partitions

_DAY_MS = 86_400_000


def sentence(line: Line, ahead_ms: int) -> str:
    """Committed offsets that expired by a clock that is `ahead_ms` from where it would be."""
    gone = by_topic((row["topic"], [row["partition"]]) for row in line["partitions"])
    return (
        f"The offsets committed for {partitions(gone)} expired (EXP-1): the wall clock of broker {line['broker']}'s host "
        f"has jumped and is now {_span(abs(ahead_ms))} {'ahead of' if ahead_ms > 0 else 'behind'} what it would be."
    )


def _span(ms: int) -> str:
    """`10 days`, `1 day 2 h`, or what `duration` says of less than a day."""
    days, rest = divmod(ms, _DAY_MS)
    if not days:
        return duration(ms)
    hours = rest // 3_600_000
    return f"{days} day{'s' if days > 1 else ''}" + (f" {hours} h" if hours else "")
