"""Sentences about committed offsets that were removed without a request of a client, so that a
group reads everything again."""

from __future__ import annotations

from coordinator.events.cluster import TopicCreated
from coordinator.events.groups import OffsetsRemoved
from coordinator.events.line import Line

from ..world.blobs import numbers_of
from .formatting import duration, partitions, printable

_DAY_MS = 86_400_000
_ANEW = "the next consumer of them begins by auto.offset.reset"


def removed(line: Line, event: OffsetsRemoved, clock_ahead_ms: int) -> str:
    """Return a sentence about offsets that expired, or were deleted with their topic.
    `clock_ahead_ms`: by how much the broker's wall clock has jumped ahead."""
    gone = numbers_of(event.partitions)
    if event.reason != "expired":
        return f"The offsets committed for {partitions(gone)} were deleted with the topic (EXP-7)."
    if clock_ahead_ms:
        where = "ahead of" if clock_ahead_ms > 0 else "behind"
        return (
            f"The offsets committed for {partitions(gone)} expired (EXP-1): the wall clock of broker {line.broker}'s host "
            f"has jumped and is now {_span(abs(clock_ahead_ms))} {where} what it would be."
        )
    return (
        f"The offsets committed for {partitions(gone)} expired (EXP-1): for offsets.retention.minutes no member "
        f"read those partitions; {_ANEW}."
    )


def made_again(line: Line, event: TopicCreated, deleted_ms: int) -> str:
    """Return a sentence about a topic that a group reads and that was created again after its
    deletion."""
    topic, count = printable(event.topic), len(event.replicas)
    return (
        f"Topic {topic} was made again with {count} partition{'' if count == 1 else 's'}, "
        f"{duration(line.at_ms - deleted_ms)} after it had been deleted: offsets and positions of the old one are void; {_ANEW}."
    )


def _span(ms: int) -> str:
    """Return "10 days", "1 day 2 h", or for less than a day what `duration` returns."""
    days, rest = divmod(ms, _DAY_MS)
    if not days:
        return duration(ms)
    hours = rest // 3_600_000
    return f"{days} day{'s' if days > 1 else ''}" + (f" {hours} h" if hours else "")
