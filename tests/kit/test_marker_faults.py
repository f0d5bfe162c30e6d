"""Faults of WriteTxnMarkers: what an application sees between a commit and its markers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from coordinator import Emulator
from coordinator.server.requests.refusals import Place, refuse
from coordinator.wire.messages.transactions import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)

SILENT = {"log_level": 0}
PATIENCE_S = 120.0
"""For each thing that is awaited, on a busy machine."""


@pytest.fixture(params=[1, 3])
def kafka(request: pytest.FixtureRequest) -> Iterator[Emulator]:
    with Emulator(brokers=request.param, topics=["orders:2"]) as kafka:
        yield kafka


def test_offsets_of_a_committed_transaction_wait_for_their_marker(kafka: Emulator) -> None:
    """TXN-5"""
    bootstrap = {"bootstrap.servers": kafka.bootstrap_servers, **SILENT}
    producer = Producer({**bootstrap, "transactional.id": "tx"})
    consumer = Consumer({**bootstrap, "group.id": "billing"})
    producer.init_transactions(PATIENCE_S)
    group = kafka.group("billing")
    with kafka.hold("WriteTxnMarkers", topic="__consumer_offsets") as held:
        producer.begin_transaction()
        producer.send_offsets_to_transaction(
            [TopicPartition("orders", 0, 5)], consumer.consumer_group_metadata(), PATIENCE_S
        )
        producer.commit_transaction(PATIENCE_S)
        held.wait_hit()
        assert group.committed == {}
        held.release()
        group.wait(committed={("orders", 0): 5})
    with kafka.observe("WriteTxnMarkers", topic="orders") as seen:
        producer.begin_transaction()
        producer.produce("orders", b"x", partition=1)
        producer.commit_transaction(PATIENCE_S)
        seen.wait_hit()
    consumer.close()


def test_partitions_of_one_marker_fail_by_themselves() -> None:
    topics = [
        WritableTxnMarkerTopic(name="a", partition_indexes=[0, 1]),
        WritableTxnMarkerTopic(name="b", partition_indexes=[0]),
    ]
    request = WriteTxnMarkersRequest(markers=[WritableTxnMarker(producer_id=7, topics=topics)])
    refusal = refuse(request, 2, 14, lambda place: place == Place("a", None, 1))
    assert refusal is not None
    rest = refusal.rest
    assert isinstance(rest, WriteTxnMarkersRequest)
    assert [(t.name, t.partition_indexes) for t in rest.markers[0].topics] == [
        ("a", [0]),
        ("b", [0]),
    ]
    answer = refusal.complete(WriteTxnMarkersResponse(markers=[]))
    assert isinstance(answer, WriteTxnMarkersResponse)
    (row,) = answer.markers[0].topics[0].partitions
    assert (row.partition_index, row.error_code) == (1, 14)
    assert refuse(request, 2, 14, lambda place: False) is None
    whole = refuse(request, 2, 14, lambda place: True)
    assert whole is not None
    assert whole.rest is None
