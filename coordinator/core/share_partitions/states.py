"""The states of a record in flight, and how an acknowledgement or the end of a lock changes them.

A record is Available, Acquired, Acknowledged, Archiving or Archived, spelled as in KIP-932 and
KIP-1191. Acknowledged and Archived are final: when every record from the start offset on is final,
the start offset moves on. A record is Archiving while its dead letter is on its way.
"""

from __future__ import annotations

from enum import Enum
from typing import Final, NamedTuple


class RecordState(Enum):
    """State of a record. `number`: as Kafka stores it."""

    AVAILABLE = "Available"
    ACQUIRED = "Acquired"
    ACKNOWLEDGED = "Acknowledged"
    ARCHIVING = "Archiving"
    ARCHIVED = "Archived"

    __hash__ = object.__hash__

    def __str__(self) -> str:
        return self.value

    @property
    def final(self) -> bool:
        """True if a record stays in this state."""
        return self is RecordState.ACKNOWLEDGED or self is RecordState.ARCHIVED

    @property
    def number(self) -> int:
        """As Kafka stores it."""
        return _NUMBERS[self]


_NUMBERS: Final = {
    RecordState.AVAILABLE: 0,
    RecordState.ACQUIRED: 1,
    RecordState.ACKNOWLEDGED: 2,
    RecordState.ARCHIVING: 3,
    RecordState.ARCHIVED: 4,
}
STATES: Final = {number: state for state, number in _NUMBERS.items()}
"""The states by number."""

GAP, ACCEPT, RELEASE, REJECT, RENEW = range(5)
ACKNOWLEDGEMENTS: Final = ("gap", "accept", "release", "reject", "renew")
"""A member's words on a record, by number."""


class Deliveries(NamedTuple):
    """Limit of a record's delivery count, and whether a dead letter is written of an archived
    record (SH-DLQ-1)."""

    limit: int
    dead_letters: bool = False

    def after_release(self, delivery_count: int) -> RecordState:
        """The state of a record that is given back: one that was delivered as often as it may be
        has no other delivery (SH-ACK-5)."""
        return self.given_up if delivery_count >= self.limit else RecordState.AVAILABLE

    def after(self, acknowledgement: int, delivery_count: int) -> RecordState:
        """The state of a record that a member says this of."""
        if acknowledgement == RELEASE:
            return self.after_release(delivery_count)
        return self.given_up if acknowledgement == REJECT else _ENDS_IN[acknowledgement]

    @property
    def given_up(self) -> RecordState:
        """The state of a record that nobody could process."""
        return RecordState.ARCHIVING if self.dead_letters else RecordState.ARCHIVED


_ENDS_IN: Final = {
    GAP: RecordState.ARCHIVED,
    ACCEPT: RecordState.ACKNOWLEDGED,
    RENEW: RecordState.ACQUIRED,
}
