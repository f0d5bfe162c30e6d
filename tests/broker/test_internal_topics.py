"""The topics that hold groups and transactional ids: what becomes of groups and transactions when they grow or are deleted."""

from __future__ import annotations

import pytest

from coordinator.errors import ErrorCode
from coordinator.java_hash import coordinator_partition
from coordinator.wire.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from coordinator.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from coordinator.wire.messages.describe_transactions import DescribeTransactionsRequest
from coordinator.wire.messages.find_coordinator import FindCoordinatorRequest
from tests.broker.test_transactions import TransactionDesk


@pytest.fixture
def desk() -> TransactionDesk:
    return TransactionDesk()


def test_a_grown_offsets_topic_is_asked_for_the_partitions_it_had_at_the_start(desk: TransactionDesk) -> None:
    """CFG-2: Kafka's coordinators read the number of partitions once; nothing stays pending where nobody looks."""
    desk.init()
    topic = CreatePartitionsTopic(name="__consumer_offsets", count=60, assignments=None)
    assert [row.error_code for row in desk.ask(CreatePartitionsRequest(topics=[topic], timeout_ms=9_000), 3).results] == [0]
    moved = next(name for name in map(str, range(500)) if coordinator_partition(name, 60) != coordinator_partition(name, 50))
    assert desk.commit_offset(7, group=moved) == [0]
    assert desk.end(True).error_code == 0
    group = desk.broker.coordinator.groups[moved]
    assert not group.pending_offsets
    assert group.offsets["t", 0].offset == 7


def test_grown_topics_move_no_transactional_id(desk: TransactionDesk) -> None:
    """CFG-2: who produced before goes on, and ends what is open."""
    desk.ask(FindCoordinatorRequest(key_type=1, coordinator_keys=["tx"]), 4)
    assert desk.init() == 0
    assert [row.error_code for row in desk.write(0)] == [0]
    topic = CreatePartitionsTopic(name="__transaction_state", count=60, assignments=None)
    assert [row.error_code for row in desk.ask(CreatePartitionsRequest(topics=[topic], timeout_ms=9_000), 3).results] == [0]
    assert [row.error_code for row in desk.write(1)] == [0]
    assert desk.end(True).error_code == 0
    assert desk.init() == 0


def test_a_deleted_transactions_topic_takes_its_transactional_ids_along() -> None:
    """TXN-9: refused until somebody has the topic made again, then unknown; what was open hangs. Kafka 4.3.1 did all of this."""
    desk = TransactionDesk()
    desk.ask(FindCoordinatorRequest(key_type=1, coordinator_keys=["tx"]), 4)
    desk.init()
    desk.write(0)
    assert desk.commit_offset(7) == [0]
    deletion = DeleteTopicsRequest(topics=[DeleteTopicState(name="__transaction_state")], timeout_ms=9_000)
    assert [row.error_code for row in desk.ask(deletion, 6).responses] == [0]
    producer = desk.producer_id, desk.epoch
    assert desk.end(True).error_code == ErrorCode.NOT_COORDINATOR
    assert desk.init() == ErrorCode.NOT_COORDINATOR
    assert [row.error_code for row in desk.write(0)] == [0], "its partition knows the open transaction"
    described = desk.ask(DescribeTransactionsRequest(transactional_ids=["tx"]), 0).transaction_states[0]
    assert described.error_code == ErrorCode.NOT_COORDINATOR
    desk.ask(FindCoordinatorRequest(key_type=1, coordinator_keys=["tx"]), 4)
    described = desk.ask(DescribeTransactionsRequest(transactional_ids=["tx"]), 0).transaction_states[0]
    assert described.error_code == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND
    assert desk.end(True).error_code == ErrorCode.INVALID_PRODUCER_ID_MAPPING
    assert desk.init() == 0
    assert (desk.producer_id, desk.epoch) != producer
    assert desk.broker.coordinator.groups["g"].pending_offsets
    desk.pass_time(3_600_000)  # nothing falls due for an id that was forgotten
    assert list(desk.broker.transactions.coordinator.transactions) == ["tx"]


def test_a_deleted_offsets_topic_takes_its_groups_along_and_comes_back_when_it_is_asked_for(desk: TransactionDesk) -> None:
    """FC-1, ERR-5, TXN-10: what the groups were is gone with it; who asks for a coordinator has it made again, empty."""
    desk.init()
    assert desk.commit_offset(7) == [0]
    deletion = DeleteTopicsRequest(topics=[DeleteTopicState(name="__consumer_offsets")], timeout_ms=9_000)
    assert [row.error_code for row in desk.ask(deletion, 6).responses] == [0]
    assert desk.broker.coordinator.groups == {}
    assert desk.commit_offset(8) == [ErrorCode.COORDINATOR_NOT_AVAILABLE]
    found = desk.ask(FindCoordinatorRequest(key_type=0, coordinator_keys=["g"]), 4).coordinators[0]
    assert (found.error_code, found.node_id) == (0, desk.broker.node_id)
    assert desk.commit_offset(9) == [0]
    assert desk.end(True).error_code == 0
    assert desk.broker.coordinator.groups["g"].offsets["t", 0].offset == 9
