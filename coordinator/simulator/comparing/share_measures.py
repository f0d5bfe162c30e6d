"""The outcome of the records of a run's share groups (KIP-932), read from the event log alone.

Owns the measures that `coordinator ab` compares of them. Does not depend on brokers, members and the
world.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

Line = dict[str, Any]
_LOCK_ENDED: Final = "the lock ended"
_GIVEN_UP: Final = frozenset({"Archiving", "Archived"})


class ShareMeasures(NamedTuple):
    """One run. `per_s`: records accepted, by the time from the first to the last delivery."""

    accepted: float
    per_s: float
    redelivered: float
    given_up: float
    locks_ended: float
    seconds_to_accept: float
    slowest_s: float


NAMES: Final = (
    "accepted",
    "accepted a second",
    "delivered again",
    "given up",
    "locks ended",
    "time to accept, s",
    "the slowest, s",
)


def measure_shares(lines: Iterable[Line]) -> ShareMeasures:
    """Of all share groups together. `redelivered`: deliveries of records that had been delivered
    before. `given_up`: records that were rejected, or released after their last delivery.
    `locks_ended`: records that were taken back because their lock ended. `seconds_to_accept`: from
    when a record was written until it was accepted, on average; `slowest_s`: at most.
    """
    written: dict[tuple[str, int], _Written] = {}
    accepted = redelivered = given_up = ended = waited_ms = slowest_ms = 0
    first_ms: int | None = None
    last_ms = 0
    for line in lines:
        kind = line["type"]
        if kind == "RecordsAppended":
            place = line["topic"], line["partition"]
            written.setdefault(place, _Written()).append(line["offset"], line["at_ms"])
        elif kind == "RecordsAcquired":
            redelivered += sum(of["delivery_count"] > 1 and _size(of) for of in line["records"])
            if line["records"]:
                first_ms = line["at_ms"] if first_ms is None else first_ms
                last_ms = line["at_ms"]
        elif kind == "RecordsAcknowledged":
            known = written.get((line["topic"], line["partition"]))
            for of in line["records"]:
                word = of["acknowledgement"]
                if word == "accept":
                    accepted += _size(of)
                    waits = [
                        line["at_ms"] - at_ms
                        for at_ms in (known.instants(of) if known is not None else ())
                    ]
                    waited_ms += sum(waits)
                    slowest_ms = max(slowest_ms, *waits, 0)
                elif word in ("reject", "release") and of["state"] in _GIVEN_UP:
                    given_up += _size(of)
        elif kind == "RecordsReleased":
            size = sum(map(_size, line["records"]))
            ended += size if line["reason"] == _LOCK_ENDED else 0
            given_up += sum(of["state"] in _GIVEN_UP and _size(of) for of in line["records"])
    busy_s = (last_ms - (first_ms or 0)) / 1000
    return ShareMeasures(
        accepted,
        accepted / busy_s if busy_s else 0.0,
        redelivered,
        given_up,
        ended,
        waited_ms / accepted / 1000 if accepted else 0.0,
        slowest_ms / 1000,
    )


def _size(of: Line) -> int:
    size: int = of["last_offset"] - of["first_offset"] + 1
    return size


class _Written:
    """When the records of a partition were written."""

    def __init__(self) -> None:
        self._offsets: list[int] = []
        self._at_ms: list[int] = []

    def append(self, offset: int, at_ms: int) -> None:
        """A batch was, which begins at an offset."""
        self._offsets.append(offset)
        self._at_ms.append(at_ms)

    def instants(self, of: Line) -> Iterator[int]:
        """Of each record of a range."""
        for offset in range(of["first_offset"], of["last_offset"] + 1):
            batch = bisect_right(self._offsets, offset) - 1
            if batch >= 0:
                yield self._at_ms[batch]
