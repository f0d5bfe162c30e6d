"""Memory of requests and answers is bounded: what waits, in what order it goes on, and what is
closed."""

from __future__ import annotations

import struct

import pytest

from coordinator.base.releases import NEWEST
from coordinator.server.broker import Broker
from coordinator.server.connections import connection as module
from coordinator.server.limits import Limits, Room
from coordinator.server.requests.call import Call, Encoded
from coordinator.wire.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from coordinator.wire.messages.heartbeat import HeartbeatRequest
from coordinator.wire.messages.list_groups import ListGroupsRequest
from coordinator.wire.messages.metadata import MetadataRequest
from coordinator.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from tests.server.broker.data import BATCH
from tests.server.broker.driver import Client, Driver

BEAT = HeartbeatRequest(group_id="g", generation_id=1, member_id="m")


def fetch(max_wait_ms: int = 1000, offset: int = 0) -> FetchRequest:
    return FetchRequest(
        max_wait_ms=max_wait_ms,
        min_bytes=1,
        max_bytes=1 << 20,
        topics=[
            FetchTopic(
                topic="orders",
                partitions=[
                    FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=1 << 20)
                ],
            )
        ],
    )


def produce(driver: Driver) -> None:
    data = TopicProduceData(
        name="orders", partition_data=[PartitionProduceData(index=0, records=BATCH)]
    )
    driver.client().ask(ProduceRequest(acks=1, timeout_ms=1000, topic_data=[data]), 9)


class TestRoom:
    def test_it_is_full_at_its_bound_and_waiters_go_on_in_their_order(self) -> None:
        room: Room[str] = Room(10)
        room.add(9)
        assert not room.full
        room.add(1)
        assert room.full
        for who in "abca":
            room.wait(who)
        room.leave("b")
        assert room.next() is None
        room.add(-1)
        assert [room.next(), room.next(), room.next()] == ["a", "c", None]


