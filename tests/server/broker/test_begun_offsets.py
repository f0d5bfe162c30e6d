"""TXN-8: TxnOffsetCommit asks the transaction coordinator about a transaction's first write in a
partition, and about none after it."""

from __future__ import annotations

from coordinator.base.errors import ErrorCode
from coordinator.wire.messages.transactions import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from tests.server.broker.test_transactions import TransactionDriver


def commit(
    driver: TransactionDriver, transactional_id: str, *, epoch: int | None = None, group: str = "g"
) -> int:
    rows = [TxnOffsetCommitRequestPartition(partition_index=0, committed_offset=1)]
    answer = driver.ask(
        TxnOffsetCommitRequest(
            transactional_id=transactional_id,
            group_id=group,
            producer_id=driver.producer_id,
            producer_epoch=driver.epoch if epoch is None else epoch,
            topics=[TxnOffsetCommitRequestTopic(name="t", partitions=rows)],
        ),
        5,
    )
    code: int = answer.topics[0].partitions[0].error_code
    return code


def test_who_has_begun_is_not_asked_about_again_until_the_marker() -> None:
    """Real brokers took the offsets of a transactional id that nobody knows, by a producer that had
    begun."""
    driver = TransactionDriver({"offsets.topic.num.partitions": "1"})
    driver.init()
    assert commit(driver, "nobody") == ErrorCode.INVALID_PRODUCER_ID_MAPPING
    assert commit(driver, "tx") == 0
    assert commit(driver, "nobody") == 0
    assert commit(driver, "nobody", group="another in that partition") == 0
    assert commit(driver, "nobody", epoch=driver.epoch + 1) == ErrorCode.INVALID_PRODUCER_ID_MAPPING
    driver.end(True)
    assert commit(driver, "nobody") == ErrorCode.INVALID_PRODUCER_ID_MAPPING


def test_another_partition_is_asked_about() -> None:
    driver = TransactionDriver({"offsets.topic.num.partitions": "50"})
    driver.init()
    assert commit(driver, "tx", group="a") == 0
    assert commit(driver, "nobody", group="b") == ErrorCode.INVALID_PRODUCER_ID_MAPPING
