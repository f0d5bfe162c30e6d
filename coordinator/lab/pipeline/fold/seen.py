"""Table `seen_rebalances`: rebalances of another cluster, from its logs (stream `seen`). Null is
what these logs do not have."""

from __future__ import annotations

from coordinator.events.handlers import on
from coordinator.events.line import Line
from coordinator.events.seen import RebalanceSeen
from coordinator.history.explain.seen_story import why

from .observer import Subject


class Seen(Subject):
    """Each rebalance, when its line is seen."""

    tables = ("seen_rebalances",)

    @on(RebalanceSeen)
    def _rebalance(self, line: Line, event: RebalanceSeen) -> None:
        self.emit(
            "seen_rebalances",
            (
                event.group,
                line.seq,
                event.generation,
                line.at_ms if event.stamped else None,
                None if event.reason == "unknown" else event.reason,
                event.certainty,
                event.member or None,
                event.held_up_by,
                list(event.removed),
                event.join_phase_ms,
                event.members,
                event.returns,
                event.empty,
                [f"{one.file}:{one.line}" for one in event.evidence],
                why(event),
            ),
        )
