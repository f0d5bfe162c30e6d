"""A group as a coordinator finds it when it loads a partition: built from durable events alone (PST-1, ERR-7)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from . import events as ev
from .model import Group, Member
from .offset_table import Offset
from .pending_offsets import PendingOffsets
from .selection import topics_of
from .states import DEAD, STABLE

Record = ev.GroupCreated | ev.GenerationStored | ev.GroupEmptied


def load(
    group_id: str, record: Record | None, record_ms: int, offsets: Mapping[tuple[str, int], Offset], pending: PendingOffsets | None = None,
) -> Group:
    """The group that `record` (its last one; None: offsets alone), written at `record_ms`, and its offsets describe.

    With members it is Stable, without it is Empty. A loaded member offers only the selected protocol, and a rebalance
    timeout of -1 (old records) means the session timeout (ERR-7). An Empty group has been so since its record (EXP-1).
    """
    group = Group(group_id, record_ms)
    group.record = record
    for (topic, partition), offset in offsets.items():
        group.offsets.commit(topic, partition, offset)
    group.pending_offsets = pending or PendingOffsets()
    group.previous_state = DEAD
    if isinstance(record, ev.GroupEmptied):
        group.generation = record.generation
        group.protocol_type = record.protocol_type
        group.subscribed_topics = None if record.subscribed_topics is None else frozenset(record.subscribed_topics)
    elif isinstance(record, ev.GenerationStored):
        group.generation = record.generation
        group.protocol_type = record.protocol_type
        group.protocol_name = record.protocol_name
        group.leader = record.leader
        for stored in record.members:
            _add(group, stored, record.protocol_name)
        group.subscribed_topics = topics_of(group, record.protocol_name)
        group.state = STABLE
    return group


class Entry(NamedTuple):
    """What __consumer_offsets holds of one group: its last record, its committed offsets, and those of open transactions."""

    record: Record | None
    record_ms: int
    offsets: dict[tuple[str, int], Offset]
    pending: PendingOffsets

    def end(self, producer_id: int, partitions: Iterable[tuple[str, int]]) -> None:
        """A producer's transaction ended; the pending offsets of `partitions` are the committed ones now."""
        self.offsets.update(self.pending.end(producer_id, partitions))


class Ledger:
    """Groups as durable events describe them, kept while no coordinator serves them."""

    def __init__(self) -> None:
        self.entries: dict[str, Entry] = {}

    def keep(self, group: Group) -> None:
        """Take over the durable part of a group that is being unloaded."""
        if group.record is not None or group.offsets or group.pending_offsets:
            self.entries[group.group_id] = Entry(group.record, group.record_ms, group.offsets, group.pending_offsets)

    def take(self, group_id: str) -> Group:
        """Give one group back."""
        entry = self.entries.pop(group_id)
        return load(group_id, *entry)

    def end_transaction(self, group_id: str, producer_id: int, committed: bool) -> None:
        """A producer's transaction ended while nobody served the group (TXN-5)."""
        entry = self.entries.get(group_id)
        if entry is not None:
            entry.end(producer_id, entry.pending.standing(producer_id) if committed else ())

    def groups(self) -> list[Group]:
        """Give all groups back."""
        return [self.take(group_id) for group_id in list(self.entries)]

    def fold(self, at: int, group_id: str, event: ev.Event) -> None:
        """Fold one event of any kind; those that are not durable leave no trace."""
        if type(event) not in ev.DURABLE:
            return
        if isinstance(event, ev.GroupDeleted):
            self.entries.pop(group_id, None)
            return
        entry = self.entries.get(group_id) or Entry(None, at, {}, PendingOffsets())
        if isinstance(event, ev.OffsetsCommitted):
            for o in event.offsets:
                entry.offsets[o.topic, o.partition] = Offset(o.offset, o.leader_epoch, o.metadata, at, o.expire_ms)
                entry.pending.overtake((o.topic, o.partition))
        elif isinstance(event, ev.OffsetsPending):
            for o in event.offsets:
                offset = Offset(o.offset, o.leader_epoch, o.metadata, at, o.expire_ms)
                entry.pending.add(event.producer_id, (o.topic, o.partition), offset)
        elif isinstance(event, ev.PendingOffsetsEnded):
            entry.end(event.producer_id, event.partitions)
        elif isinstance(event, ev.OffsetsRemoved):
            for key in event.partitions:
                entry.offsets.pop(key, None)
                entry.pending.cancel(key)
        elif isinstance(event, (ev.GenerationStored, ev.GroupEmptied)) or (isinstance(event, ev.GroupCreated) and event.by == "join"):
            entry = entry._replace(record=event, record_ms=at)
        self.entries[group_id] = entry


def _add(group: Group, stored: ev.StoredMember, protocol_name: str) -> None:
    member = Member(
        stored.member_id,
        stored.group_instance_id,
        stored.client_id,
        stored.client_host,
        stored.session_timeout_ms,
        stored.session_timeout_ms if stored.rebalance_timeout_ms == -1 else stored.rebalance_timeout_ms,
        ((protocol_name, stored.subscription),),
        stored.assignment,
    )
    group.members.add(member)
    group.support[protocol_name] = group.support.get(protocol_name, 0) + 1
    if stored.group_instance_id is not None:
        group.static_members[stored.group_instance_id] = stored.member_id
