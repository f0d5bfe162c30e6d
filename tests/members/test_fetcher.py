"""A fetcher alone: answers that come when the partition is no longer read as it was when they were
asked for. Each test is the leader of one partition, and the clock."""

from __future__ import annotations

import struct

from hypothesis import given, settings
from hypothesis import strategies as st

from assignors import TopicPartition
from coordinator.base.errors import ErrorCode
from coordinator.members.backoff import Backoff
from coordinator.members.consuming.fetch_config import FetchConfig
from coordinator.members.consuming.fetching import Fetcher
from coordinator.members.effects import AskBroker, Effect, Position, Send
from coordinator.members.faults import MemberFault
from coordinator.members.record_batches import NewRecord, build_batch
from coordinator.wire.messages.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from coordinator.wire.messages.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from coordinator.wire.messages.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from coordinator.wire.schema import Request, Response

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


class AlwaysLooks(Fetcher):
    """A fetcher that goes through its partitions at every poll."""

    @property
    def _has_news(self) -> bool:
        return True

    @_has_news.setter
    def _has_news(self, value: bool) -> None:
        pass


_TWO = tuple(TopicPartition("orders", index) for index in range(2))


class Application:
    """An application that polls two partitions, to which anything may happen. `seen`: what came of
    it."""

    def __init__(self, kind: type[Fetcher], reset: str) -> None:
        config = FetchConfig(auto_offset_reset=reset, max_poll_records=3)
        self.fetcher = kind(
            config, committed=False, timeout_ms=50, backoff=Backoff(10, 100, lambda: 0.5)
        )
        self.seen: list[object] = []
        self.now = 0
        self._owned = _TWO
        self._positions: dict[TopicPartition, Position] = {}
        self._going: tuple[TopicPartition, ...] = ()
        self._known = True
        self._open: list[tuple[int, Request]] = []

    def does(self, step: str, value: int) -> None:
        """One thing happens, and it polls."""
        partition = _TWO[value % 2]
        match step:
            case "own":
                self._owned = _TWO[: value % 3]
                self._positions = {
                    each: at for each, at in self._positions.items() if each in self._owned
                }
            case "seek":
                if partition in self._owned:
                    self._positions[partition] = Position(value)
            case "lose":
                self._positions.pop(partition, None)
                self._known = value % 3 > 0
            case "going":
                self._going = _TWO[: value % 3]
            case "pass":
                self.now += value
            case "answer" if self._open:
                self._answer(*self._open.pop(value % len(self._open)), value)
        self._poll()

    def _answer(self, number: int, message: Request, value: int) -> None:
        response: Response | None = None
        error = (0, 0, 0, ErrorCode.OFFSET_OUT_OF_RANGE, ErrorCode.NOT_LEADER_OR_FOLLOWER)[
            value % 5
        ]
        if isinstance(message, MetadataRequest):
            rows = [MetadataResponsePartition(partition_index=at, leader_id=1) for at in range(2)]
            response = MetadataResponse(
                brokers=[MetadataResponseBroker(node_id=1, host="b", port=9092)],
                topics=[MetadataResponseTopic(name="orders", partitions=rows)],
            )
        elif isinstance(message, ListOffsetsRequest):
            found = [
                ListOffsetsPartitionResponse(partition_index=row.partition_index, offset=4)
                for row in message.topics[0].partitions
            ]
            response = ListOffsetsResponse(
                topics=[ListOffsetsTopicResponse(name="orders", partitions=found)]
            )
        elif isinstance(message, FetchRequest) and value % 7:
            new = [NewRecord(None, b"x", at) for at in range(value % 6)]
            datas = [
                PartitionData(
                    partition_index=row.partition,
                    error_code=error,
                    records=struct.pack(">q", row.fetch_offset) + build_batch(new)[8:]
                    if new and not error
                    else b"",
                )
                for row in message.topics[0].partitions
            ]
            response = FetchResponse(
                responses=[FetchableTopicResponse(topic="orders", partitions=datas)]
            )
        self.fetcher.receive(number, response, self.now)

    def _poll(self) -> None:
        fetcher = self.fetcher
        fetcher.assign(self._owned, self._positions, known=self._known, going=self._going)
        self._positions |= fetcher.found()
        try:
            self.seen.append(fetcher.poll())
        except MemberFault as fault:
            self.seen.append(str(fault))
            return
        moved = fetcher.moved()
        self._positions |= moved
        fetcher.leaders.tick(self.now)
        fetcher.ask(self.now)
        effects = fetcher.take()
        self._open += [
            (each.number, each.message) for each in effects if isinstance(each, Send | AskBroker)
        ]
        self.seen += [moved, effects, fetcher.next_deadline(), list(fetcher.resets)]


@settings(max_examples=200, deadline=None, database=None)
@given(
    st.sampled_from(["earliest", "none"]),
    st.lists(
        st.tuples(
            st.sampled_from(["own", "seek", "lose", "going", "pass", *["answer"] * 6]),
            st.integers(0, 60),
        ),
        max_size=60,
    ),
)
def test_polls_that_find_nothing_find_nothing_without_a_look_too(
    reset: str, steps: list[tuple[str, int]]
) -> None:
    """Whether there is anything to hand out is known before each partition is looked at."""
    knows, looks = Application(Fetcher, reset), Application(AlwaysLooks, reset)
    for step, value in [("seek", 0), ("seek", 1), ("answer", 1), ("answer", 4), *steps]:
        knows.does(step, value)
        looks.does(step, value)
    assert repr(knows.seen) == repr(looks.seen)