class TestOutput:
    def test_answers_that_may_be_large_wait_for_room_and_small_ones_do_not(self) -> None:
        driver = Driver()
        client, other = driver.client(), driver.client()
        output = driver.broker.turns.output
        output.add(output.limit)
        client.feed(client.frame(MetadataRequest(topics=None), 12) + client.frame(BEAT, 4))
        assert not client.writes, "what comes after it waits, too"
        assert len([other.ask(BEAT, 4)]) == 1, "other connections go on"
        output.add(-1)
        driver.settle()
        assert [type(answer).__name__ for answer in client.answers()] == [
            "MetadataResponse",
            "HeartbeatResponse",
        ]

    def test_a_parked_fetch_that_is_woken_without_room_is_not_read(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        driver = Driver(["orders:1"])
        clients = [driver.client() for _ in range(3)]
        for client in clients:
            client.send(fetch(), 11)
        output = driver.broker.turns.output
        output.add(output.limit)
        reads = 0
        log = driver.broker.cluster.topics["orders"].partitions[0].log
        read = type(log).read

        def counted(*args: object, **kwargs: object) -> object:
            nonlocal reads
            reads += 1
            return read(*args, **kwargs)  # type: ignore[arg-type]

        monkeypatch.setattr(type(log), "read", counted)
        produce(driver)
        assert reads == 0
        assert not any(client.writes for client in clients)
        output.add(-1)
        driver.settle()
        for client in clients:
            (answer,) = client.answers()
            assert isinstance(answer, FetchResponse)
            assert answer.responses[0].partitions[0].records

    def test_a_fetch_woken_while_its_client_does_not_read_is_not_encoded(self) -> None:
        driver = Driver(["orders:1"])
        client = driver.client()
        client.send(fetch(), 11)
        client.connection.pause()
        produce(driver)
        assert not client.writes
        client.connection.unpause(driver.now)
        assert len(client.answers()) == 1

    def test_one_append_that_wakes_many_fetches_answers_some_of_them_in_each_turn(self) -> None:
        driver = Driver(["orders:1"])
        clients = [driver.client() for _ in range(200)]
        for client in clients:
            client.send(fetch(), 11)
        settle, driver.settle = driver.settle, lambda: driver.broker.run_resumable(driver.now)  # type: ignore[method-assign]
        produce(driver)
        assert 0 < sum(bool(client.writes) for client in clients) < 100
        settle()
        assert all(len(client.answers()) == 1 for client in clients)

    def test_whoever_is_gone_waits_no_longer(self) -> None:
        driver = Driver()
        client = driver.client()
        output = driver.broker.turns.output
        output.add(output.limit)
        client.send(MetadataRequest(topics=None), 12)
        assert output.waiting
        client.connection.lost()
        assert not output.waiting

    def test_a_fetch_that_fails_when_it_is_made_closes_its_own_connection(self) -> None:
        driver = Driver(["orders:1"])
        client = driver.client()
        client.send(fetch(), 11)
        log = driver.broker.cluster.topics["orders"].partitions[0].log
        driver.broker.cluster.topics["orders"].partitions[0].log = Broken(log)  # type: ignore[assignment]
        driver.pass_time(1000)
        assert client.closed is not None
        assert "the emulator's fault" in client.closed


class Broken:
    """A partition's log that cannot be read."""

    def __init__(self, log: object) -> None:
        self._log = log

    def __getattr__(self, name: str) -> object:
        if name in ("read", "high_watermark"):
            raise RuntimeError("broken")
        return getattr(self._log, name)


class TestOneAnswer:
    def test_an_answer_larger_than_the_bound_closes_its_connection(self) -> None:
        driver = Driver([f"topic-{n}:1" for n in range(50)], limits=Limits(response_bytes=500))
        client, other = driver.client(), driver.client()
        client.send(MetadataRequest(topics=None), 12)
        assert client.closed is not None
        assert "500 are allowed (max_response_bytes)" in client.closed
        assert client.fault is None, "one line, no traceback"
        assert len([other.ask(BEAT, 4)]) == 1

    def test_an_answer_that_no_length_can_say_closes_its_connection(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        class Huge(bytes):
            def __len__(self) -> int:
                return 3 << 30

        def huge(broker: Broker, call: Call) -> Encoded:
            return Encoded(Huge(b"x"))

        api = module.apis.apis_of(NEWEST)[ListGroupsRequest.api_key]
        assert api is not None
        monkeypatch.setattr(api, "handle", huge)
        client = Driver(limits=Limits(response_bytes=1 << 40)).client()
        client.send(ListGroupsRequest(), 5)
        assert client.closed is not None
        assert "3221225472 bytes, 2147483632 are allowed" in client.closed


class TestInput:
    def test_what_is_kept_is_counted_and_given_back(self) -> None:
        driver = Driver()
        room = driver.broker.turns.input
        client = driver.client()
        whole = client.frame(BEAT, 4)
        client.feed(whole[:10])
        assert (room.held, len(client.connection.kept or b""), client.connection.missing_bytes) == (
            10,
            10,
            len(whole) - 10,
        )
        client.feed(whole[10:])
        assert room.held == 0
        client.connection.pause()
        client.feed(whole * 3)
        assert room.held == 3 * len(whole)
        assert client.connection.missing_bytes == 0, "it waits for its client, not for bytes"
        client.connection.lost()
        assert room.held == 0

    def test_bytes_that_close_the_connection_are_given_back(self) -> None:
        driver = Driver()
        client = driver.client()
        client.feed(struct.pack(">i", 1000) + b"x" * 10)
        assert driver.broker.turns.input.held == 14
        client.feed(b"\xff" * 990)
        assert client.closed is not None
        assert driver.broker.turns.input.held == 0


class TestTurns:
    def test_many_requests_of_one_connection_are_handled_in_several_turns(self) -> None:
        driver = Driver()
        client, other = driver.client(), driver.client()
        client.connection.receive(b"".join(client.frame(BEAT, 4) for _ in range(1000)), 0)
        handled = len(client.answers())
        assert handled == 256
        assert driver.broker.turns.wanted
        other.connection.receive(other.frame(BEAT, 4), 0)
        assert len(other.answers()) == 1, "others come first"
        driver.broker.next_turn(0)
        assert len(client.answers()) == 256
        driver.settle()
        assert len(client.answers()) == 1000 - 2 * 256

    def test_a_turn_that_took_long_ends_after_the_request_at_hand(self) -> None:
        driver = Driver()
        client = driver.client()
        driver.broker.turns.is_over = lambda: True
        client.connection.receive(b"".join(client.frame(BEAT, 4) for _ in range(20)), 0)
        for _ in range(5):
            assert len(client.answers()) == 4
            driver.broker.next_turn(0)
        assert not driver.broker.turns.wanted

    def test_what_comes_meanwhile_keeps_its_order(self) -> None:
        driver = Driver()
        client: Client = driver.client()
        client.connection.receive(b"".join(client.frame(BEAT, 4) for _ in range(300)), 0)
        client.connection.receive(client.frame(ListGroupsRequest(), 5), 0)
        assert len(client.answers()) == 256
        driver.settle()
        assert [type(answer).__name__ for answer in client.answers()][-1] == "ListGroupsResponse"
