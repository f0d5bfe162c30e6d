"""The aborted transactions of one partition: what readers of committed records are told, so that
they skip them (KIP-98).

Owns Kafka's transaction index: entries in the order of their markers, looked up by the offsets that
were read. Refuses to know logs, bytes, and transactions that are open or were committed.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import NamedTuple


class AbortedTransaction(NamedTuple):
    """One aborted transaction. `stable`: the last stable offset when its marker was written."""

    producer_id: int
    first_offset: int
    last_offset: int  # its marker's
    stable: int


class AbortedTransactions(list[AbortedTransaction]):
    """Those of one partition, by the offsets of their markers. Written by `enter` and `forget`
    alone."""

    __slots__ = ("_last_offsets",)

    def __init__(self) -> None:
        super().__init__()
        self._last_offsets: list[int] = []

    def enter(self, producer_id: int, first_offset: int, last_offset: int, stable: int) -> None:
        """A transaction was aborted by a marker at `last_offset`, the last of all markers so
        far."""
        self.append(AbortedTransaction(producer_id, first_offset, last_offset, stable))
        self._last_offsets.append(last_offset)

    def forget(self, before: int) -> None:
        """Everything below an offset is deleted."""
        gone = bisect_left(self._last_offsets, before)
        del self[:gone], self._last_offsets[:gone]

    def between(self, offset: int, upper: int) -> list[AbortedTransaction]:
        """Those that may have records from `offset` up to, not including, `upper`; in the order of
        their markers."""
        found = []
        for entry in self[bisect_left(self._last_offsets, offset) :]:
            if entry.first_offset < upper:
                found.append(entry)
            if entry.stable >= upper:
                break  # whatever ended later began at or behind `upper`
        return found
