"""Deleted and compacted records, and the clients that asked for them, in sentences."""

from __future__ import annotations

from coordinator.events.wire import FetchWentOn

from ..world.deleted_records import Asked, Compaction, Deletion, rule
from .formatting import instant, listed, printable


def told(deletion: Deletion) -> str:
    """Return a sentence about a deletion and all clients that asked for the deleted records."""
    asked = [_asked(each) for each in deletion.asked]
    return f"{_what(deletion)}{'; ' if asked else ''}{listed(asked)}."


def of_reader(deletion: Deletion, asked: Asked) -> str:
    """Return a sentence about a client that asked for deleted records: what it asked for, where it
    went on, and why."""
    return f"{_what(deletion)}; {_asked(asked)}."


def told_compaction(compaction: Compaction) -> str:
    """Return a sentence about a compaction and all clients that asked for compacted offsets."""
    event, (topic, partition) = compaction.event, compaction.place
    removed = "1 record" if event.removed == 1 else f"{event.removed} records"
    was = "was" if event.removed == 1 else "were"
    what = f"{removed} of {printable(topic)}-{partition} below offset {event.end_offset} {was}"
    asked = [
        f"client {printable(client)} asked for {offset} at {instant(at_ms)} and the first record kept is {first}"
        for client, (at_ms, offset, first) in compaction.asked.items()
    ]
    by = f"compacted away at {instant(compaction.at_ms)} by {printable(event.reason)}"
    return f"{what} {by}{'; ' if asked else ''}{listed(asked)}."


def _what(deletion: Deletion) -> str:
    first, last = deletion.first_offset, deletion.end_offset - 1
    topic, partition = deletion.place
    offsets = f"Offset {first}" if first == last else f"Offsets {first} to {last}"
    when = (
        f"at {instant(deletion.ended_ms)}"
        if deletion.ended_ms == deletion.began_ms
        else f"from {instant(deletion.began_ms)} to {instant(deletion.ended_ms)}"
    )
    reason, value = rule(deletion.event)
    by = printable(reason) if value is None else f"{printable(reason)}={value}"
    were = "was" if first == last else "were"
    return f"{offsets} of {printable(topic)}-{partition} {were} deleted {when} by {by}"


def _asked(asked: Asked) -> str:
    event, went_on = asked.event, asked.went_on
    sentence = (
        f"client {printable(event.client)} asked for {event.offset} at {instant(asked.at_ms)}"
    )
    if went_on is None:
        return f"{sentence} (OFFSET_OUT_OF_RANGE) and was not seen to fetch again"
    return f"{sentence} and was reset to {went_on.offset}{_as_with(went_on)}"


def _as_with(went_on: FetchWentOn) -> str:
    """Return the setting auto.offset.reset that explains where a consumer went on, in
    parentheses; "" if none does."""
    if went_on.offset == went_on.log_start_offset:
        return " (auto.offset.reset=earliest)"
    if went_on.offset == went_on.log_end_offset:
        return " (auto.offset.reset=latest)"
    return ""
