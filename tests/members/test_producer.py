"""A producer by itself: retries keep order and sequence numbers, time runs out, errors that cannot
be retried."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assignors import TopicPartition
from coordinator.base.errors import ErrorCode
from coordinator.members import MemberConfigError
from coordinator.members.effects import AskBroker, Send
from coordinator.members.faults import MemberFault
from coordinator.members.producers.config import ProducerConfig
from coordinator.members.producers.produced import Delivered
from coordinator.members.producers.producer import Producer
from coordinator.members.settings import from_properties
from coordinator.server.storage.records import parse_header
from coordinator.wire.messages.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from coordinator.wire.messages.produce import (
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)
from coordinator.wire.messages.transactions import InitProducerIdRequest, InitProducerIdResponse
from coordinator.wire.schema import Request, Response

T0 = TopicPartition("t", 0)


class Bench:
    """A producer, and what it asks."""

    def __init__(self, **properties: object) -> None:
        self.now = 0
        self.producer = Producer(
            from_properties(ProducerConfig, {"linger.ms": 0, **properties}, "a producer")
        )
        self.told: list[Delivered] = []
        self.open: list[tuple[int, Request]] = []

    def turn(self, after: int = 0) -> None:
        self.now += after
        self.producer.tick(self.now)
        for effect in self.producer.take():
            match effect:
                case Send(number, _, message) | AskBroker(number, _, message):
                    self.open.append((number, message))
                case Delivered():
                    self.told.append(effect)

    def answer(self, kind: type[Request], response: Response | None) -> Request:
        number, message = next(each for each in self.open if isinstance(each[1], kind))
        self.open.remove((number, message))
        if response is None:
            self.producer.failed(number, self.now)
        else:
            self.producer.receive(number, response, self.now)
        self.turn()
        return message

    def start(self) -> None:
        """Give it an id and a leader."""
        self.producer.send(T0, b"0", self.now)
        self.turn()
        self.answer(InitProducerIdRequest, InitProducerIdResponse(producer_id=5, producer_epoch=1))
        rows = [MetadataResponsePartition(partition_index=0, leader_id=1)]
        topic = MetadataResponseTopic(name="t", partitions=rows)
        self.answer(
            MetadataRequest,
            MetadataResponse(
                brokers=[MetadataResponseBroker(node_id=1, host="h", port=1)], topics=[topic]
            ),
        )


def produced(error: ErrorCode = ErrorCode.NONE, offset: int = 0) -> ProduceResponse:
    row = PartitionProduceResponse(index=0, error_code=error, base_offset=offset)
    return ProduceResponse(responses=[TopicProduceResponse(name="t", partition_responses=[row])])


def sequence(message: Request) -> tuple[int, int, int]:
    assert isinstance(message, ProduceRequest)
    header = parse_header(message.topic_data[0].partition_data[0].records or b"")
    return header.producer_epoch, header.base_sequence, header.record_count


def test_a_batch_is_sent_again_as_it_was_and_the_next_waits_for_it() -> None:
    bench = Bench()
    bench.start()
    bench.producer.send(T0, b"1", bench.now)
    bench.turn()
    assert sequence(bench.answer(ProduceRequest, produced(ErrorCode.NOT_ENOUGH_REPLICAS))) == (
        1,
        0,
        1,
    )
    bench.turn(after=200)
    assert sequence(bench.answer(ProduceRequest, produced(offset=40))) == (1, 0, 1)
    assert sequence(
        bench.answer(ProduceRequest, produced(ErrorCode.DUPLICATE_SEQUENCE_NUMBER, offset=41))
    ) == (1, 1, 1)
    assert [(each.tickets, each.offset, each.fault) for each in bench.told] == [
        ((1,), 40, None),
        ((2,), 41, None),
    ]
    assert bench.producer.idle


def test_a_gap_in_the_sequence_is_followed_by_a_new_epoch() -> None:
    """KIP-360: what a broker does not know any more cannot be continued."""
    bench = Bench()
    bench.start()
    bench.answer(ProduceRequest, produced(ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER))
    assert bench.told[0].fault is not None
    bench.producer.send(T0, b"1", bench.now)
    bench.turn()
    asked = bench.answer(
        InitProducerIdRequest, InitProducerIdResponse(producer_id=5, producer_epoch=2)
    )
    assert isinstance(asked, InitProducerIdRequest)
    assert (asked.producer_id, asked.producer_epoch) == (5, 1)
    assert sequence(bench.answer(ProduceRequest, produced())) == (2, 0, 1)


def test_what_is_not_delivered_in_time_is_given_up() -> None:
    bench = Bench(**{"delivery.timeout.ms": 1000, "request.timeout.ms": 500})
    bench.start()
    bench.turn(after=999)
    assert not bench.told
    bench.turn(after=1)
    [gone] = bench.told
    assert "not delivered within delivery.timeout.ms" in str(gone.fault)


def test_without_acks_nothing_is_waited_for() -> None:
    bench = Bench(acks="0", **{"enable.idempotence": "false"})
    bench.producer.send(T0, b"0", 0)
    bench.turn()
    rows = [MetadataResponsePartition(partition_index=0, leader_id=1)]
    topic = MetadataResponseTopic(name="t", partitions=rows)
    bench.answer(
        MetadataRequest,
        MetadataResponse(
            brokers=[MetadataResponseBroker(node_id=1, host="h", port=1)], topics=[topic]
        ),
    )
    assert [(each.offset, each.fault) for each in bench.told] == [(-1, None)]


def test_a_fenced_producer_is_of_no_use() -> None:
    bench = Bench()
    bench.start()
    bench.answer(ProduceRequest, produced(ErrorCode.INVALID_PRODUCER_EPOCH))
    with pytest.raises(MemberFault, match="INVALID_PRODUCER_EPOCH"):
        bench.producer.send(T0, b"1", bench.now)


@pytest.mark.parametrize(
    ("properties", "right"),
    [
        ({"acks": "2"}, "one of all, -1, 0, 1"),
        ({"acks": "1"}, "enable.idempotence = true needs acks = all"),
        (
            {"transactional.id": "x", "enable.idempotence": False},
            "transactional.id needs enable.idempotence",
        ),
        ({"linger": 1}, "linger.ms is"),
        ({"delivery.timeout.ms": 10}, "at least linger.ms"),
        ({"batch.size": "many"}, "give a whole number"),
    ],
)
def test_what_cannot_be_is_refused(properties: dict[str, object], right: str) -> None:
    with pytest.raises(MemberConfigError, match=right):
        from_properties(ProducerConfig, properties, "a producer")


class AlwaysLooks(Producer):
    """A producer that looks for what is due whenever it is told the time."""

    def tick(self, now: int) -> None:
        self._looked_at = None
        super().tick(now)


def _drive(kind: type[Producer], acks: str, linger_ms: int, steps: list[tuple[str, int]]) -> str:
    """What a producer asks and tells while all this happens to it, with its deadlines."""
    settings_ = {"linger.ms": linger_ms, "acks": acks, "batch.size": 40, "retries": 2}
    settings_ |= {"enable.idempotence": acks == "all", "request.timeout.ms": 30}
    settings_ |= {"delivery.timeout.ms": 60, "retry.backoff.ms": 10}
    producer = kind(from_properties(ProducerConfig, settings_, "a producer"))
    rows = [MetadataResponsePartition(partition_index=index, leader_id=1) for index in range(2)]
    metadata = MetadataResponse(
        brokers=[MetadataResponseBroker(node_id=1, host="h", port=1)],
        topics=[MetadataResponseTopic(name="t", partitions=rows)],
    )
    now, open_, seen = 0, list[tuple[int, Request]](), list[object]()
    for step, value in steps:
        if step == "send" and producer.fatal is None:
            producer.send(TopicPartition("t", value % 2), b"12345", now)
        elif step == "pass":
            now += value
        elif step != "send" and open_:
            number, message = open_.pop(value % len(open_))
            code = (0, ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.MESSAGE_TOO_LARGE)[value % 3]
            if step == "fail":
                producer.failed(number, now)
            elif isinstance(message, MetadataRequest):
                producer.receive(number, metadata, now)
            elif isinstance(message, InitProducerIdRequest):
                producer.receive(
                    number, InitProducerIdResponse(producer_id=5, producer_epoch=1), now
                )
            elif isinstance(message, ProduceRequest):
                parts = [
                    TopicProduceResponse(
                        name="t",
                        partition_responses=[
                            PartitionProduceResponse(index=data.index, error_code=code)
                            for data in topic.partition_data
                        ],
                    )
                    for topic in message.topic_data
                ]
                producer.receive(number, ProduceResponse(responses=parts), now)
        while True:
            producer.tick(now)
            effects = producer.take()
            if not effects:
                break
            seen.append((now, effects))
            open_ += [
                (each.number, each.message)
                for each in effects
                if isinstance(each, Send | AskBroker)
            ]
        seen.append((producer.next_deadline(), producer.fatal is None, producer.idle))
    return repr(seen)


@settings(max_examples=150, deadline=None, database=None)
@given(
    st.sampled_from(["all", "1", "0"]),
    st.sampled_from([0, 5]),
    st.lists(
        st.tuples(
            st.sampled_from(["send", "send", "answer", "answer", "fail", "pass"]),
            st.integers(0, 40),
        ),
        max_size=60,
    ),
)
def test_what_was_looked_at_is_not_looked_at_again(
    acks: str, linger_ms: int, steps: list[tuple[str, int]]
) -> None:
    """Whoever tells the time again at an instant at which nothing has happened since gets the same,
    without a look at every partition."""
    seen = _drive(Producer, acks, linger_ms, steps)
    assert seen == _drive(AlwaysLooks, acks, linger_ms, steps)
