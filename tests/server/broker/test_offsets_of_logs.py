"""ListOffsets (key 2), OffsetForLeaderEpoch (key 23) and DeleteRecords (key 21), answer by answer
as a 4.4.0 broker gave them."""

from __future__ import annotations

import pytest

from coordinator.base.errors import ErrorCode
from coordinator.server.storage.record_codec import Record, build_batch
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
from coordinator.wire.messages.topics import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopic,
)
from tests.server.broker.data import EPOCH_MS, DataDriver


@pytest.fixture
def driver() -> DataDriver:
    """Partition 0: offsets 0-4 at +10 +30 +20 +50 +40."""
    driver = DataDriver()
    for group in ((10, 30, 20), (50, 40)):
        driver.produce(
            build_batch(
                [Record(offset, EPOCH_MS + at, None, b"x") for offset, at in enumerate(group)]
            )
        )
    return driver


def listed(
    driver: DataDriver,
    *partitions: ListOffsetsPartition,
    topic: str = "t",
    version: int = 11,
) -> list[tuple[int, int, int, int, int]]:
    """(partition, error, offset, timestamp, leader epoch)."""
    asked = ListOffsetsTopic(name=topic, partitions=list(partitions))
    answer = driver.client_.ask(ListOffsetsRequest(replica_id=-1, topics=[asked]), version)
    assert isinstance(answer, ListOffsetsResponse)
    return [
        (each.partition_index, each.error_code, each.offset, each.timestamp, each.leader_epoch)
        for of_topic in answer.topics
        for each in of_topic.partitions
    ]


def at(timestamp: int, index: int = 0, *, epoch: int = -1) -> ListOffsetsPartition:
    return ListOffsetsPartition(
        partition_index=index, timestamp=timestamp, current_leader_epoch=epoch
    )


@pytest.mark.parametrize(
    ("special", "offset", "timestamp", "epoch"),
    [
        (-1, 5, -1, 0),
        (-2, 0, -1, 0),
        (-3, 3, EPOCH_MS + 50, 0),
        (-4, 0, -1, 0),
        (-5, -1, -1, -1),
        (-6, -1, -1, -1),
    ],
)
def test_specials(
    driver: DataDriver, special: int, offset: int, timestamp: int, epoch: int
) -> None:
    """KIP-734, KIP-1005, KIP-1023, answered as a broker without tiers does."""
    assert listed(driver, at(special)) == [(0, 0, offset, timestamp, epoch)]


@pytest.mark.parametrize(
    ("special", "offset"),
    [(-1, 0), (-2, 0), (-3, -1), (-4, 0), (-5, -1), (-6, -1), (0, -1), (5, -1)],
)
def test_an_empty_log(driver: DataDriver, special: int, offset: int) -> None:
    assert listed(driver, at(special, 1)) == [(1, 0, offset, -1, 0 if offset == 0 else -1)]


@pytest.mark.parametrize(
    ("special", "first"), [(-1, 1), (-2, 1), (-3, 7), (-4, 8), (-5, 9), (-6, 11)]
)
def test_specials_from_their_first_version_on(driver: DataDriver, special: int, first: int) -> None:
    for version in range(1, 12):
        ((_, error, *_),) = listed(driver, at(special), version=version)
        assert error == (0 if version >= first else ErrorCode.UNSUPPORTED_VERSION)


def test_other_negatives_are_unsupported(driver: DataDriver) -> None:
    assert listed(driver, at(-7)) == [(0, 35, -1, -1, -1)]
    assert listed(driver, at(-7), topic="nope") == [(0, 35, -1, -1, -1)]


@pytest.mark.parametrize(
    ("after", "offset", "found"), [(0, 0, 10), (10, 0, 10), (11, 1, 30), (31, 3, 50), (50, 3, 50)]
)
def test_by_time(driver: DataDriver, after: int, offset: int, found: int) -> None:
    """KIP-79."""
    assert listed(driver, at(EPOCH_MS + after)) == [(0, 0, offset, EPOCH_MS + found, 0)]
    assert listed(driver, at(EPOCH_MS + 51)) == [(0, 0, -1, -1, -1)]


@pytest.mark.parametrize("version", [1, 3])
def test_before_leader_epochs(driver: DataDriver, version: int) -> None:
    assert listed(driver, at(-1), version=version) == [(0, 0, 5, -1, -1)]


def test_refusals(driver: DataDriver) -> None:
    driver.t.partitions[0].leader_epoch = 2
    assert listed(driver, at(-1, 9)) == [(9, 3, -1, -1, -1)]
    assert listed(driver, at(-1), topic="nope") == [(0, 3, -1, -1, -1)]
    assert [listed(driver, at(-1, epoch=epoch))[0][1] for epoch in (-2, -1, 1, 2, 3)] == [
        74,
        0,
        74,
        0,
        75,
    ]
    assert listed(driver, at(-1), at(-2), at(-2, 1)) == [(0, 42, -1, -1, -1), (1, 0, 0, -1, 0)]
    driver.broker.node_id = 5
    assert listed(driver, at(-1)) == [(0, 6, -1, -1, -1)]


