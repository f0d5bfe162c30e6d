"""Fetch (key 1) from bytes to bytes: limits, refusals, waiting. Figures and fields as a 4.4.0
broker gave them."""

from __future__ import annotations

import pytest

from coordinator.base.errors import ErrorCode
from coordinator.wire.messages.fetch import EpochEndOffset, PartitionData, ReplicaState
from coordinator.wire.messages.topics import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
    DeleteTopicsRequest,
)
from tests.server.broker.data import (
    BATCH,
    SIZE,
    DataDriver,
    fetch_request,
    partitions_of,
    produce_request,
    sizes,
    wanted,
)


@pytest.fixture
def driver() -> DataDriver:
    """Partition 0: three batches of two records and 279 bytes; partitions 1 and 2: one each."""
    driver = DataDriver()
    for index in (0, 0, 0, 1, 2):
        driver.produce(index=index)
    return driver


def refused(index: int, code: int, *, log_asked: bool) -> PartitionData:
    return PartitionData(
        partition_index=index,
        error_code=code,
        high_watermark=-1,
        log_start_offset=-1,
        records=b"",
        aborted_transactions=None if log_asked else [],
    )


@pytest.mark.parametrize("version", range(4, 19))
def test_every_version_reads(driver: DataDriver, version: int) -> None:
    request = fetch_request(wanted(), topic_id=driver.t.id)
    (partition,) = partitions_of(driver.fetch(request, version))
    assert partition.error_code == 0
    assert partition.records == driver.t.partitions[0].log.read(0, 1 << 20)
    assert (partition.high_watermark, partition.last_stable_offset, partition.log_start_offset) == (
        6,
        6,
        0 if version > 4 else -1,
    )
    assert partition.aborted_transactions is None


def test_read_committed_gets_an_empty_list_of_aborted_transactions(driver: DataDriver) -> None:
    """Null only where nothing was looked at: a batch that did not fit, a diverging epoch, an
    error."""
    first, second, third, fourth = partitions_of(
        driver.fetch(
            fetch_request(wanted(0), wanted(1), wanted(2, 2), wanted(9), isolation=1, max_bytes=840)
        )
    )
    assert (first.aborted_transactions, len(first.records or b"")) == ([], 837)
    assert (second.aborted_transactions, second.records) == (None, b"")
    assert (third.aborted_transactions, third.records) == ([], b"")
    assert fourth.aborted_transactions == []
    (diverging,) = partitions_of(
        driver.fetch(fetch_request(wanted(0, 9, last_epoch=0), isolation=1))
    )
    assert diverging.aborted_transactions is None


def test_an_isolation_level_that_does_not_exist(driver: DataDriver) -> None:
    """The session id is the request's."""
    answer = driver.fetch(fetch_request(wanted(), isolation=5, session=(7, 0)))
    assert (answer.error_code, answer.session_id, sizes(answer)) == (-1, 7, [(0, -1, 0)])


@pytest.mark.parametrize(
    ("offset", "partition_max", "most", "size"),
    [
        (3, 1 << 20, 1 << 20, 558),
        (3, 10, 1 << 20, 279),
        (0, 300, 1 << 20, 300),
        (0, 0, 1 << 20, 279),
        (0, 1 << 20, 0, 279),
        (0, 1 << 20, 10, 279),
    ],
)
def test_limits(driver: DataDriver, offset: int, partition_max: int, most: int, size: int) -> None:
    """KIP-74: the first batch is returned whole."""
    assert sizes(
        driver.fetch(fetch_request(wanted(0, offset, max_bytes=partition_max), max_bytes=most))
    ) == [(0, 0, size)]


def test_only_the_first_batch_of_all_is_returned_beyond_the_limit(driver: DataDriver) -> None:
    assert sizes(driver.fetch(fetch_request(wanted(0), wanted(1), max_bytes=10))) == [
        (0, 0, 279),
        (1, 0, 0),
    ]
    assert sizes(
        driver.fetch(fetch_request(wanted(0, max_bytes=285), wanted(1), max_bytes=300))
    ) == [(0, 0, 285), (1, 0, 0)]
    assert sizes(driver.fetch(fetch_request(wanted(0, 6), wanted(1), max_bytes=10))) == [
        (0, 0, 0),
        (1, 0, 279),
    ]


