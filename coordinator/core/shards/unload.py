"""Unloading of a partition that is no longer led: its groups go one after the other (ERR-6), in
slices.

Nothing of the partition is served from the start: requests get NOT_COORDINATOR, and its timers
are stopped. For each group, its GroupUnloaded event answers the parked requests. If the
partition is led again meanwhile, its load starts with the rest of the unload.
"""

from __future__ import annotations

from coordinator.base.errors import ErrorCode
from coordinator.events import groups as ev

from .journal import Effects
from .shard import Shard

_COST = 2
"""In units of a slice: of a group, and of each of its members, who may wait for an answer."""


def begin(shard: Shard, effects: Effects) -> None:
    """Stop serving the groups of a shard; `go_on` must follow."""
    shard.stop_serving(effects)
    mark(shard)
    shard.leaving_cause = effects.cause


def mark(shard: Shard) -> None:
    """Mark all present groups to be unloaded. In a replay, that is all that PartitionsUnloaded does
    to a shard.
    """
    shard.leaving = list(reversed(shard.groups))


def go_on(shard: Shard, effects: Effects, budget: int) -> int:
    """Unload groups until the budget is used up or none is left; return the rest of the budget."""
    cause, effects.cause = effects.cause, shard.leaving_cause
    while shard.leaving and budget > 0:
        group = shard.groups.get(shard.leaving[-1])
        if group is None:  # it went before its turn (`answer`)
            shard.leaving.pop()
            continue
        budget -= _COST * (1 + len(group.members))
        shard.fold(group, ev.GroupUnloaded(ErrorCode.NOT_COORDINATOR), effects)
    effects.cause = cause
    return budget


def answer(shard: Shard, effects: Effects) -> None:
    """Unload those groups at once that have parked requests."""
    cause, effects.cause = effects.cause, shard.leaving_cause
    for group_id in dict.fromkeys(group_id for group_id, _, _ in shard.parked):
        shard.fold(shard.groups[group_id], ev.GroupUnloaded(ErrorCode.NOT_COORDINATOR), effects)
    effects.cause = cause


def finish(shard: Shard, effects: Effects) -> None:
    """Unload all remaining groups at once."""
    while shard.leaving:
        go_on(shard, effects, 1)
