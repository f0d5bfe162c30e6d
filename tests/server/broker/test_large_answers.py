"""A small request may have a large answer: it is encoded in slices, one at a time, and others are
answered between them."""

from __future__ import annotations

import pytest

from coordinator.server.limits import ENCODED_AT_ONCE, Limits
from coordinator.wire import encoders
from coordinator.wire.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResponse,
)
from coordinator.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from tests.server.broker.driver import Client, Driver

BEAT = HeartbeatRequest(group_id="g", generation_id=1, member_id="m")
TIMES = 500
"""So often named, a topic with documentation makes two MiB of some 7 KB."""


def describe(times: int = TIMES, kind: int = 2, name: str = "t") -> DescribeConfigsRequest:
    resource = DescribeConfigsResource(
        resource_type=kind, resource_name=name, configuration_keys=None
    )
    return DescribeConfigsRequest(
        resources=[resource] * times, include_synonyms=True, include_documentation=True
    )


def told(driver: Driver, client: Client) -> DescribeConfigsResponse:
    while driver.broker.turns.wanted:
        driver.broker.next_turn(driver.now)
    (answer,) = client.answers()
    assert isinstance(answer, DescribeConfigsResponse)
    return answer


def feed(client: Client, data: bytes) -> None:
    """Bytes arrive, and one piece of work is done for them."""
    client.connection.receive(data, client.driver.now)
    client.driver.broker.run_resumable(client.driver.now)


@pytest.fixture
def driver() -> Driver:
    """Whose every turn is over at once."""
    driver = Driver(["t:1"])
    driver.broker.turns.is_over = lambda: True
    return driver


def test_others_are_answered_before_it_is_encoded(driver: Driver) -> None:
    client, other = driver.client(), driver.client()
    feed(client, client.frame(describe(), 4))
    feed(other, other.frame(BEAT, 4))
    assert not client.writes
    beats = 0
    while not client.writes:
        driver.broker.next_turn(driver.now)
        feed(other, other.frame(BEAT, 4))
        beats += len(other.answers())
    assert beats > 10
    assert sum(map(len, client.writes)) > ENCODED_AT_ONCE
    answer = told(driver, client)
    assert len(answer.results) == TIMES
    assert answer.encode(4) == DescribeConfigsResponse(results=[answer.results[0]] * TIMES).encode(
        4
    )


def test_what_the_connection_asked_meanwhile_is_answered_after_it(driver: Driver) -> None:
    client = driver.client()
    feed(client, client.frame(describe(), 4) + client.frame(BEAT, 4))
    while driver.broker.turns.wanted:
        driver.broker.next_turn(driver.now)
    driver.settle()
    assert [type(answer) for answer in client.answers()] == [
        DescribeConfigsResponse,
        HeartbeatResponse,
    ]


def test_one_at_a_time(driver: Driver) -> None:
    """Two answers of many MiB are not in memory at once while they are made: the second waits for
    the first."""
    first, second = driver.client(), driver.client()
    for client in (first, second):
        feed(client, client.frame(describe(), 4))
    lane = driver.broker.turns.lane
    while not first.writes and not second.writes:
        assert lane.owner in {None, first.connection, second.connection}
        driver.broker.next_turn(driver.now)
    winner, loser = (first, second) if first.writes else (second, first)
    assert not loser.writes
    assert len(told(driver, loser).results) == len(told(driver, winner).results) == TIMES
    assert lane.owner is None
    assert not lane.waiting


def test_one_whose_client_goes_lets_the_next_one_begin(driver: Driver) -> None:
    first, second = driver.client(), driver.client()
    for client in (first, second):
        feed(client, client.frame(describe(), 4))
    while driver.broker.turns.lane.owner is None:
        driver.broker.next_turn(driver.now)
    gone, stays = (
        (first, second) if driver.broker.turns.lane.owner is first.connection else (second, first)
    )
    gone.connection.lost()
    assert len(told(driver, stays).results) == TIMES


def test_an_answer_that_is_allowed_less_is_refused_as_before() -> None:
    driver = Driver(["t:1"], limits=Limits(response_bytes=100_000))
    client = driver.client()
    client.send(describe(), 4)
    assert client.closed is not None
    assert "the answer has more than 100000 bytes" in client.closed


def test_an_answer_that_is_too_large_is_found_out_in_slices() -> None:
    """5,000 brokers' configurations would be more than 100 MiB: a second of work, for nothing."""
    driver = Driver(["t:1"], limits=Limits(response_bytes=3 << 20))
    client = driver.client()
    driver.broker.turns.is_over = lambda: True
    feed(client, client.frame(describe(2_000, 4, "1"), 4))
    turns = 0
    while client.closed is None:
        assert driver.broker.turns.wanted
        driver.broker.next_turn(driver.now)
        turns += 1
    assert turns > 20
    assert "the answer has more than 3145728 bytes" in client.closed
    assert driver.broker.turns.lane.owner is None


def test_its_bytes_are_joined_while_they_are_gathered(
    monkeypatch: pytest.MonkeyPatch, driver: Driver
) -> None:
    """An answer of 27 MiB was in memory as millions of pieces, in 490 MiB."""
    most = 0
    real = encoders.weigh

    def noted(pieces: list[bytes], counted: int, size: int, limit: int) -> tuple[int, int, int]:
        nonlocal most
        most = max(most, len(pieces))
        return real(pieces, counted, size, limit)

    monkeypatch.setattr(encoders, "weigh", noted)
    monkeypatch.setattr(DescribeConfigsResponse, "_encoders", {})
    answer = DescribeConfigsResponse(results=told_once(driver).results * TIMES)
    assert len(answer.encode(4)) > ENCODED_AT_ONCE
    assert 1_024 < most < 4_096


def told_once(driver: Driver) -> DescribeConfigsResponse:
    client = driver.client()
    client.send(describe(1), 4)
    return told(driver, client)
