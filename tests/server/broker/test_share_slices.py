"""Large requests of share consumers are handled in slices: none holds the loop, and what comes between
two slices is seen (SH-SES-1, SH-ACK-3)."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from coordinator.base.slices import ITEMS_A_STEP
from coordinator.server.shares.acknowledging import hidden_topics
from coordinator.wire.messages.share_acknowledge import AcknowledgementBatch as Acknowledged
from coordinator.wire.messages.share_acknowledge import (
    AcknowledgePartition,
    AcknowledgeTopic,
    ShareAcknowledgeRequest,
    ShareAcknowledgeResponse,
)
from coordinator.wire.messages.share_fetch import (
    FetchPartition,
    FetchTopic,
    ShareFetchRequest,
    ShareFetchResponse,
)
from tests.server.broker.shares import Member, ShareDriver, given, initialize
from tests.server.broker.test_slices import Turns

pytestmark = pytest.mark.unmeasured

ACCEPT = 1


def staged() -> tuple[ShareDriver, Turns, Member]:
    driver = ShareDriver()
    initialize(driver)
    return driver, Turns(driver), driver.member()


def unknown_topics(member: Member, count: int) -> ShareFetchRequest:
    """A fetch of so many topics that there are not, with eight partitions each."""
    request = member.request(0, wait=0)
    partitions = [FetchPartition(partition_index=index) for index in range(8)]
    request.topics += [
        FetchTopic(topic_id=number.to_bytes(16, "big"), partitions=partitions)
        for number in range(1, count + 1)
    ]
    return request


def test_a_session_of_many_partitions_is_read_in_slices() -> None:
    """Also by a request that names none: its session has them. What there is of t comes all the
    same."""
    driver, turns, member = staged()
    driver.records(3)
    turns.feed(member.client, member.client.frame(unknown_topics(member, 2_000), 2))
    turns.run()
    first = member.took(*member.client.answers())
    assert len(first.responses) == 2_001
    assert given(first)[0] == [(0, 2, 1)]
    driver.records(2)
    turns.feed(member.client, member.client.frame(member.request(wait=0), 2))
    turns.run()
    (second,) = member.client.answers()
    assert isinstance(second, ShareFetchResponse)
    assert len(second.responses) == 2_001
    assert given(second)[0] == [(3, 4, 1)]
    assert turns.taken > 2 * 16_000 // ITEMS_A_STEP


def test_acknowledgements_of_many_partitions_are_taken_in_slices() -> None:
    driver, turns, member = staged()
    driver.records(1)
    member.fetch(0)
    partitions = [
        AcknowledgePartition(
            partition_index=number % 3,
            acknowledgement_batches=[
                Acknowledged(first_offset=0, last_offset=0, acknowledge_types=[ACCEPT])
            ],
        )
        for number in range(20_000)
    ]
    request = ShareAcknowledgeRequest(
        group_id="g",
        member_id="a",
        share_session_epoch=member.epoch,
        topics=[AcknowledgeTopic(topic_id=driver.t.id, partitions=partitions)],
    )
    turns.feed(member.client, member.client.frame(request, 2))
    turns.run()
    (answer,) = member.client.answers()
    assert isinstance(answer, ShareAcknowledgeResponse)
    assert not answer.error_code
    assert {row.partition_index for topic in answer.responses for row in topic.partitions} == {
        0,
        1,
        2,
    }
    assert turns.taken > 20_000 // ITEMS_A_STEP


def test_a_session_that_ends_between_two_slices_is_given_nothing() -> None:
    """What it would have been given is anybody's."""
    driver, turns, member = staged()
    driver.records(3)
    turns.feed(member.client, member.client.frame(unknown_topics(member, 500), 2))
    while not driver.broker.services.shares.sessions.of_peer("127.0.0.1:a"):
        assert turns.next()
    other = driver.member("a", peer="127.0.0.1:other")
    assert given(other.took(other.client.ask(other.request(), 2))) == {}
    turns.run()
    (answer,) = member.client.answers()
    assert isinstance(answer, ShareFetchResponse)
    assert given(answer) == {}
    assert driver.member("b").fetch(0) == {0: [(0, 2, 1)]}


def test_the_rights_to_a_sessions_topics_are_looked_at_in_slices() -> None:
    """REF-10: a session of very many topics is no work for one turn, though each decision is one
    that nobody has made before."""
    driver = ShareDriver()
    ids = [driver.t.id, *(number.to_bytes(16, "big") for number in range(1, 10_000))]
    asked: list[str] = []

    def sees(name: str) -> bool:
        asked.append(name)
        return name != driver.t.id.hex()

    call: Any = SimpleNamespace(sees=sees)
    work = hidden_topics(call, [(topic_id, topic_id.hex()) for topic_id in ids for _ in (0, 1)])
    most = before = 0
    with pytest.raises(StopIteration) as end:
        next(work)
        while True:
            most, before = max(most, len(asked) - before), len(asked)
            work.send(0)
    assert end.value.value == {driver.t.id}
    assert len(asked) == len(ids)
    assert 0 < most <= ITEMS_A_STEP