def test_negative_limits(driver: DataDriver) -> None:
    assert partitions_of(driver.fetch(fetch_request(wanted(max_bytes=-1)))) == [
        refused(0, -1, log_asked=True)
    ]
    assert partitions_of(driver.fetch(fetch_request(wanted(), max_bytes=-1))) == [
        refused(0, -1, log_asked=True)
    ]


def test_what_kafka_trips_over_matters_only_where_something_is_read(driver: DataDriver) -> None:
    """A negative limit at the end of a log, an isolation level that does not exist beside unknown
    partitions alone."""
    assert sizes(driver.fetch(fetch_request(wanted(0, 6), max_bytes=-1))) == [(0, 0, 0)]
    assert sizes(driver.fetch(fetch_request(wanted(9), isolation=5))) == [(9, 3, 0)]


@pytest.mark.parametrize("offset", [7, -1])
def test_offset_out_of_range(driver: DataDriver, offset: int) -> None:
    """Answered at once, also when other partitions have nothing."""
    answer = driver.fetch(fetch_request(wanted(0, offset), wanted(1, 2)))
    assert partitions_of(answer)[0] == refused(0, ErrorCode.OFFSET_OUT_OF_RANGE, log_asked=True)
    assert sizes(answer)[1] == (1, 0, 0)


def test_below_the_log_start_is_out_of_range(driver: DataDriver) -> None:
    driver.t.partitions[0].log.delete_records(3)
    assert sizes(driver.fetch(fetch_request(wanted(0, 2)))) == [(0, 1, 0)]
    assert sizes(driver.fetch(fetch_request(wanted(0, 3)))) == [(0, 0, 558)]


def test_unknown_partitions_and_topics(driver: DataDriver) -> None:
    """KIP-516 for ids. These come last in the answer."""
    three = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert partitions_of(driver.fetch(fetch_request(wanted(9)))) == [
        refused(9, three, log_asked=False)
    ]
    assert partitions_of(driver.fetch(fetch_request(wanted(), topic="nope"))) == [
        refused(0, three, log_asked=False)
    ]
    assert sizes(driver.fetch(fetch_request(wanted(9), wanted(0)))) == [(0, 0, 837), (9, 3, 0)]
    for topic_id in (b"\1" * 16, bytes(16)):
        answer = driver.fetch(fetch_request(wanted(), topic_id=topic_id), 13)
        assert partitions_of(answer) == [refused(0, ErrorCode.UNKNOWN_TOPIC_ID, log_asked=False)]
        assert answer.responses[0].topic_id == topic_id
    assert sizes(driver.fetch(fetch_request(wanted(9), topic_id=driver.t.id), 13)) == [(9, 3, 0)]


@pytest.mark.parametrize(("epoch", "code"), [(0, 74), (1, 74), (2, 0), (3, 75), (-1, 0), (-2, 0)])
def test_leader_epochs(driver: DataDriver, epoch: int, code: int) -> None:
    """KIP-320: fenced when older, unknown when newer, not checked below 0."""
    driver.t.partitions[0].leader_epoch = 2
    assert sizes(driver.fetch(fetch_request(wanted(epoch=epoch))))[0][1] == code


def test_a_fenced_fetch_is_told_the_leader(driver: DataDriver) -> None:
    """KIP-951, from v16 on."""
    driver.t.partitions[0].leader_epoch = 2
    request = fetch_request(wanted(epoch=1), topic_id=driver.t.id)
    answer = driver.fetch(request, 16)
    (partition,) = partitions_of(answer)
    assert (partition.current_leader.leader_id, partition.current_leader.leader_epoch) == (1, 2)
    assert [(node.node_id, node.port) for node in answer.node_endpoints] == [(1, 9092)]
    assert driver.fetch(request, 15).node_endpoints == []
    unknown = driver.fetch(fetch_request(wanted(epoch=5), topic_id=driver.t.id), 16)
    assert unknown.node_endpoints == []


