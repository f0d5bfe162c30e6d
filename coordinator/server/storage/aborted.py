"""Aborted transactions of one partition, which a Fetch returns so that read_committed consumers
skip their records (KIP-98).

Owns Kafka's transaction index: entries in the order of their markers, looked up by offsets. Does
not know logs, bytes, or open and committed transactions.
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
    """Aborted transactions of one partition in the order of their markers. Change it by `enter` and
    `forget` only.
    """

    __slots__ = ("_last_offsets",)

    def __init__(self) -> None:
        super().__init__()
        self._last_offsets: list[int] = []

    def enter(self, producer_id: int, first_offset: int, last_offset: int, stable: int) -> None:
        """Add a transaction aborted by a marker at `last_offset`, which lies behind all earlier
        markers.
        """
        self.append(AbortedTransaction(producer_id, first_offset, last_offset, stable))
        self._last_offsets.append(last_offset)

    def forget(self, before: int) -> None:
        """Remove the transactions whose marker lies before an offset."""
        gone = bisect_left(self._last_offsets, before)
        del self[:gone], self._last_offsets[:gone]

    def between(self, offset: int, upper: int) -> list[AbortedTransaction]:
        """Return the transactions that may have records from `offset` to before `upper`, in the
        order of their markers.
        """
        found = []
        for entry in self[bisect_left(self._last_offsets, offset) :]:
            if entry.first_offset < upper:
                found.append(entry)
            if entry.stable >= upper:
                break  # whatever ended later began at or behind `upper`
        return found
