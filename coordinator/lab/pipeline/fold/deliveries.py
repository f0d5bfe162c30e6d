"""Tables `deliveries` and `delivery_counts`: records acquired by members of share groups
(KIP-932), the outcome of each delivery, and delivery counts."""

from __future__ import annotations

from collections import Counter

from coordinator.events.line import Line
from coordinator.events.share_partitions import (
    RecordsArchived,
    RecordsReleased,
    SharePartitionClosed,
)
from coordinator.history.world.shares.deliveries import OUTCOMES, Delivery
from coordinator.history.world.world import World

from .observer import Emit, Subject

_GIVEN_UP = frozenset({"Archiving", "Archived"})
_UNSAID = frozenset({"released", "lock ended", "taken back"})


class Deliveries(Subject):
    """Emits each delivery when it ends and, at the end, the number of deliveries by delivery
    count."""

    tables = ("deliveries", "delivery_counts")

    def __init__(self, emit: Emit) -> None:
        super().__init__(emit)
        self._counts: dict[tuple[str, str, int], _Nth] = {}

    def subscribe(self, world: World) -> None:
        """See Observer."""
        world.subscribe(Delivery, self._row)

    def finish(self) -> None:
        """Emit all counts."""
        for key, nth in sorted(self._counts.items()):
            outcomes = [nth.outcomes[outcome] for outcome in OUTCOMES]
            row = (*key, nth.outcomes.total(), *outcomes, nth.given_up, nth.held_ms, nth.longest_ms)
            self.emit("delivery_counts", row)

    def _row(self, one: Delivery) -> None:
        group, topic, partition = one.key
        ended, size = one.ended, one.last - one.first + 1
        self.emit(
            "deliveries",
            (
                group,
                topic,
                partition,
                one.first,
                one.last,
                size,
                one.count,
                one.member,
                one.acquired.seq,
                one.acquired.at_ms,
                one.renewals,
                one.outcome,
                one.state,
                None if ended is None else _reason(ended),
                None if ended is None else ended.seq,
                None if ended is None else ended.at_ms,
                one.held_ms,
            ),
        )
        self._counts.setdefault((group, topic, one.count), _Nth()).take(one, size)


def _reason(ended: Line) -> str | None:
    """Return the reason for which records were taken from a member, if the line has one."""
    event = ended.event
    has_reason = isinstance(event, RecordsReleased | RecordsArchived | SharePartitionClosed)
    return event.reason if has_reason else None


class _Nth:
    """Totals over the nth deliveries of a group's records of a topic."""

    __slots__ = ("given_up", "held_ms", "longest_ms", "outcomes")

    def __init__(self) -> None:
        self.outcomes: Counter[str] = Counter()
        self.given_up = self.held_ms = self.longest_ms = 0

    def take(self, one: Delivery, size: int) -> None:
        """Add one delivery of `size` records."""
        held_ms = one.held_ms or 0
        self.outcomes[one.outcome] += size
        self.given_up += size * (one.outcome in _UNSAID and one.state in _GIVEN_UP)
        self.held_ms += size * held_ms
        self.longest_ms = max(self.longest_ms, held_ms)
