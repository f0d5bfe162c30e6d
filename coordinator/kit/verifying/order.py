"""Checks the order in which records of one key were processed, for `verify()` and the ready tests.

Only the first time that a record is processed counts. The time is linear in the number of
records.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from .unprocessed import Processed


class OutOfOrder(NamedTuple):
    """A record that was processed for the first time after a later record of its key."""

    record: Processed
    key: bytes
    after: int

    @property
    def text(self) -> str:
        """A sentence about the record."""
        topic, index, offset = self.record
        key = self.key.decode(errors="backslashreplace")
        return f"{topic}-{index} offset {offset} was processed after offset {self.after} of the same key, {key!r}"


def out_of_order(
    processed: Iterable[Processed], keys: Mapping[Processed, bytes]
) -> list[OutOfOrder]:
    """Return the records that were processed for the first time after a later record of the same
    partition and key, in the order in which they were processed. Records that have no key, or whose
    key is not known, are not judged."""
    found: list[OutOfOrder] = []
    seen = set[Processed]()
    last: dict[tuple[str, int, bytes], int] = {}
    for row in processed:
        key = keys.get(row)
        if key is None or row in seen:
            continue
        seen.add(row)
        topic, index, offset = row
        place = topic, index, key
        before = last.get(place, -1)
        if offset < before:
            found.append(OutOfOrder(row, key, before))
        else:
            last[place] = offset
    return found
