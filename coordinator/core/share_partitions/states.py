"""States of a record in flight, and their changes by an acknowledgement or a release.

A record is Available, Acquired, Acknowledged, Archiving or Archived, spelled as in KIP-932 and
KIP-1191. Acknowledged and Archived are final: when all records from the start offset on are
final, the start offset moves past them. A record is Archiving while its dead letter is being
written.
"""

from __future__ import annotations

from enum import Enum
from typing import Final, NamedTuple


class RecordState(Enum):
    """State of a record in flight. `number`: its stored value in Kafka."""

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
        """The stored value in Kafka."""
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
    """Limit of a record's delivery count, and whether archived records get a dead letter
    (SH-DLQ-1).
    """

    limit: int
    dead_letters: bool = False

    def after_release(self, delivery_count: int) -> RecordState:
        """Return the state of a released record; at the limit of the delivery count it is not
        delivered again (SH-ACK-5).
        """
        return self.given_up if delivery_count >= self.limit else RecordState.AVAILABLE

    def after(self, acknowledgement: int, delivery_count: int) -> RecordState:
        """Return the state of a record after an acknowledgement."""
        if acknowledgement == RELEASE:
            return self.after_release(delivery_count)
        return self.given_up if acknowledgement == REJECT else _ENDS_IN[acknowledgement]

    @property
    def given_up(self) -> RecordState:
        """The state of a record that is rejected or was delivered too often."""
        return RecordState.ARCHIVING if self.dead_letters else RecordState.ARCHIVED


_ENDS_IN: Final = {
    GAP: RecordState.ARCHIVED,
    ACCEPT: RecordState.ACKNOWLEDGED,
    RENEW: RecordState.ACQUIRED,
}
