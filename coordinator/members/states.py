"""States of a classic member, and the transitions between them as a table (CLI-3); and the
generation that it believes to be in. Does not know why a member moves.
"""

from __future__ import annotations

from enum import Enum
from typing import Final, NamedTuple


class MemberState(Enum):
    """State of a classic member, by the Java consumer's names (CLI-3)."""

    UNJOINED = "not a member, as far as it knows"
    PREPARING_REBALANCE = "JoinGroup sent"
    COMPLETING_REBALANCE = "joined; SyncGroup sent, or the leader still assigns"
    STABLE = "has its part of the assignment"

    __hash__ = object.__hash__

    def __str__(self) -> str:
        return self.name


UNJOINED: Final = MemberState.UNJOINED
PREPARING_REBALANCE: Final = MemberState.PREPARING_REBALANCE
COMPLETING_REBALANCE: Final = MemberState.COMPLETING_REBALANCE
STABLE: Final = MemberState.STABLE

MOVES: Final[dict[MemberState, frozenset[MemberState]]] = {
    UNJOINED: frozenset({PREPARING_REBALANCE, UNJOINED}),
    PREPARING_REBALANCE: frozenset({COMPLETING_REBALANCE, PREPARING_REBALANCE, UNJOINED}),
    COMPLETING_REBALANCE: frozenset({STABLE, PREPARING_REBALANCE, UNJOINED}),
    STABLE: frozenset({PREPARING_REBALANCE, UNJOINED}),
}
"""The successors of each state; any reset leads to UNJOINED."""

JOINED: Final = frozenset({COMPLETING_REBALANCE, STABLE})
"""States in which a member heartbeats (CLI-7)."""
REBALANCING: Final = frozenset({PREPARING_REBALANCE, COMPLETING_REBALANCE})
"""States in which a rebalance is under way (CLI-15, CLI-25)."""


class Generation(NamedTuple):
    """The generation and member id that a member puts into its requests."""

    generation_id: int = -1
    member_id: str = ""
    protocol_name: str | None = None

    @property
    def is_set(self) -> bool:
        """True if there are both a member id and a generation; without them the owned partitions
        are lost (CLI-23, CLI-25).
        """
        return self.generation_id != -1 and self.member_id != ""

    def __str__(self) -> str:
        return f"generation {self.generation_id} as {self.member_id or 'nobody'}"


NO_GENERATION: Final = Generation()
