"""A share group's records in a picture (KIP-932): for each share partition the states of its
records over time, their holders, and the start and end offset between which they are in flight.

The states are those of `coordinator.history.world.shares.record_states`. Reads the log alone.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from typing import Any, Final

from coordinator.events.line import Line
from coordinator.events.share_partitions import RecordsAcquired
from coordinator.history.explain.formatting import printable
from coordinator.history.world.lost_time.tracks import Track
from coordinator.history.world.shares.record_states import ShareStays, Stay
from coordinator.history.world.shares.records import Key, key_of

from ..lanes import MOST_NAME, Lane, cut

MOST_STAYS: Final = 20_000
"""Number of states of ranges that are drawn for a share partition, the latest."""


class Queue:
    """One share partition."""

    def __init__(self) -> None:
        self.start: Track[int] = Track()
        self.end: Track[int] = Track()
        self.stays: deque[Stay] = deque(maxlen=MOST_STAYS)
        """Stays of records in a state that have ended."""
        self.now: list[Stay] = []
        self.holders: set[str] = set()
        """The member ids that hold records of the share partition."""
        self.again = 0
        """The number of records that were delivered more than once."""


class Queues:
    """The share partitions of all groups. `see` each accepted line of stream `share`."""

    def __init__(self) -> None:
        self._stays = ShareStays(self._ended)
        self._queues: dict[Key, Queue] = {}
        self._hands: Counter[tuple[str, str]] = Counter()
        """Number of share partitions in which a member holds records, by group and member id."""

    def see(self, line: Line) -> dict[str, bool]:
        """Read the next line. Return, by member id, the members that got records or lost some,
        and whether they hold records now."""
        there = self._stays.see(line)
        if there is None:
            return {}
        key, group = key_of(line), line.group or ""
        queue = self._queue(key)
        before = queue.holders
        queue.holders = {stay.member for stay in there.pieces if stay.member is not None}
        changed = before ^ queue.holders
        for member in changed:
            self._hands[group, member] += 1 if member in queue.holders else -1
        queue.start.set(there.start, line.at_ms)
        queue.end.set(there.end, line.at_ms)
        queue.now = there.pieces
        if line.kind is RecordsAcquired:
            acquired: RecordsAcquired = line.event
            queue.again += sum(
                of.last_offset - of.first_offset + 1
                for of in acquired.records
                if of.delivery_count > 1
            )
        return {member: self._hands[group, member] > 0 for member in changed}

    def again(self, group: str) -> int:
        """Return the number of repeated deliveries of records in a group."""
        return sum(queue.again for key, queue in self._queues.items() if key[0] == group)

    def plain(
        self, group: str, lane_of: Callable[[str], Lane | None], end_ms: int
    ) -> list[dict[str, Any]]:
        """Return JSON values: `stays` are `[from, to, first, last, state, lane, delivery
        count]`, where `lane` belongs to the member that holds the records."""
        return [
            {
                "topic": key[1],
                "label": cut(printable(key[1]), MOST_NAME),
                "partition": key[2],
                "start": queue.start.until(end_ms),
                "end": queue.end.until(end_ms),
                "stays": [
                    (
                        stay.since_ms,
                        end_ms if stay.until_ms is None else stay.until_ms,
                        stay.first,
                        stay.last,
                        stay.state,
                        lane.index if (lane := lane_of(stay.member or "")) is not None else None,
                        stay.delivery_count,
                    )
                    for stay in (*queue.stays, *queue.now)
                    if stay.until_ms != stay.since_ms
                ],
            }
            for key, queue in sorted(self._queues.items())
            if key[0] == group
        ]

    def _queue(self, key: Key) -> Queue:
        return self._queues.setdefault(key, Queue())

    def _ended(self, key: Key, stay: Stay) -> None:
        self._queue(key).stays.append(stay)
