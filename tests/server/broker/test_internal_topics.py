"""The topics that hold groups and transactional ids: what becomes of groups and transactions when
they grow or are deleted."""

from __future__ import annotations

import pytest

from coordinator.base.errors import ErrorCode
from coordinator.base.java_hash import coordinator_partition
from coordinator.wire.messages.find_coordinator import FindCoordinatorRequest
from coordinator.wire.messages.topics import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
    DeleteTopicsRequest,
    DeleteTopicState,
)
from coordinator.wire.messages.transaction_views import DescribeTransactionsRequest
from tests.server.broker.test_transactions import TransactionDriver


@pytest.fixture
def driver() -> TransactionDriver:
    return TransactionDriver()


def test_a_grown_offsets_topic_is_asked_for_the_partitions_it_had_at_the_start(
    driver: TransactionDriver,
) -> None:
    """CFG-2: Kafka's coordinators read the number of partitions once; nothing stays pending where
    nobody looks."""
    driver.init()
    topic = CreatePartitionsTopic(name="__consumer_offsets", count=60, assignments=None)
    assert [
        row.error_code
        for row in driver.ask(CreatePartitionsRequest(topics=[topic], timeout_ms=9_000), 3).results
    ] == [0]
    moved = next(
        name
        for name in map(str, range(500))
        if coordinator_partition(name, 60) != coordinator_partition(name, 50)
    )
    assert driver.commit_offset(7, group=moved) == [0]
    assert driver.end(True).error_code == 0
    group = driver.broker.coordinator.groups[moved]
    assert not group.pending_offsets
    assert group.offsets["t", 0].offset == 7


def test_grown_topics_move_no_transactional_id(driver: TransactionDriver) -> None:
    """CFG-2: who produced before goes on, and ends what is open."""
    driver.ask(FindCoordinatorRequest(key_type=1, coordinator_keys=["tx"]), 4)
    assert driver.init() == 0
    assert [row.error_code for row in driver.write(0)] == [0]
    topic = CreatePartitionsTopic(name="__transaction_state", count=60, assignments=None)
    assert [
        row.error_code
        for row in driver.ask(CreatePartitionsRequest(topics=[topic], timeout_ms=9_000), 3).results
    ] == [0]
    assert [row.error_code for row in driver.write(1)] == [0]
    assert driver.end(True).error_code == 0
    assert driver.init() == 0


def test_a_deleted_transactions_topic_takes_its_transactional_ids_along() -> None:
    """TXN-9: refused until somebody has the topic made again, then unknown; what was open hangs.
    Kafka 4.4.0 did all of this."""
    driver = TransactionDriver()
    driver.ask(FindCoordinatorRequest(key_type=1, coordinator_keys=["tx"]), 4)
    driver.init()
    driver.write(0)
    assert driver.commit_offset(7) == [0]
    deletion = DeleteTopicsRequest(
        topics=[DeleteTopicState(name="__transaction_state")], timeout_ms=9_000
    )
    assert [row.error_code for row in driver.ask(deletion, 6).responses] == [0]
    producer = driver.producer_id, driver.epoch
    assert driver.end(True).error_code == ErrorCode.NOT_COORDINATOR
    assert driver.init() == ErrorCode.NOT_COORDINATOR
    assert [row.error_code for row in driver.write(0)] == [0], (
        "its partition knows the open transaction"
    )
    described = driver.ask(
        DescribeTransactionsRequest(transactional_ids=["tx"]), 0
    ).transaction_states[0]
    assert described.error_code == ErrorCode.NOT_COORDINATOR
    driver.ask(FindCoordinatorRequest(key_type=1, coordinator_keys=["tx"]), 4)
    described = driver.ask(
        DescribeTransactionsRequest(transactional_ids=["tx"]), 0
    ).transaction_states[0]
    assert described.error_code == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND
    assert driver.end(True).error_code == ErrorCode.INVALID_PRODUCER_ID_MAPPING
    assert driver.init() == 0
    assert (driver.producer_id, driver.epoch) != producer
    assert driver.broker.coordinator.groups["g"].pending_offsets
    driver.pass_time(3_600_000)  # nothing falls due for an id that was forgotten
    assert list(driver.broker.services.transactions.coordinator.transactions) == ["tx"]


def test_a_deleted_offsets_topic_takes_its_groups_along_and_comes_back_when_it_is_asked_for(
    driver: TransactionDriver,
) -> None:
    """FC-1, ERR-5, TXN-10: what the groups were is gone with it; who asks for a coordinator has it
    made again, empty."""
    driver.init()
    assert driver.commit_offset(7) == [0]
    deletion = DeleteTopicsRequest(
        topics=[DeleteTopicState(name="__consumer_offsets")], timeout_ms=9_000
    )
    assert [row.error_code for row in driver.ask(deletion, 6).responses] == [0]
    assert driver.broker.coordinator.groups == {}
    assert driver.commit_offset(8) == [ErrorCode.COORDINATOR_NOT_AVAILABLE]
    found = driver.ask(FindCoordinatorRequest(key_type=0, coordinator_keys=["g"]), 4).coordinators[
        0
    ]
    assert (found.error_code, found.node_id) == (0, driver.broker.node_id)
    assert driver.commit_offset(9) == [0]
    assert driver.end(True).error_code == 0
    assert driver.broker.coordinator.groups["g"].offsets["t", 0].offset == 9
