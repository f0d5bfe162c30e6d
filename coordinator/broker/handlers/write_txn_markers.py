"""WriteTxnMarkers (key 27), v1-2: markers by hand, as an administrator ends a hanging transaction (KIP-664).

It is the brokers' own request, and nobody is kept from it here. The coordinator does not hear of it: it goes on to think that
the transaction is open. v2 says under which transaction version a marker is written (2: its epoch must have risen, KIP-890).
Of a marker's partitions the unknown ones (3) are answered first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...cluster.partition_log import Marker
from ...cluster.records import BatchRefused
from ...errors import ErrorCode
from ...wire.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)

if TYPE_CHECKING:
    from ..core import Broker, Call


def handle(broker: Broker, call: Call) -> WriteTxnMarkersResponse:
    """Always answered at once."""
    request = call.message
    assert isinstance(request, WriteTxnMarkersRequest)
    return WriteTxnMarkersResponse(markers=[_write(broker, call, entry) for entry in request.markers])


def _write(broker: Broker, call: Call, entry: WritableTxnMarker) -> WritableTxnMarkerResult:
    marker = Marker(
        entry.producer_id, entry.producer_epoch, entry.transaction_result, entry.coordinator_epoch, entry.transaction_version)
    topics: dict[str, WritableTxnMarkerTopicResult] = {}
    partitions = [(topic.name, index) for topic in entry.topics for index in topic.partition_indexes]
    partitions.sort(key=lambda partition: broker.cluster.partition(*partition) is not None)
    for name, index in partitions:
        row = WritableTxnMarkerPartitionResult(partition_index=index)
        topics.setdefault(name, WritableTxnMarkerTopicResult(name=name)).partitions.append(row)
        found = broker.cluster.partition(name, index)
        if found is None:
            row.error_code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            continue
        try:
            broker.transactions.write_marker(found, marker, call.now, call.cause)
        except BatchRefused as refusal:
            row.error_code = refusal.error
    return WritableTxnMarkerResult(producer_id=entry.producer_id, topics=list(topics.values()))
