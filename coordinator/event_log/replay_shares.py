"""The stream `share` of a log, replayed: what share groups had in flight at each leader, and what the
share coordinator kept.

Owns how the lines follow from each other: what is in flight belongs to the broker that wrote it,
what is kept to whoever leads the partition that has it. Does not depend on groups.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..share_partitions import events as ev
from ..share_partitions.evolve import evolve
from ..share_partitions.model import SharePartition, SharePartitionKey
from ..share_states import events as sev
from ..share_states.evolve import evolve as evolve_state
from ..share_states.model import ShareState, ShareStateKey
from .codec import share_from_plain
from .reader import Line


class ReplayedShares:
    """What the lines lead to. `open_ones`: by broker, 0 where there is only one."""

    def __init__(self, lines: Iterable[Line] = ()) -> None:
        self.open_ones: dict[int, dict[SharePartitionKey, SharePartition]] = {}
        self.states: dict[ShareStateKey, ShareState] = {}
        for line in lines:
            if line["stream"] == "share":
                key = SharePartitionKey(line["group"], line["topic"], line["partition"])
                self.fold(line.get("broker", 0), key, share_from_plain(line))

    def fold(self, broker: int, key: SharePartitionKey, event: ev.Event | sev.Event) -> None:
        """One event, of a broker."""
        match event:
            case sev.ShareStateDeleted():
                self.states.pop(_state_key(key, event), None)
            case sev.ShareStateSnapshotted() | sev.ShareStateUpdated():
                at = _state_key(key, event)
                evolve_state(self.states.setdefault(at, ShareState()), event)
            case _:
                open_ones = self.open_ones.setdefault(broker, {})
                if isinstance(event, ev.SharePartitionOpened):
                    open_ones[key] = SharePartition(key, event.topic_id)
                evolve(open_ones[key], event)
                if isinstance(event, ev.SharePartitionClosed):
                    del open_ones[key]


def _state_key(key: SharePartitionKey, event: sev.Event) -> ShareStateKey:
    return ShareStateKey(key.group_id, event.topic_id, key.partition)
