"""States of a member of the consumer protocol (KIP-848), and the transitions between them as a
table (K8-CL-1); and its local assignment by topic ids. Does not know why a member moves.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final, NamedTuple


class ConsumerState(Enum):
    """State of a member of the consumer protocol, by the Java consumer's names (K8-CL-1)."""

    UNSUBSCRIBED = "not a member, and not joining"
    JOINING = "the heartbeat with epoch 0 is due or on its way"
    RECONCILING = "takes over an assignment: commits, gives up, takes"
    ACKNOWLEDGING = "the heartbeat that tells what it owns now is due"
    STABLE = "has its part of the assignment"
    FENCED = "was put out of the group: loses its partitions, then joins again"
    STALE = "left because the application did not poll: joins again when it does"
    LEAVING = "the heartbeat that says that it leaves is due"
    FATAL = "refused for good"

    __hash__ = object.__hash__

    def __str__(self) -> str:
        return self.name


UNSUBSCRIBED: Final = ConsumerState.UNSUBSCRIBED
JOINING: Final = ConsumerState.JOINING
RECONCILING: Final = ConsumerState.RECONCILING
ACKNOWLEDGING: Final = ConsumerState.ACKNOWLEDGING
STABLE: Final = ConsumerState.STABLE
FENCED: Final = ConsumerState.FENCED
STALE: Final = ConsumerState.STALE
LEAVING: Final = ConsumerState.LEAVING
FATAL: Final = ConsumerState.FATAL

_OUT = frozenset({FENCED, LEAVING, FATAL})
MOVES: Final[dict[ConsumerState, frozenset[ConsumerState]]] = {
    UNSUBSCRIBED: frozenset({JOINING, FATAL}),
    JOINING: frozenset({RECONCILING, STABLE}) | _OUT,
    RECONCILING: frozenset({RECONCILING, ACKNOWLEDGING, STABLE}) | _OUT,
    ACKNOWLEDGING: frozenset({STABLE, RECONCILING}) | _OUT,
    STABLE: frozenset({RECONCILING}) | _OUT,
    FENCED: frozenset({JOINING, UNSUBSCRIBED, FATAL}),
    STALE: frozenset({JOINING, UNSUBSCRIBED, FATAL}),
    LEAVING: frozenset({UNSUBSCRIBED, STALE, FATAL}),
    FATAL: frozenset(),
}
"""The successors of each state. Java's PREPARE_LEAVING lasts as long as a callback does, which
returns at once here."""

IN_GROUP: Final = frozenset({JOINING, RECONCILING, ACKNOWLEDGING, STABLE, LEAVING})
"""States in which a member heartbeats."""
AT_ONCE: Final = frozenset({JOINING, ACKNOWLEDGING, LEAVING})
"""States whose heartbeat does not wait for the interval (K8-CL-2)."""
TAKES_ASSIGNMENTS: Final = frozenset({JOINING, RECONCILING, ACKNOWLEDGING, STABLE})

JOIN_EPOCH: Final = 0
LEAVE_EPOCH: Final = -1
LEAVE_FOR_NOW_EPOCH: Final = -2
"""A static member goes, and may come back within its session (K8-LV-2)."""


class LocalAssignment(NamedTuple):
    """Partitions by topic id, and the number of earlier assignments: equal partitions assigned
    again are acknowledged again.
    """

    number: int
    partitions: Mapping[bytes, tuple[int, ...]]

    @property
    def is_none(self) -> bool:
        """True if there was no assignment at all, not even an empty one."""
        return self.number < 0


NO_ASSIGNMENT: Final = LocalAssignment(-1, {})
