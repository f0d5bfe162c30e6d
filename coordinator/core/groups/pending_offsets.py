"""Offsets committed in open transactions: by producer, and which of them a later commit has
overtaken (TXN-5, TXN-6).

Kafka compares the log positions of two commits. Here every commit has a number, and of plain
commits only those that overtook a pending one are kept. Contains no rule: `decide` reads,
`evolve` writes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from .offset_table import Offset

Key = tuple[str, int]

_A_COMMIT = -2
"""Stands beside producer ids, none of which is negative but -1."""


class PendingOffset(NamedTuple):
    """An offset that waits for the end of its transaction, and the number of its commit."""

    offset: Offset
    order: int


class PendingOffsets:
    """Pending offsets by producer id and (topic, partition). False if there are none."""

    __slots__ = ("_order", "_overtaken", "_producers", "_waiting")

    def __init__(self) -> None:
        self._producers: dict[int, dict[Key, PendingOffset]] = {}
        self._waiting: dict[Key, int] = {}  # how many producers wait with a partition's offset
        self._overtaken: dict[
            Key, int
        ] = {}  # number of the latest commit of a partition that somebody waits with
        self._order = 0

    def __bool__(self) -> bool:
        return bool(self._producers)

    def __contains__(self, key: object) -> bool:
        """Return True if a partition has a pending offset."""
        return key in self._waiting

    def producers(self) -> list[int]:
        """Return the producers with pending offsets."""
        return list(self._producers)

    def keys(self) -> Collection[Key]:
        """Return the partitions with a pending offset."""
        return self._waiting.keys()

    def size(self) -> int:
        """Return the number of partitions with a pending offset."""
        return len(self._waiting)

    def of(self, producer_id: int) -> dict[Key, PendingOffset]:
        """Return a producer's pending offsets. The caller must not change them."""
        return self._producers.get(producer_id, {})

    def standing(self, producer_id: int) -> tuple[Key, ...]:
        """Return the producer's partitions that no later commit has overtaken."""
        return tuple(
            key
            for key, pending in self.of(producer_id).items()
            if pending.order > self._overtaken.get(key, 0)
        )

    def add(self, producer_id: int, key: Key, offset: Offset) -> None:
        """Add a pending offset, replacing the producer's earlier one."""
        self._order += 1
        table = self._producers.setdefault(producer_id, {})
        if key not in table:
            self._waiting[key] = self._waiting.get(key, 0) + 1
        table[key] = PendingOffset(offset, self._order)

    def overtake(self, key: Key, order: int | None = None) -> None:
        """Note that a partition's offset was committed: now, or by the pending commit number
        `order`.
        """
        if key not in self._waiting:
            return
        if order is None:
            self._order += 1
            order = self._order
        self._overtaken[key] = max(order, self._overtaken.get(key, 0))

    def end(self, producer_id: int, counting: Iterable[Key]) -> dict[Key, Offset]:
        """End a producer's transaction: remove its pending offsets and return those of `counting`,
        which are committed now.
        """
        table = self._producers.pop(producer_id, {})
        counted = {}
        for key in counting:
            counted[key], order = table[key]
            self.overtake(key, order)
        for key in table:
            self._stop_waiting(key)
        return counted

    def cancel(self, key: Key) -> None:
        """Remove the pending offsets of all producers for a partition whose offsets were deleted
        (TXN-7).
        """
        if key not in self._waiting:
            return
        for producer_id, table in list(self._producers.items()):
            if table.pop(key, None) is not None:
                self._stop_waiting(key)
                if not table:
                    del self._producers[producer_id]

    def _stop_waiting(self, key: Key) -> None:
        self._waiting[key] -= 1
        if not self._waiting[key]:
            del self._waiting[key]
            self._overtaken.pop(key, None)

    def __copy__(self) -> PendingOffsets:
        other = PendingOffsets()
        other._producers = {
            producer_id: dict(table) for producer_id, table in self._producers.items()
        }
        other._waiting = dict(self._waiting)
        other._overtaken = dict(self._overtaken)
        other._order = self._order
        return other

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PendingOffsets) and self._plain() == other._plain()

    __hash__ = None  # type: ignore[assignment]

    def _plain(self) -> tuple[object, ...]:
        """Return the pending offsets in order, with the commits that overtook some, without their
        numbers.
        """
        order: dict[Key, list[tuple[int, int]]] = {}
        for producer_id, table in self._producers.items():
            for key, pending in table.items():
                order.setdefault(key, []).append((pending.order, producer_id))
        for key, number in self._overtaken.items():
            order[key].append((number, _A_COMMIT))
        ranks = {}
        for key, rows in order.items():
            rows.sort()
            ranks[key] = [
                producer_id for _, producer_id in (rows[1:] if rows[0][1] == _A_COMMIT else rows)
            ]
        offsets = {
            producer_id: {key: p.offset for key, p in table.items()}
            for producer_id, table in self._producers.items()
        }
        return offsets, ranks
