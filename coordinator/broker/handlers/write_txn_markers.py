"""WriteTxnMarkers (key 27), v1-2: markers by hand, as an administrator ends a hanging transaction (KIP-664).

It is the brokers' own request, and nobody is kept from it here. The coordinator does not hear of it: it goes on to think that
the transaction is open. v2 says under which transaction version a marker is written (2: its epoch must have risen, KIP-890).
While the event log cannot be written, partitions of __consumer_offsets are refused (6), as by a leader that cannot write.
Of a marker's partitions the unknown ones (3) are answered first. A partition that a marker names twice gets it once, as in Kafka.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...cluster.model import CONSUMER_OFFSETS
from ...cluster.partition_log import Marker
from ...cluster.records import BatchRefused
from ...errors import ErrorCode
from ...slices import ITEMS_A_STEP
from ...wire.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from ..call import Sliced

if TYPE_CHECKING:
    from ...cluster import Partition
    from ...slices import Slices
    from ..call import Call, Result
    from ..core import Broker


def handle(broker: Broker, call: Call) -> Sliced:
    """Always answered at once."""
    request = call.message
    assert isinstance(request, WriteTxnMarkersRequest)
    return Sliced(_write_all(broker, call, request))


def _write_all(broker: Broker, call: Call, request: WriteTxnMarkersRequest) -> Slices[Result]:
    markers = []
    for entry in request.markers:
        result, call = yield from _write(broker, call, entry)
        markers.append(result)
        call = call._replace(now=(yield)) if not len(markers) % ITEMS_A_STEP else call
    return WriteTxnMarkersResponse(markers=markers)


def _write(broker: Broker, call: Call, entry: WritableTxnMarker) -> Slices[tuple[WritableTxnMarkerResult, Call]]:
    marker = Marker(
        entry.producer_id, entry.producer_epoch, entry.transaction_result, entry.coordinator_epoch, entry.transaction_version)
    topics: dict[str, WritableTxnMarkerTopicResult] = {}
    named = {(topic.name, index): None for topic in entry.topics for index in topic.partition_indexes}
    partitions = sorted(named, key=lambda partition: _held(broker, *partition) is not None)
    for count, (name, index) in enumerate(partitions, 1):
        if not count % ITEMS_A_STEP:
            call = call._replace(now=(yield))
        row = WritableTxnMarkerPartitionResult(partition_index=index)
        topics.setdefault(name, WritableTxnMarkerTopicResult(name=name)).partitions.append(row)
        found = _held(broker, name, index)
        if found is None:
            row.error_code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            continue
        # Where a marker ends pending offsets, groups change, which is logged; Kafka tells errors of group coordinators as of a leader.
        if found.leader != broker.node_id or (name == CONSUMER_OFFSETS and broker.log_is_blocked):
            row.error_code = ErrorCode.NOT_LEADER_OR_FOLLOWER
            continue
        try:
            broker.transactions.write_marker(found, marker, call.now, call.cause)
        except BatchRefused as refusal:
            row.error_code = refusal.error
    return WritableTxnMarkerResult(producer_id=entry.producer_id, topics=list(topics.values())), call


def _held(broker: Broker, name: str, index: int) -> Partition | None:
    """A partition of which the broker has a replica."""
    found = broker.cluster.partition(name, index)
    return None if found is None or broker.node_id not in found.replicas else found
