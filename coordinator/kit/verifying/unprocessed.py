"""Records that an application should have processed and did not: for `verify()` and the ready tests.

A record counts if it exists and its group has committed past it. Offsets without a record do not
count: markers of transactions, records of aborted ones, what was truncated, deleted or compacted.
Linear in the records.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from ..views.group_snapshots import TopicPartition

Processed = tuple[str, int, int]


def unprocessed(
    processed: Iterable[Processed],
    committed: Mapping[TopicPartition, int],
    records: Mapping[TopicPartition, Sequence[int]],
    beginning: Mapping[TopicPartition, int] | None = None,
) -> dict[TopicPartition, list[int]]:
    """Return the offsets of records below each committed offset that were never processed, by
    partition. `records`: the offsets that exist. `beginning`: where processing had to begin, if
    not at the first of them."""
    done = set(processed)
    begins = beginning or {}
    found = {}
    for place, offset in sorted(committed.items()):
        missing = [
            at
            for at in records.get(place, ())
            if begins.get(place, 0) <= at < offset and (*place, at) not in done
        ]
        if missing:
            found[place] = missing
    return found


def processed_twice(processed: Iterable[Processed]) -> list[Processed]:
    """Return the records that were processed more than once, in order."""
    return sorted(row for row, times in Counter(processed).items() if times > 1)
