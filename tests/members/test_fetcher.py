"""A fetcher alone: answers that come when the partition is no longer read as it was when they were
asked for. Each test is the leader of one partition, and the clock."""

from __future__ import annotations

from assignors import TopicPartition
from coordinator.members.backoff import Backoff
from coordinator.members.consuming.fetch_config import FetchConfig
from coordinator.members.consuming.fetching import Fetcher
from coordinator.members.effects import AskBroker, Effect, Position, Send
from coordinator.members.record_batches import NewRecord, build_batch
from coordinator.wire.messages.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from coordinator.wire.messages.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)

ORDERS = TopicPartition("orders", 0)


class Solo:
    """One fetcher of orders-0, whose log has two records."""

    def __init__(self) -> None:
        self.fetcher = Fetcher(
            FetchConfig(auto_offset_reset="earliest"),
            committed=False,
            timeout_ms=30_000,
            backoff=Backoff(100, 1000, lambda: 0.5),
        )
        self.own(Position(0))
        [asked] = self.ask()
        assert isinstance(asked, Send)
        self.fetcher.receive(asked.number, _metadata(), 0)

    def own(self, position: Position | None, *, known: bool = True) -> None:
        """It is assigned, from here on; None: its committed offset is still asked for."""
        positions = {} if position is None else {ORDERS: position}
        self.fetcher.assign([ORDERS], positions, known=known)

    def lose(self) -> None:
        """It is revoked."""
        self.fetcher.assign([], {}, known=True)

    def ask(self) -> list[Effect]:
        """What is sent now."""
        self.fetcher.ask(0)
        return self.fetcher.take()

    def fetches(self) -> list[tuple[int, int]]:
        """Number and offset of each fetch that is sent now."""
        return [
            (effect.number, effect.message.topics[0].partitions[0].fetch_offset)
            for effect in self.ask()
            if isinstance(effect, AskBroker) and isinstance(effect.message, FetchRequest)
        ]

    def answer(self, number: int) -> None:
        """The records at offsets 0 and 1."""
        records = build_batch([NewRecord(None, b"a", 1), NewRecord(None, b"b", 2)])
        row = PartitionData(partition_index=0, high_watermark=2, records=records)
        topic = FetchableTopicResponse(topic="orders", partitions=[row])
        self.fetcher.receive(number, FetchResponse(responses=[topic]), 0)

    def polled(self) -> list[int]:
        """The offsets that are handed out now."""
        offsets = [record.offset for each in self.fetcher.poll() for record in each.records]
        self.fetcher.moved()
        return offsets


def _metadata() -> MetadataResponse:
    partition = MetadataResponsePartition(partition_index=0, leader_id=1, leader_epoch=0)
    return MetadataResponse(
        brokers=[MetadataResponseBroker(node_id=1, host="b", port=9092)],
        topics=[MetadataResponseTopic(name="orders", partitions=[partition])],
    )


def test_an_answer_from_before_a_revocation_is_dropped_until_the_committed_offset_is_known() -> (
    None
):
    """Assigned again, a partition begins at its committed offset. Java takes nothing for a
    partition that has no position; otherwise its records would be handed out twice."""
    solo = Solo()
    [(number, _)] = solo.fetches()
    solo.lose()
    solo.own(None, known=False)
    solo.answer(number)
    assert solo.polled() == []
    solo.own(Position(2))
    assert [offset for _, offset in solo.fetches()] == [2]


def test_what_was_fetched_is_dropped_when_a_partition_comes_back_between_two_polls() -> None:
    """Without a poll between, revoked and assigned again looks like a position that is gone."""
    solo = Solo()
    [(number, _)] = solo.fetches()
    solo.answer(number)
    solo.own(None, known=False)
    assert solo.polled() == []
    assert solo.fetches() == []
    solo.own(Position(0))
    assert [offset for _, offset in solo.fetches()] == [0]


def test_an_answer_to_the_same_position_is_taken() -> None:
    """The position of the new assignment is the one that was asked for: nothing is lost, and no
    second request waits behind the first."""
    solo = Solo()
    [(number, _)] = solo.fetches()
    solo.lose()
    solo.own(Position(0))
    assert solo.fetches() == []
    solo.answer(number)
    assert solo.polled() == [0, 1]
    assert [offset for _, offset in solo.fetches()] == [2]
