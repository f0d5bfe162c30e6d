"""ListOffsets (key 2), OffsetForLeaderEpoch (key 23) and DeleteRecords (key 21), answer by answer as a 4.3.1 broker gave them."""

from __future__ import annotations

import pytest

from coordinator.cluster.record_codec import Record, build_batch
from coordinator.errors import ErrorCode
from coordinator.wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopic,
)
from coordinator.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from coordinator.wire.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from tests.broker.data import EPOCH_MS, DataDesk


@pytest.fixture
def desk() -> DataDesk:
    """Partition 0: offsets 0-4 at +10 +30 +20 +50 +40."""
    desk = DataDesk()
    for group in ((10, 30, 20), (50, 40)):
        desk.produce(build_batch([Record(offset, EPOCH_MS + at, None, b"x") for offset, at in enumerate(group)]))
    return desk


def listed(desk: DataDesk, *partitions: ListOffsetsPartition, topic: str = "t", version: int = 11) -> list[tuple[int, int, int, int, int]]:
    """(partition, error, offset, timestamp, leader epoch)."""
    asked = ListOffsetsTopic(name=topic, partitions=list(partitions))
    answer = desk.client_.ask(ListOffsetsRequest(replica_id=-1, topics=[asked]), version)
    assert isinstance(answer, ListOffsetsResponse)
    return [(each.partition_index, each.error_code, each.offset, each.timestamp, each.leader_epoch)
            for of_topic in answer.topics for each in of_topic.partitions]


def at(timestamp: int, index: int = 0, *, epoch: int = -1) -> ListOffsetsPartition:
    return ListOffsetsPartition(partition_index=index, timestamp=timestamp, current_leader_epoch=epoch)


@pytest.mark.parametrize(("special", "offset", "timestamp", "epoch"), [
    (-1, 5, -1, 0), (-2, 0, -1, 0), (-3, 3, EPOCH_MS + 50, 0), (-4, 0, -1, 0), (-5, -1, -1, -1), (-6, -1, -1, -1),
])
def test_specials(desk: DataDesk, special: int, offset: int, timestamp: int, epoch: int) -> None:
    """KIP-734, KIP-1005, KIP-1023, answered as a broker without tiers does."""
    assert listed(desk, at(special)) == [(0, 0, offset, timestamp, epoch)]


@pytest.mark.parametrize(("special", "offset"), [(-1, 0), (-2, 0), (-3, -1), (-4, 0), (-5, -1), (-6, -1), (0, -1), (5, -1)])
def test_an_empty_log(desk: DataDesk, special: int, offset: int) -> None:
    assert listed(desk, at(special, 1)) == [(1, 0, offset, -1, 0 if offset == 0 else -1)]


@pytest.mark.parametrize(("special", "first"), [(-1, 1), (-2, 1), (-3, 7), (-4, 8), (-5, 9), (-6, 11)])
def test_specials_from_their_first_version_on(desk: DataDesk, special: int, first: int) -> None:
    for version in range(1, 12):
        ((_, error, *_),) = listed(desk, at(special), version=version)
        assert error == (0 if version >= first else ErrorCode.UNSUPPORTED_VERSION)


def test_other_negatives_are_unsupported(desk: DataDesk) -> None:
    assert listed(desk, at(-7)) == [(0, 35, -1, -1, -1)]
    assert listed(desk, at(-7), topic="nope") == [(0, 35, -1, -1, -1)]


@pytest.mark.parametrize(("after", "offset", "found"), [(0, 0, 10), (10, 0, 10), (11, 1, 30), (31, 3, 50), (50, 3, 50)])
def test_by_time(desk: DataDesk, after: int, offset: int, found: int) -> None:
    """KIP-79."""
    assert listed(desk, at(EPOCH_MS + after)) == [(0, 0, offset, EPOCH_MS + found, 0)]
    assert listed(desk, at(EPOCH_MS + 51)) == [(0, 0, -1, -1, -1)]


@pytest.mark.parametrize("version", [1, 3])
def test_before_leader_epochs(desk: DataDesk, version: int) -> None:
    assert listed(desk, at(-1), version=version) == [(0, 0, 5, -1, -1)]


def test_refusals(desk: DataDesk) -> None:
    desk.t.partitions[0].leader_epoch = 2
    assert listed(desk, at(-1, 9)) == [(9, 3, -1, -1, -1)]
    assert listed(desk, at(-1), topic="nope") == [(0, 3, -1, -1, -1)]
    assert [listed(desk, at(-1, epoch=epoch))[0][1] for epoch in (-2, -1, 1, 2, 3)] == [74, 0, 74, 0, 75]
    assert listed(desk, at(-1), at(-2), at(-2, 1)) == [(0, 42, -1, -1, -1), (1, 0, 0, -1, 0)]
    desk.broker.node_id = 5
    assert listed(desk, at(-1)) == [(0, 6, -1, -1, -1)]


