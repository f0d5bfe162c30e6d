"""Small requests to brokers that hold much: work that grows with what is held is done in slices,
and once for each thing."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator.server.waiting.delayed_deletion import DelayedDeletion
from coordinator.server.waiting.delayed_produce import DelayedProduce
from coordinator.wire.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from coordinator.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from coordinator.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchResponse,
)
from coordinator.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from coordinator.wire.messages.topics import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from coordinator.wire.schema import Request
from tests.server.broker.driver import Driver
from tests.server.brokers.desk import Cluster, produce

pytestmark = pytest.mark.unmeasured

PARTITIONS = 1_000


def commit(driver: Driver, group: str, count: int) -> None:
    parts = [
        OffsetCommitRequestPartition(partition_index=index, committed_offset=1)
        for index in range(count)
    ]
    client = driver.client()
    client.ask(
        OffsetCommitRequest(
            group_id=group, topics=[OffsetCommitRequestTopic(name="t", partitions=parts)]
        ),
        8,
    )
    client.connection.lost()


def turns(driver: Driver, request: Request, version: int) -> tuple[int, Any]:
    """How many turns of the loop an answer takes, where every turn is over at once, and the
    answer."""
    client, broker = driver.client(), driver.broker
    broker.turns.is_over = lambda: True
    client.connection.receive(client.frame(request, version), driver.now)
    count = 1
    while broker.turns.wanted:
        broker.next_turn(driver.now)
        count += 1
    (answer,) = client.answers()
    return count, answer


def test_many_groups_are_listed_in_slices() -> None:
    """LST-1: 100,000 groups that are looked at for a filter that none of them fits."""
    driver = Driver(["t:1"])
    for number in range(3_000):
        commit(driver, f"g{number}", 1)
    for states, listed in (([], 3_000), (["Stable"], 0)):
        count, answer = turns(driver, ListGroupsRequest(states_filter=states), 5)
        assert isinstance(answer, ListGroupsResponse)
        assert count >= 3
        assert len({row.group_id for row in answer.groups}) == len(answer.groups) == listed


def test_offsets_of_several_groups_are_fetched_in_slices() -> None:
    """OF-9: between groups of many offsets, not only between many groups."""
    driver = Driver([f"t:{PARTITIONS}"])
    names = [f"g{number}" for number in range(5)]
    for name in names:
        commit(driver, name, PARTITIONS)
    asked = [OffsetFetchRequestGroup(group_id=name, topics=None) for name in names]
    count, answer = turns(driver, OffsetFetchRequest(groups=asked), 9)
    assert isinstance(answer, OffsetFetchResponse)
    assert count >= len(names)
    assert [len(group.topics[0].partitions) for group in answer.groups] == [PARTITIONS] * len(names)


def test_offsets_of_a_deleted_topic_go_group_by_group() -> None:
    """EXP-7: what a group loses counts by its offsets, so that a slice ends behind the first group
    of a thousand."""
    driver = Driver([f"t:{PARTITIONS}"], {"offsets.topic.num.partitions": "1"})
    for number in range(5):
        commit(driver, f"g{number}", PARTITIONS)
    broker = driver.broker
    broker.controller.delete_topic(broker.cluster.topics["t"], driver.now)
    left = []
    while (deadline := broker.next_deadline()) is not None and deadline <= driver.now:
        left.append(sum(bool(group.offsets) for group in broker.coordinator.groups.values()))
        broker.tick(driver.now)
    assert left[:4] == [4, 3, 2, 1]
    assert not any(group.offsets for group in broker.coordinator.groups.values())


@pytest.mark.parametrize("kind", [DelayedDeletion, DelayedProduce])
def test_a_request_that_waits_for_many_partitions_looks_at_those_that_change(
    kind: type[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """DeleteRecords of 9,000 partitions looked at all of them for the change of each: 16 s."""
    cluster = Cluster([f"t:{PARTITIONS}"])
    mine = [one.index for one in cluster.truth.topics["t"].partitions if one.leader == 1]
    client = cluster.client(1)
    looked = 0
    real = kind._told

    def counted(waiting: Any, awaited: Any) -> bool:
        nonlocal looked
        looked += 1
        return bool(real(waiting, awaited))

    monkeypatch.setattr(kind, "_told", counted)
    records = produce(topic="t").topic_data[0].partition_data[0].records
    data = [PartitionProduceData(index=index, records=records) for index in mine]
    client.send(
        ProduceRequest(
            acks=-1, timeout_ms=5_000, topic_data=[TopicProduceData(name="t", partition_data=data)]
        ),
        9,
    )
    (answer,) = client.answers()
    assert {row.error_code for row in answer.responses[0].partition_responses} == {0}
    cut = [DeleteRecordsPartition(partition_index=index, offset=-1) for index in mine]
    client.send(
        DeleteRecordsRequest(
            topics=[DeleteRecordsTopic(name="t", partitions=cut)], timeout_ms=5_000
        ),
        2,
    )
    (deleted,) = client.answers()
    assert {(row.error_code, row.low_watermark) for row in deleted.topics[0].partitions} == {(0, 1)}
    assert len(mine) <= looked <= 8 * len(mine)