def test_diverging_epochs(driver: DataDriver) -> None:
    """KIP-595: the consumer's last epoch ends before its offset."""
    assert sizes(driver.fetch(fetch_request(wanted(0, 2, last_epoch=0)))) == [(0, 0, 558)]
    assert partitions_of(driver.fetch(fetch_request(wanted(0, 2, last_epoch=5)))) == [
        refused(0, 1, log_asked=True)
    ]
    (partition,) = partitions_of(driver.fetch(fetch_request(wanted(0, 9, last_epoch=0))))
    assert (partition.error_code, partition.records, partition.high_watermark) == (0, b"", 6)
    assert partition.diverging_epoch == EpochEndOffset(epoch=0, end_offset=6)


def test_replicas_are_refused(driver: DataDriver) -> None:
    request = fetch_request(wanted(), topic_id=driver.t.id)
    for replica, code in ((5, 6), (1, 6), (-2, 0)):
        request.replica_id = replica
        assert sizes(driver.fetch(request, 12))[0][1] == code
        request.replica_state = ReplicaState(replica_id=replica)
        assert sizes(driver.fetch(request, 15))[0][1] == code


def test_a_partition_named_twice_counts_as_named_last(driver: DataDriver) -> None:
    assert sizes(driver.fetch(fetch_request(wanted(0, 0), wanted(0, 4)))) == [(0, 0, 279)]


def test_nothing_asked_nothing_waited_for(driver: DataDriver) -> None:
    assert driver.fetch(fetch_request()).responses == []


# --- waiting
# -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("wait", "min_bytes"), [(0, 1), (-1, 1), (500, 0)])
def test_who_does_not_want_to_wait(driver: DataDriver, wait: int, min_bytes: int) -> None:
    assert sizes(driver.fetch(fetch_request(wanted(0, 6), wait=wait, min_bytes=min_bytes))) == [
        (0, 0, 0)
    ]


def test_waits_until_its_deadline(driver: DataDriver) -> None:
    driver.client_.send(fetch_request(wanted(0, 6), wait=500), 12)
    assert driver.broker.next_deadline() == 500
    driver.pass_time(499)
    assert driver.client_.answers() == []
    driver.pass_time(1)
    assert sizes(driver.fetched()) == [(0, 0, 0)]
    assert driver.broker.parked_fetches.next_deadline() is None


def test_too_few_bytes_are_given_at_the_deadline(driver: DataDriver) -> None:
    driver.client_.send(fetch_request(wanted(), min_bytes=10_000), 12)
    assert driver.client_.answers() == []
    driver.pass_time(500)
    assert sizes(driver.fetched()) == [(0, 0, 837)]


def test_min_bytes_above_max_bytes_do_not_wait(driver: DataDriver) -> None:
    assert sizes(driver.fetch(fetch_request(wanted(), min_bytes=10_000, max_bytes=100))) == [
        (0, 0, 279)
    ]


def test_an_unknown_partition_does_not_shorten_the_wait(driver: DataDriver) -> None:
    driver.client_.send(fetch_request(wanted(9), wanted(0, 6)), 12)
    assert driver.client_.answers() == []
    driver.pass_time(500)
    assert sizes(driver.fetched()) == [(0, 0, 0), (9, 3, 0)]


def test_records_end_the_wait(driver: DataDriver) -> None:
    waiting = driver.client()
    waiting.send(fetch_request(wanted(0, 6), wanted(1, 2)), 12)
    driver.produce(index=2)
    assert waiting.answers() == []
    driver.produce(index=1)
    assert sizes(driver.fetched(waiting)) == [(0, 0, 0), (1, 0, 279)]
    assert len(driver.broker.parked_fetches) == 0
    driver.produce(index=0)
    driver.pass_time(1_000)
    assert waiting.answers() == []


