"""The states of a record in flight, and how an acknowledgement or the end of a lock changes them.

A record is Available, Acquired, Acknowledged or Archived, spelled as in KIP-932. The last two are
final: when every record from the start offset on is final, the start offset moves on.
"""

from __future__ import annotations

from enum import Enum
from typing import Final


class RecordState(Enum):
    """Where a record is. `number`: as Kafka stores it."""

    AVAILABLE = "Available"
    ACQUIRED = "Acquired"
    ACKNOWLEDGED = "Acknowledged"
    ARCHIVED = "Archived"

    __hash__ = object.__hash__

    def __str__(self) -> str:
        return self.value

    @property
    def final(self) -> bool:
        """Whether a record stays in this state."""
        return self is RecordState.ACKNOWLEDGED or self is RecordState.ARCHIVED

    @property
    def number(self) -> int:
        """As Kafka stores it."""
        return _NUMBERS[self]


_NUMBERS: Final = {
    RecordState.AVAILABLE: 0,
    RecordState.ACQUIRED: 1,
    RecordState.ACKNOWLEDGED: 2,
    RecordState.ARCHIVED: 4,
}
STATES: Final = {number: state for state, number in _NUMBERS.items()}
"""The states by number."""

GAP, ACCEPT, RELEASE, REJECT, RENEW = range(5)
ACKNOWLEDGEMENTS: Final = ("gap", "accept", "release", "reject", "renew")
"""What a member may say of a record, by number."""
ENDS_IN: Final = {
    GAP: RecordState.ARCHIVED,
    ACCEPT: RecordState.ACKNOWLEDGED,
    RELEASE: RecordState.AVAILABLE,
    REJECT: RecordState.ARCHIVED,
}
"""The state of a record after its acknowledgement."""


def after_release(delivery_count: int, limit: int) -> RecordState:
    """What a record becomes that is given back: of one that was delivered as often as it may be,
    nobody gets another delivery (SH-ACK-5)."""
    return RecordState.ARCHIVED if delivery_count >= limit else RecordState.AVAILABLE
