"""How many rebalances a log has: those that began, and those that were completed.

A rebalance begins with RebalanceStarted, in a consumer group (KIP-848) with each GroupEpochBumped.
It is completed when a classic group goes from CompletingRebalance to Stable, as Kafka's
`group-completed-rebalance-count` has it: the GenerationStored of a static member that was replaced
in a Stable group completes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

Line = Mapping[str, Any]

BEGUN: Final = frozenset({"RebalanceStarted", "GroupEpochBumped"})
_NOT_COMPLETING: Final = frozenset(
    {
        "RebalanceStarted",
        "GroupEmptied",
        "GroupDeleted",
        "GroupLoaded",
        "GroupUnloaded",
        "ConsumerGroupUpgraded",
    }
)
STATE_TYPES: Final = _NOT_COMPLETING | {"GenerationStarted", "GenerationStored"}
"""The lines that `Completions` looks at."""


class Completions:
    """The classic groups of a log that are in CompletingRebalance. `completing`: those that are
    when the first line is seen."""

    def __init__(self, completing: set[str] | None = None) -> None:
        self._completing = set() if completing is None else completing

    def see(self, line: Line) -> bool:
        """Take a line in; does it complete a rebalance?"""
        kind, group = line["type"], line.get("group", "")
        if kind == "GenerationStarted":
            self._completing.add(group)
        elif kind == "GenerationStored":
            if group in self._completing:
                self._completing.discard(group)
                return True
        elif kind in _NOT_COMPLETING:
            self._completing.discard(group)
        return False
