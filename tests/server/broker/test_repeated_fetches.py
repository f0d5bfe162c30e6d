"""Fetches that come again, byte for byte: a broker that keeps what they meant answers as one that
does not, whatever happens in between."""

from __future__ import annotations

from itertools import permutations
from random import Random

import pytest

from coordinator.server.handlers.fetch import Operation
from coordinator.wire.messages.topics import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
    DeleteTopicsRequest,
)
from coordinator.wire.schema import Request
from tests.server.broker.data import BATCH, DataDriver, fetch_request, produce_request, wanted


class Pair:
    """Two brokers that are asked the same; the second keeps fetches."""

    def __init__(self) -> None:
        self.drivers = (DataDriver(), DataDriver())
        self.drivers[1].broker.repeated_fetches = {}
        self.clients = [(driver.client(), driver.client()) for driver in self.drivers]
        self.waits = False

    def act(self, request: Request, version: int) -> None:
        """Something else that a client asks."""
        for _, other in self.clients:
            other.send(request, version)

    def fetch(self, request: Request, version: int) -> None:
        """The consumer's fetch, which may wait."""
        for consumer, _ in self.clients:
            consumer.send(request, version)
        self.waits = True

    def pass_time(self, ms: int) -> None:
        for driver in self.drivers:
            driver.pass_time(ms)

    def same(self) -> None:
        """All bytes that were written since the last look are the same."""
        (plain, plain_other), (keeping, keeping_other) = self.clients
        assert plain.writes == keeping.writes
        assert plain_other.writes == keeping_other.writes
        if plain.writes:
            self.waits = False
        for each in (plain, plain_other, keeping, keeping_other):
            each.writes.clear()


def _delete_records(offset: int) -> Request:
    return DeleteRecordsRequest(
        timeout_ms=1000,
        topics=[
            DeleteRecordsTopic(
                name="t", partitions=[DeleteRecordsPartition(partition_index=0, offset=offset)]
            )
        ],
    )


@pytest.mark.parametrize("seed", range(30))
def test_the_answers_are_those_of_a_broker_that_keeps_nothing(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = Random(seed)
    taken = []
    plain = Operation.takes_again
    monkeypatch.setattr(
        Operation,
        "takes_again",
        lambda self, call: (again := plain(self, call), taken.append(again))[0],
    )
    pair = Pair()
    ends = [0, 0, 0]
    start = 0
    orders = list(permutations(range(3)))[: random.randrange(1, 7)]
    for _ in range(300):
        chance = random.random()
        if chance < 0.05:
            index = random.randrange(3)
            pair.act(produce_request({("t", index): BATCH}), 12)
            if random.random() < 0.8:
                ends[index] = pair.drivers[0].t.partitions[index].log.log_end_offset
        elif chance < 0.08:
            start = random.randrange(start, pair.drivers[0].t.partitions[0].log.log_end_offset + 1)
            pair.act(_delete_records(start), 2)
        elif chance < 0.1:
            for driver in pair.drivers:
                driver.topic(f"other-{driver.broker.cluster.version}")
        elif chance < 0.11:
            pair.act(DeleteTopicsRequest(topic_names=["t"], timeout_ms=1000), 3)
            for driver in pair.drivers:
                driver.broker.cluster.create_topic(
                    "t", topic_id=driver.broker.fresh_uuid(), assignment=[[1]] * 3, configs={}
                )
            ends, start = [0, 0, 0], 0
        elif not pair.waits:
            order = random.choice(orders)
            pair.fetch(
                fetch_request(
                    *(wanted(index, ends[index]) for index in order),
                    isolation=random.choice((0, 0, 0, 1)),
                    wait=random.choice((500, 500, 500, 0)),
                ),
                random.choice((11, 11, 11, 12, 4)),
            )
        pair.same()
        pair.pass_time(random.choice((0, 100, 500)))
        pair.same()
    assert any(taken)


def test_what_is_kept_is_bounded() -> None:
    driver = DataDriver()
    kept = driver.broker.repeated_fetches = {}
    client = driver.client()
    for number in range(5000):
        client.send(fetch_request(wanted(0), wait=1 + number), 11)
        driver.pass_time(5001)
        client.writes.clear()
        client.asked.clear()
    assert len(kept) <= 4096
    assert len(client.connection._fetches) <= 64
