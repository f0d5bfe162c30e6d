"""WriteTxnMarkers that name very many partitions are looked at in slices, those that cannot be
among them."""

from __future__ import annotations

import pytest

from coordinator.base.slices import ITEMS_A_STEP
from coordinator.server.handlers import write_txn_markers
from coordinator.server.requests.call import Call, Sliced
from coordinator.wire.messages.transactions import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from tests.server.broker.driver import Driver

_MANY = 20_000


@pytest.mark.parametrize(("topic", "error"), [("nothing", 3), ("t", -1)])
def test_a_marker_without_a_producer_holds_nobody_up(topic: str, error: int) -> None:
    """Where one of its partitions is here, the request fails as a whole (-1)."""
    topics = [WritableTxnMarkerTopic(name=topic, partition_indexes=list(range(_MANY)))]
    request = WriteTxnMarkersRequest(
        markers=[WritableTxnMarker(producer_id=-1, producer_epoch=0, topics=topics)]
    )
    call = Call(request, 1, "test", "/127.0.0.1", 1, 0, "PLAINTEXT", None)
    handled = write_txn_markers.handle(Driver(["t:1"]).broker, call)
    assert isinstance(handled, Sliced)
    slices = 1
    try:
        next(handled.work)
        while True:
            handled.work.send(0)
            slices += 1
    except StopIteration as end:
        answer = end.value
    assert isinstance(answer, WriteTxnMarkersResponse)
    rows = answer.markers[0].topics[0].partitions
    assert (len(rows), {row.error_code for row in rows}) == (_MANY, {error})
    assert slices >= 2 * _MANY // ITEMS_A_STEP
