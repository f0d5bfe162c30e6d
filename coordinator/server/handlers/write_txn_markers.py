"""WriteTxnMarkers (key 27), v1-2: transaction markers, here written by an administrator to end a
hanging transaction (KIP-664).

It is a request between brokers, but any client may send it. The transaction coordinator is not
informed, and still considers the transaction open. v2 contains the transaction version of a
marker (2: its epoch must have risen, KIP-890; -1 fails for a producer whose epochs are checked;
other numbers below 2 are equivalent). While the event log cannot be written, partitions of
__consumer_offsets are refused (6). Of a marker's partitions, unknown ones (3) come first. A
partition named twice gets the marker once (Kafka 4.4.0 never answers then: KAFKA-BUG). Markers
of one producer are answered together; one without partitions is not answered. An impossible
marker (no producer id, no epoch) for a partition of this broker fails the request (-1), after
the markers before it were written.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from coordinator.base.errors import ErrorCode
from coordinator.base.slices import ITEMS_A_STEP, each
from coordinator.wire.messages.transactions import (
    WritableTxnMarker,
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)

from ..cluster.model import CONSUMER_OFFSETS
from ..requests.call import Sliced
from ..storage.partition_log import Marker
from ..storage.producers import NO_EPOCH
from ..storage.records import BatchRefused

if TYPE_CHECKING:
    from collections.abc import Iterable

    from coordinator.base.slices import Slices

    from ..broker import Broker
    from ..cluster import Partition
    from ..requests.call import Call, Result

    Rows = dict[tuple[str, int], WritableTxnMarkerPartitionResult]
    """The answer for one producer, by partition; that of its last marker counts."""
    Named = dict[tuple[str, int], None]
    """Partitions, in order."""

_NO_PRODUCER = -1
_NO_VERSION = -1


def handle(broker: Broker, call: Call) -> Sliced:
    """Handle a WriteTxnMarkers; it is never parked."""
    request = call.message
    assert isinstance(request, WriteTxnMarkersRequest)
    return Sliced(_write_all(broker, call, request))


def _write_all(broker: Broker, call: Call, request: WriteTxnMarkersRequest) -> Slices[Result]:
    """Write one marker after the other, in slices; an impossible marker ends the request."""
    results: dict[int, Rows] = {}
    for count, entry in enumerate(request.markers, 1):
        unknown, here, call = yield from _parted(broker, call, entry)
        if here and _cannot_be(entry):
            return (yield from _failed(request))
        call = yield from _write(
            broker, call, entry, chain(unknown, here), results.setdefault(entry.producer_id, {})
        )
        call = call._replace(now=(yield)) if not count % ITEMS_A_STEP else call
    markers = []
    for producer_id, rows in results.items():
        if rows:
            markers.append(
                WritableTxnMarkerResult(
                    producer_id=producer_id, topics=(yield from _by_topic(rows))
                )
            )
    return WriteTxnMarkersResponse(markers=markers)


def _parted(
    broker: Broker, call: Call, entry: WritableTxnMarker
) -> Slices[tuple[Named, Named, Call]]:
    """Return the marker's partitions, each once: those without a replica on this broker, and the
    others.
    """
    unknown: Named = {}
    here: Named = {}
    count = 0
    for topic in entry.topics:
        for index in topic.partition_indexes:
            count += 1
            if not count % ITEMS_A_STEP:
                call = call._replace(now=(yield))
            (unknown if _held(broker, topic.name, index) is None else here)[topic.name, index] = (
                None
            )
    return unknown, here, call


def _by_topic(rows: Rows) -> Slices[list[WritableTxnMarkerTopicResult]]:
    topics: dict[str, WritableTxnMarkerTopicResult] = {}
    for count, ((name, _), row) in enumerate(rows.items(), 1):
        if not count % ITEMS_A_STEP:
            yield
        topics.setdefault(name, WritableTxnMarkerTopicResult(name=name)).partitions.append(row)
    return list(topics.values())


def _cannot_be(entry: WritableTxnMarker) -> bool:
    """Return True if Kafka cannot build such a marker: it has no producer id or no epoch."""
    return entry.producer_id == _NO_PRODUCER or entry.producer_epoch == NO_EPOCH


def _failed(request: WriteTxnMarkersRequest) -> Slices[WriteTxnMarkersResponse]:
    """Return the response with -1 everywhere, Kafka's answer if it fails on a request; of a
    producer's markers only the last is answered.
    """
    last = {entry.producer_id: entry for entry in request.markers}
    markers = []
    for producer_id, entry in last.items():
        rows: Rows = {}
        for topic in entry.topics:
            refused = yield from each(topic.partition_indexes, _refused)
            rows.update(((topic.name, row.partition_index), row) for row in refused)
            yield
        markers.append(
            WritableTxnMarkerResult(producer_id=producer_id, topics=(yield from _by_topic(rows)))
        )
    return WriteTxnMarkersResponse(markers=markers)


def _refused(index: int) -> WritableTxnMarkerPartitionResult:
    return WritableTxnMarkerPartitionResult(
        partition_index=index, error_code=ErrorCode.UNKNOWN_SERVER_ERROR
    )


def _write(
    broker: Broker,
    call: Call,
    entry: WritableTxnMarker,
    partitions: Iterable[tuple[str, int]],
    rows: Rows,
) -> Slices[Call]:
    marker = Marker(
        entry.producer_id,
        entry.producer_epoch,
        entry.transaction_result,
        entry.coordinator_epoch,
        entry.transaction_version,
    )
    for count, (name, index) in enumerate(partitions, 1):
        if not count % ITEMS_A_STEP:
            call = call._replace(now=(yield))
        row = rows[name, index] = WritableTxnMarkerPartitionResult(partition_index=index)
        found = _held(broker, name, index)
        if found is None:
            row.error_code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            continue
        # Where a marker ends pending offsets, groups change, which is logged; Kafka tells errors of
        # group coordinators as of a leader.
        if found.leader != broker.node_id or (name == CONSUMER_OFFSETS and broker.log_is_blocked):
            row.error_code = ErrorCode.NOT_LEADER_OR_FOLLOWER
            continue
        try:
            if entry.transaction_version == _NO_VERSION and entry.producer_id >= 0:
                producers = found.log.producers
                if entry.producer_id in producers.states:
                    producers.check_marker(
                        entry.producer_id, entry.producer_epoch, entry.coordinator_epoch, 0
                    )
                row.error_code = ErrorCode.UNKNOWN_SERVER_ERROR
                continue
            broker.services.transactions.write_marker(found, marker, call.now, call.cause)
        except BatchRefused as refusal:
            row.error_code = refusal.error
    return call


def _held(broker: Broker, name: str, index: int) -> Partition | None:
    """Return the partition if this broker has a replica of it, else None."""
    found = broker.cluster.partition(name, index)
    return None if found is None or broker.node_id not in found.replicas else found
