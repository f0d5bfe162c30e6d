"""A producer by itself: retries keep order and sequence numbers, time runs out, errors that cannot
be retried."""

from __future__ import annotations

import pytest

from assignors import TopicPartition
from coordinator.errors import ErrorCode
from coordinator.members import MemberConfigError
from coordinator.members.effects import AskBroker, Send
from coordinator.members.faults import MemberFault
from coordinator.members.producers.config import ProducerConfig
from coordinator.members.producers.produced import Delivered
from coordinator.members.producers.producer import Producer
from coordinator.members.settings import from_properties
from coordinator.storage.records import parse_header
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
