"""What a share partition begins with at a leader: what is stored of it (SH-OFF-2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ...share_partitions import events as ev
from ...share_partitions.evolve import evolve
from ...share_partitions.model import SharePartition
from ...share_partitions.start import start_after
from ...share_partitions.states import STATES

if TYPE_CHECKING:
    from ...share_states.model import ShareState


def opened(
    partition: SharePartition, state: ShareState, start: int, leader_epoch: int
) -> ev.SharePartitionOpened:
    """What is stored, as the share partition begins with it: behind what is done with."""
    records = tuple(
        ev.RecordRange(
            of.first_offset, of.last_offset, str(STATES[of.delivery_state]), of.delivery_count
        )
        for of in state.batches
        if of.last_offset >= max(start, of.first_offset)
    )
    event = ev.SharePartitionOpened(
        partition.topic_id, start, state.state_epoch, leader_epoch, records
    )
    tried = SharePartition(partition.key, partition.topic_id)
    evolve(tried, event)
    start = start_after(tried, ())
    return event._replace(start_offset=start, records=tuple(_from(records, start)))


def _from(records: Iterable[ev.RecordRange], start: int) -> Iterator[ev.RecordRange]:
    for of in records:
        if of.last_offset >= start:
            yield of._replace(first_offset=max(start, of.first_offset))
