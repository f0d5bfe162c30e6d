"""States of a classic group, and the transitions between them as a table (ST-1, ST-2, ST-3)."""

from __future__ import annotations

from enum import Enum


class GroupState(Enum):
    """State of a classic group; the values are the names on the wire (ST-1)."""

    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"

    __hash__ = object.__hash__  # identity is enough, and faster than Enum's own

    def __str__(self) -> str:
        return self.value


EMPTY = GroupState.EMPTY
PREPARING_REBALANCE = GroupState.PREPARING_REBALANCE
COMPLETING_REBALANCE = GroupState.COMPLETING_REBALANCE
STABLE = GroupState.STABLE
DEAD = GroupState.DEAD

#: state -> the states it may be entered from, and what leads there (ST-2, ST-4). Code, docs and
#: pages read this table.
TRANSITIONS: dict[GroupState, dict[GroupState, str]] = {
    EMPTY: {PREPARING_REBALANCE: "the join phase ended with no member"},
    PREPARING_REBALANCE: {
        EMPTY: "the first member joined",
        STABLE: "a member joined, rejoined with a change, left or expired",
        COMPLETING_REBALANCE: "a member joined, rejoined with a change, left, expired or did not sync",
    },
    COMPLETING_REBALANCE: {PREPARING_REBALANCE: "the join phase ended with members"},
    STABLE: {COMPLETING_REBALANCE: "the leader's assignment was stored"},
    DEAD: dict.fromkeys(GroupState, "the coordinator unloaded the group"),
}

#: States in which a rebalance may start (ST-3).
CAN_REBALANCE = frozenset({EMPTY, STABLE, COMPLETING_REBALANCE})


def may_follow(previous: GroupState, state: GroupState) -> bool:
    """Return True if a group may go from `previous` to `state` (ST-2)."""
    return previous in TRANSITIONS[state]