def test_an_isolation_level_that_does_not_exist(desk: DataDesk) -> None:
    request = ListOffsetsRequest(isolation_level=9, topics=[ListOffsetsTopic(name="t", partitions=[at(-1)])])
    answer = desk.client_.ask(request, 10)
    assert isinstance(answer, ListOffsetsResponse)
    assert answer.topics[0].partitions[0].error_code == -1


def epoch_end(desk: DataDesk, epoch: int, *, index: int = 0, current: int = -1, version: int = 4) -> tuple[int, int, int]:
    """(error, epoch, end offset)."""
    asked = OffsetForLeaderPartition(partition=index, current_leader_epoch=current, leader_epoch=epoch)
    topics = [OffsetForLeaderTopic(topic="t", partitions=[asked])]
    answer = desk.client_.ask(OffsetForLeaderEpochRequest(replica_id=-1, topics=topics), version)
    assert isinstance(answer, OffsetForLeaderEpochResponse)
    (of_topic,) = answer.topics
    (partition,) = of_topic.partitions
    assert partition.partition == index
    return partition.error_code, partition.leader_epoch, partition.end_offset


def test_epoch_ends(desk: DataDesk) -> None:
    """KIP-320: a consumer learns whether the log was cut behind its back."""
    for version in (2, 3, 4):
        assert epoch_end(desk, 0, version=version) == (0, 0, 5)
    assert epoch_end(desk, 5) == (0, -1, -1)
    assert epoch_end(desk, -1) == (0, -1, -1)
    assert epoch_end(desk, -2) == (0, -2, 0)
    assert epoch_end(desk, 0, index=1) == (0, 0, 0)
    assert epoch_end(desk, 0, index=9) == (3, -1, -1)
    assert epoch_end(desk, 0, current=0) == (0, 0, 5)
    assert epoch_end(desk, 0, current=3) == (75, -1, -1)
    assert epoch_end(desk, 0, current=-2) == (74, -1, -1)


def deleted(desk: DataDesk, *offsets: tuple[int, int], topic: str = "t", version: int = 2) -> list[tuple[int, int, int]]:
    """(partition, error, low watermark)."""
    partitions = [DeleteRecordsPartition(partition_index=index, offset=offset) for index, offset in offsets]
    answer = desk.client_.ask(DeleteRecordsRequest(topics=[DeleteRecordsTopic(name=topic, partitions=partitions)]), version)
    assert isinstance(answer, DeleteRecordsResponse)
    return [(each.partition_index, each.error_code, each.low_watermark) for of_topic in answer.topics for each in of_topic.partitions]


def test_delete_records(desk: DataDesk) -> None:
    """KIP-107."""
    assert deleted(desk, (0, 6)) == [(0, 1, -1)]
    assert deleted(desk, (0, 2), version=0) == [(0, 0, 2)]
    assert deleted(desk, (0, 1)) == [(0, 0, 2)]
    assert deleted(desk, (0, -2)) == [(0, 1, -1)]
    assert listed(desk, at(-2)) == [(0, 0, 2, -1, 0)]
    assert listed(desk, at(0)) == [(0, 0, 2, EPOCH_MS + 20, 0)]
    assert deleted(desk, (0, -1)) == [(0, 0, 5)]
    assert listed(desk, at(-2)) == [(0, 0, 5, -1, 0)]
    assert deleted(desk, (0, 5), (0, 9)) == [(0, 1, -1)]
    assert deleted(desk, (0, 9), (0, 5)) == [(0, 0, 5)]
    assert deleted(desk) == []


def test_where_records_cannot_be_deleted(desk: DataDesk) -> None:
    desk.topic("compacted", cleanup_policy="compact")
    desk.topic("both", cleanup_policy="compact,delete")
    assert deleted(desk, (9, 0)) == [(9, 3, -1)]
    assert deleted(desk, (0, 0), topic="nope") == [(0, 3, -1)]
    assert deleted(desk, (0, 0), topic="__consumer_offsets") == [(0, 17, -1)]
    assert deleted(desk, (0, 0), topic="compacted") == [(0, 44, -1)]
    assert deleted(desk, (0, 0), topic="both") == [(0, 0, 0)]
    desk.broker.node_id = 5
    assert deleted(desk, (0, 0)) == [(0, 6, -1)]
