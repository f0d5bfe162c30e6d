"""Loading of a partition: its groups are taken over one after the other from durable events alone
(ERR-7), in slices.

The rest of an earlier unload of the partition comes first. A slice ends when its budget is used
up, even in the middle of a group, so a large partition blocks nothing for long. Events that are
written meanwhile (a transaction ends) are folded too.
"""

from __future__ import annotations

from collections.abc import Iterator

from coordinator.events import groups as ev

from ..groups.evolve import evolve
from ..groups.group import Group
from . import unload
from .journal import Effects
from .shard import Shard


class Load:
    """Loading of one shard, until `done`. `by_itself`: ticks continue it; otherwise `finish_load`
    does.
    """

    def __init__(self, shard: Shard, *, by_itself: bool, since_ms: int, cause: int | None) -> None:
        self.by_itself = by_itself
        self.since_ms = since_ms
        self.done = False
        self._cause = cause
        self._shard = shard
        self._waiting: list[str] | None = None
        self._group: Group | None = None
        self._rows: Iterator[tuple[int, ev.Event]] = iter(())
        self._end = 0
        """The end of the durable events when the rows of the group were read."""

    def step(self, effects: Effects, budget: int) -> int:
        """Continue until the budget is used up or all groups are loaded; return the rest of the
        budget.
        """
        if self._shard.leaving:
            budget = unload.go_on(self._shard, effects, budget)
            if self._shard.leaving:
                return budget
        effects.cause = self._cause
        if self._waiting is None:
            self._waiting = [
                group_id
                for group_id in reversed(self._shard.durable.groups())
                if group_id not in self._shard.groups
            ]
        while budget > 0 and not self.done:
            if self._group is None:
                if not self._waiting:
                    self.done = True
                    break
                self._begin(self._waiting.pop())
            budget -= self._go_on(effects, budget)
        return budget

    def _begin(self, group_id: str) -> None:
        rows = self._shard.durable.events_of(group_id)
        if not rows:
            return
        self._group = Group(group_id, rows[0][0], loading=True)
        self._rows = iter(rows)
        self._end = self._shard.durable.end

    def _go_on(self, effects: Effects, budget: int) -> int:
        """Fold events of the current group, and take it over when there are no more. Return the
        cost.
        """
        group, cost = self._group, 1
        if group is None:
            return cost
        if self._end != self._shard.durable.end:
            group_id = group.group_id
            self._begin(group_id)
            group = self._group
            assert group is not None, f"{group_id} lost its durable events while it was loaded"
        for at_ms, event in self._rows:
            evolve(group, event, at_ms)
            cost += (
                len(event.offsets)
                if isinstance(event, ev.OffsetsCommitted | ev.OffsetsPending)
                else 1
            )
            if cost >= budget:
                return cost
        self._group = None
        self._shard.load_group(group, effects)
        return cost + len(group.members)
