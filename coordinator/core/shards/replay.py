"""Reconstruction of a shard's groups from the events of a log. Sessions and parked requests are not
logged: sessions start anew.
"""

from __future__ import annotations

from coordinator.events import groups as ev

from ..groups.evolve import evolve
from ..groups.group import Group
from .shard import ENDS, Shard


def refold(shard: Shard, at_ms: int, group_id: str, event: ev.Event, *, served: bool) -> None:
    """Fold a logged event again. `served`: the shard's partition was led and loaded then; otherwise
    a new group is only stored.
    """
    kind, group = type(event), shard.groups.get(group_id)
    if kind is ev.GroupCreated and served:
        group = shard.groups[group_id] = Group(group_id, at_ms)
    elif kind is ev.GroupLoaded:
        group = shard.groups[group_id] = shard.durable.fold(group_id)
    if kind in ev.DURABLE:
        shard.durable.append(at_ms, group_id, event)
    if group is not None:  # otherwise nobody served the group: only its durable events went on
        evolve(group, event, at_ms)
        if kind in ENDS:
            shard.end(group_id)


def resume(shard: Shard, now: int) -> None:
    """After all events are folded, start every session with its whole timeout, and all phases.
    Groups that are to be unloaded have none.
    """
    if shard.leaving:
        return
    for group in shard.groups.values():
        if group.consumer is not None:
            shard.consumer.start_timers(group, now)
            continue
        if group.share is not None:
            shard.share.start_timers(group, now)
            continue
        shard.timers.arm_sessions(group.classic, now)
        shard.timers.arm_phases(group.classic)
