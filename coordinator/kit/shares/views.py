"""Records of share groups, read from the brokers that lead their partitions. Called between two
requests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from coordinator.core.share_partitions.model import SharePartitionKey
from coordinator.core.share_partitions.runs import Run
from coordinator.core.share_partitions.states import RecordState

from ..in_process_requests import ControlError
from ..operations import TYPES
from ..views.share_records import ShareRecord, ShareSnapshot

if TYPE_CHECKING:
    from coordinator.core.share_partitions.model import SharePartition
    from coordinator.server.broker import Broker

    from ..session import KitSession


def partitions(session: KitSession, group_id: str) -> Iterator[tuple[Broker, SharePartition]]:
    """Yield the share partitions that a group has reached, with the brokers that lead them, by
    topic and index."""
    found = [
        (broker, partition)
        for broker in session.brokers()
        for partition in broker.services.shares.shown(group_id)
    ]
    yield from sorted(found, key=lambda row: row[1].key)


def leading(session: KitSession, topic: str, index: int) -> Broker:
    """Return the broker that leads a partition. Raises ControlError if the partition does not
    exist."""
    session.check_partition(topic, index)
    for broker in session.brokers():
        found = broker.cluster.partition(topic, index)
        if found is not None and found.leader == broker.node_id:
            return broker
    raise ControlError(f"{topic}-{index} has no leader now")


def names(session: KitSession, group_id: str) -> dict[str, str]:
    """Return client ids by member id."""
    return {of.member_id: of.client_id for of in session.group(group_id).members}


def record(session: KitSession, group_id: str, topic: str, index: int, offset: int) -> ShareRecord:
    """Return one record as the group reads it. Raises ControlError for an offset that is not in
    the log."""
    broker = leading(session, topic, index)
    found = broker.cluster.partition(topic, index)
    assert found is not None
    log = found.log
    if not 0 <= offset < log.log_end_offset:
        raise ControlError(
            f"{topic}-{index} has no record {offset}: it has those from {log.log_start_offset} to {log.log_end_offset - 1}"
            if log.log_end_offset
            else f"{topic}-{index} has no record {offset}: it is empty"
        )
    called, now = names(session, group_id), session.now()
    for run in broker.services.shares.known(
        SharePartitionKey(group_id, topic, index), offset, offset
    ):
        return _record(topic, index, offset, run, called, now)
    return ShareRecord(topic, index, offset, "Unread", 0)


def records(
    session: KitSession, group_id: str, topic: str, index: int, most: int
) -> list[ShareRecord]:
    """Return the records of a partition that the group has reached, at most the first `most`."""
    broker = leading(session, topic, index)
    called, now = names(session, group_id), session.now()
    found: list[ShareRecord] = []
    for run in broker.services.shares.known(SharePartitionKey(group_id, topic, index)):
        for offset in range(run.first, run.last + 1):
            if len(found) == most:
                return found
            found.append(_record(topic, index, offset, run, called, now))
    return found


def _record(
    topic: str, index: int, offset: int, run: Run, called: dict[str, str], now: int
) -> ShareRecord:
    state, count, member_id, deadline_ms = run.condition
    if state is not RecordState.ACQUIRED:
        return ShareRecord(topic, index, offset, str(state), count)
    holder = called.get(member_id) or member_id
    return ShareRecord(topic, index, offset, str(state), count, holder, max(deadline_ms - now, 0))


def snapshot(session: KitSession, group_id: str) -> ShareSnapshot:
    """Return the number of records in each state. Raises ControlError for a group of another
    type."""
    group = session.group(group_id)
    if group.members and group.type != "share":
        raise ControlError(
            f"group {group_id!r} is {TYPES.get(group.type, 'a classic group')}, no share group: "
            f"kafka.group({group_id!r}) looks at it"
        )
    counts = dict.fromkeys(RecordState, 0)
    deliveries = lag = 0
    starts: dict[str, int] = {}
    for broker, partition in partitions(session, group_id):
        key = partition.key
        starts[f"{key.topic}-{key.partition}"] = partition.start_offset
        for run in broker.services.shares.partitions.known(key, partition):
            counts[run.condition.state] += run.last - run.first + 1
            if not run.condition.state.final:
                deliveries = max(deliveries, run.condition.delivery_count)
        found = broker.cluster.partition(key.topic, key.partition)
        if found is not None:
            behind = found.log.high_watermark - partition.start_offset
            lag += max(behind - partition.complete_count, 0)
    return ShareSnapshot(
        group_id,
        group.state,
        len(group.members),
        counts[RecordState.AVAILABLE],
        counts[RecordState.ACQUIRED],
        counts[RecordState.ACKNOWLEDGED],
        counts[RecordState.ARCHIVED],
        deliveries,
        lag,
        starts,
    )