def test_one_produce_request_wakes_once_all_is_appended(driver: DataDriver) -> None:
    waiting = driver.client()
    waiting.send(fetch_request(wanted(0, 6), wanted(1, 2)), 12)
    driver.client_.ask(produce_request({("t", 0): BATCH, ("t", 1): BATCH}), 12)
    assert sizes(driver.fetched(waiting)) == [(0, 0, 279), (1, 0, 279)]


def test_min_bytes_are_counted_over_partitions(driver: DataDriver) -> None:
    waiting = driver.client()
    waiting.send(fetch_request(wanted(0, 6), wanted(1, 2), min_bytes=2 * SIZE), 12)
    driver.produce(index=1)
    assert waiting.answers() == []
    driver.produce(index=0)
    assert sizes(driver.fetched(waiting)) == [(0, 0, 279), (1, 0, 279)]


def test_too_few_bytes_wake_nobody(driver: DataDriver) -> None:
    waiting = driver.client()
    waiting.send(fetch_request(wanted(0, 6), min_bytes=2 * SIZE), 12)
    driver.produce()
    assert waiting.answers() == []
    assert len(driver.broker.parked_fetches) == 1


@pytest.mark.parametrize("version", [12, 13])
def test_deleting_the_topic_ends_the_wait(driver: DataDriver, version: int) -> None:
    driver.topic("other")
    topic_id = driver.broker.cluster.topics["other"].id
    waiting = driver.client()
    waiting.send(fetch_request(wanted(), topic="other", topic_id=topic_id), version)
    driver.client_.ask(DeleteTopicsRequest(topic_names=["other"], timeout_ms=1_000), 3)
    assert partitions_of(driver.fetched(waiting)) == [
        refused(0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, log_asked=True)
    ]
    again = driver.fetch(fetch_request(wanted(), topic="other", topic_id=topic_id), version)
    assert sizes(again) == [(0, 3 if version == 12 else 100, 0)]


def test_a_log_start_beyond_the_offset_does_not_end_the_wait(driver: DataDriver) -> None:
    """RET-6: it is told when its time is over."""
    waiting = driver.client()
    waiting.send(fetch_request(wanted(0, 2), min_bytes=10_000), 12)
    request = DeleteRecordsRequest(
        topics=[
            DeleteRecordsTopic(
                name="t", partitions=[DeleteRecordsPartition(partition_index=0, offset=3)]
            )
        ]
    )
    driver.client_.ask(request, 2)
    assert waiting.answers() == []
    driver.pass_time(500)
    assert sizes(driver.fetched(waiting)) == [(0, 1, 0)]


def test_a_parked_fetch_mutes_only_its_own_connection(driver: DataDriver) -> None:
    """META-4."""
    waiting, other = driver.client(), driver.client()
    waiting.send(fetch_request(wanted(0, 6)), 12)
    waiting.send(fetch_request(wanted(0)), 12)
    assert waiting.answers() == []
    other.send(fetch_request(wanted(0)), 12)
    assert len(other.answers()) == 1
    driver.pass_time(500)
    assert len(waiting.answers()) == 2


def test_a_lost_connection_leaves_nothing_behind(driver: DataDriver) -> None:
    waiting = driver.client()
    waiting.send(fetch_request(wanted(0, 6), wait=1 << 30), 12)
    waiting.connection.lost()
    assert len(driver.broker.parked_fetches) == 0
    assert driver.broker.parked_fetches.next_deadline() is None


def test_deadlines_of_woken_fetches_do_not_pile_up(driver: DataDriver) -> None:
    waiting = driver.client()
    driver.client().send(fetch_request(wanted(2, 2), wait=1 << 29), 12)
    for offset in range(6, 2_006, 2):
        waiting.send(fetch_request(wanted(0, offset), wait=1 << 30), 12)
        driver.produce()
    assert len(waiting.answers()) == 1_000
    assert len(driver.broker.parked_fetches._deadlines) < 300


def test_fetch_max_bytes_of_the_broker_limits_too() -> None:
    """fetch.max.bytes."""
    driver = DataDriver({"fetch.max.bytes": "1024"})
    for _ in range(6):
        driver.produce()
    assert sizes(driver.fetch(fetch_request(wanted()))) == [(0, 0, 1024)]