def test_an_isolation_level_that_does_not_exist(driver: DataDriver) -> None:
    """-1 for every entry as it stands in the request, before anything is looked up: doubled
    partitions, unknown specials, unknown topics."""
    asked = [
        ListOffsetsTopic(name="t", partitions=[at(-1), at(-1), at(-99, 1)]),
        ListOffsetsTopic(name="t", partitions=[at(-1)]),
        ListOffsetsTopic(name="nope", partitions=[]),
    ]
    request = ListOffsetsRequest(replica_id=-1, isolation_level=9, topics=asked)
    answer = driver.client_.ask(request, 10)
    assert isinstance(answer, ListOffsetsResponse)
    assert [
        (topic.name, [(each.partition_index, each.error_code) for each in topic.partitions])
        for topic in answer.topics
    ] == [("t", [(0, -1), (0, -1), (1, -1)]), ("t", [(0, -1)]), ("nope", [])]


def epoch_end(
    driver: DataDriver, epoch: int, *, index: int = 0, current: int = -1, version: int = 4
) -> tuple[int, int, int]:
    """(error, epoch, end offset)."""
    asked = OffsetForLeaderPartition(
        partition=index, current_leader_epoch=current, leader_epoch=epoch
    )
    topics = [OffsetForLeaderTopic(topic="t", partitions=[asked])]
    answer = driver.client_.ask(OffsetForLeaderEpochRequest(replica_id=-1, topics=topics), version)
    assert isinstance(answer, OffsetForLeaderEpochResponse)
    (of_topic,) = answer.topics
    (partition,) = of_topic.partitions
    assert partition.partition == index
    return partition.error_code, partition.leader_epoch, partition.end_offset


def test_epoch_ends(driver: DataDriver) -> None:
    """KIP-320: a consumer learns whether the log was cut behind its back."""
    for version in (2, 3, 4):
        assert epoch_end(driver, 0, version=version) == (0, 0, 5)
    assert epoch_end(driver, 5) == (0, -1, -1)
    assert epoch_end(driver, -1) == (0, -1, -1)
    assert epoch_end(driver, -2) == (0, -2, 0)
    assert epoch_end(driver, 0, index=1) == (0, 0, 0)
    assert epoch_end(driver, 0, index=9) == (3, -1, -1)
    assert epoch_end(driver, 0, current=0) == (0, 0, 5)
    assert epoch_end(driver, 0, current=3) == (75, -1, -1)
    assert epoch_end(driver, 0, current=-2) == (74, -1, -1)


def deleted(
    driver: DataDriver, *offsets: tuple[int, int], topic: str = "t", version: int = 2
) -> list[tuple[int, int, int]]:
    """(partition, error, low watermark)."""
    partitions = [
        DeleteRecordsPartition(partition_index=index, offset=offset) for index, offset in offsets
    ]
    answer = driver.client_.ask(
        DeleteRecordsRequest(topics=[DeleteRecordsTopic(name=topic, partitions=partitions)]),
        version,
    )
    assert isinstance(answer, DeleteRecordsResponse)
    return [
        (each.partition_index, each.error_code, each.low_watermark)
        for of_topic in answer.topics
        for each in of_topic.partitions
    ]


def test_delete_records(driver: DataDriver) -> None:
    """KIP-107."""
    assert deleted(driver, (0, 6)) == [(0, 1, -1)]
    assert deleted(driver, (0, 2), version=0) == [(0, 0, 2)]
    assert deleted(driver, (0, 1)) == [(0, 0, 2)]
    assert deleted(driver, (0, -2)) == [(0, 1, -1)]
    assert listed(driver, at(-2)) == [(0, 0, 2, -1, 0)]
    assert listed(driver, at(0)) == [(0, 0, 2, EPOCH_MS + 20, 0)]
    assert deleted(driver, (0, -1)) == [(0, 0, 5)]
    assert listed(driver, at(-2)) == [(0, 0, 5, -1, 0)]
    assert deleted(driver, (0, 5), (0, 9)) == [(0, 1, -1)]
    assert deleted(driver, (0, 9), (0, 5)) == [(0, 0, 5)]
    assert deleted(driver) == []


def test_where_records_cannot_be_deleted(driver: DataDriver) -> None:
    driver.topic("compacted", cleanup_policy="compact")
    driver.topic("both", cleanup_policy="compact,delete")
    driver.topic("neither", cleanup_policy="")
    assert deleted(driver, (9, 0)) == [(9, 3, -1)]
    assert deleted(driver, (0, 0), topic="nope") == [(0, 3, -1)]
    assert deleted(driver, (0, 0), topic="__consumer_offsets") == [(0, 17, -1)]
    assert deleted(driver, (0, 0), topic="compacted") == [(0, 44, -1)]
    assert deleted(driver, (0, 0), topic="both") == [(0, 0, 0)]
    assert deleted(driver, (0, 0), topic="neither") == [(0, 0, 0)]
    driver.broker.node_id = 5
    assert deleted(driver, (0, 0)) == [(0, 6, -1)]
