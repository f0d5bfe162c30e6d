"""Faults of single records of a share group: of an acknowledgement, and of the nth delivery."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator import Emulator
from coordinator.kit import faults as f
from coordinator.kit.injection.fault_board import Active, FaultBoard
from coordinator.kit.injection.selector_fields import check_carried
from coordinator.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.server.broker.shares import ShareDriver, initialize

ACCEPT, RELEASE = 1, 2


class Stage:
    """A share group with four records in partition 0, and faults."""

    def __init__(self) -> None:
        self.driver = ShareDriver()
        initialize(self.driver)
        self.driver.records(2, 2)
        self.board = FaultBoard(lambda: [self.driver.broker], 1)
        self.a, self.b = self.driver.member("a"), self.driver.member("b")

    def add(self, action: str, *, times: int | None = 1, **words: Any) -> Active:
        """A fault of a record of partition 0."""
        given = {"action": action, "topic": "t", "partition": 0, **words}
        return self.board.add(f.from_plain(given if times is None else given | {"times": times}))

    def states(self) -> list[tuple[int, int, str, int]]:
        """What is in flight in partition 0, from its start offset on."""
        (one,) = (
            one
            for one in self.driver.broker.services.shares.partitions.open_ones.values()
            if one.key.partition == 0
        )
        return [
            (run.first, run.last, str(run.condition.state), run.condition.delivery_count)
            for run in one.runs
            if run.last >= one.start_offset
        ]


def test_a_fault_of_a_record_is_none_of_requests_that_name_topics_alone() -> None:
    """A Metadata that names the topic, by its name and its id, is answered."""
    stage = Stage()
    lost = stage.add("lose_answer", offset=2)
    topic_id = stage.driver.broker.cluster.topics["t"].id
    for topic in (MetadataRequestTopic(name="t"), MetadataRequestTopic(topic_id=topic_id)):
        answer: Any = stage.a.client.ask(MetadataRequest(topics=[topic]), 12)
        assert [of.name for of in answer.topics] == ["t"]
    assert not lost.hits


def test_an_acknowledgement_whose_answer_is_lost_is_stored() -> None:
    """SH-ACK-1: only that of the record that is meant; whoever said so does not hear of it."""
    stage = Stage()
    stage.a.fetch(0)
    lost = stage.add("lose_answer", offset=2)
    assert stage.a.said((0, 0, ACCEPT)) == 0
    assert not lost.hits
    sent = len(stage.a.client.writes)
    stage.a.client.send(stage.a.request(acks=((1, 2, ACCEPT),)), 2)
    stage.driver.settle()
    assert len(stage.a.client.writes) == sent
    assert lost.hits == 1
    assert stage.states()[0] == (3, 3, "Acquired", 1)


def test_an_acknowledgement_of_a_record_fails() -> None:
    """With Kafka's error in its place; the record stays with its holder."""
    stage = Stage()
    stage.a.fetch(0)
    stage.add("fail", error="INVALID_RECORD_STATE", api="ShareAcknowledge", offset=1)
    assert stage.a.said((1, 1, ACCEPT)) == 121
    assert stage.states() == [(0, 3, "Acquired", 1)]
    assert stage.a.said((1, 1, ACCEPT)) == 0


def test_the_second_delivery_of_a_record_is_lost() -> None:
    """The first one is not, nor that of another record; it was delivered all the same."""
    stage = Stage()
    lost = stage.add("lose_answer", api="ShareFetch", offset=1, delivery=2, times=None)
    assert stage.a.fetch(0) == {0: [(0, 3, 1)]}
    stage.a.said((0, 0, ACCEPT), (1, 3, RELEASE))
    assert not lost.hits
    sent = len(stage.b.client.writes)
    stage.b.client.send(stage.b.request(0), 2)
    stage.driver.settle()
    assert len(stage.b.client.writes) == sent
    assert (lost.hits, lost.seen) == (1, 1)
    assert stage.states() == [(1, 3, "Acquired", 2)]
    stage.driver.pass_time(30_000)
    assert stage.a.fetch() == {0: [(1, 3, 3)]}


def test_a_delivery_is_counted_and_can_be_held_up() -> None:
    """`observe` and `delay` of the answer; a fetch that waits for records is met, too."""
    stage = Stage()
    seen = stage.add("observe", offset=4, delivery=1, times=None)
    late = stage.add("delay", duration_ms=500, answer=True, offset=4, delivery=1)
    stage.a.fetch(0)
    sent = len(stage.a.client.writes)
    stage.a.client.send(stage.a.request(wait=10_000), 2)
    stage.driver.settle()
    stage.driver.records(1)
    assert (seen.hits, late.hits) == (1, 1)
    assert len(stage.a.client.writes) == sent
    stage.driver.pass_time(500)
    assert len(stage.a.client.writes) == sent + 1


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ({"offset": 3}, "offset 3: a record is one from 0 on, of a topic and partition"),
        ({"topic": "t", "partition": 0, "offset": -1}, "offset -1"),
        ({"topic": "t", "partition": 0, "delivery": 1}, "delivery 1: deliveries count from 1"),
        ({"topic": "t", "partition": 0, "offset": 1, "delivery": 0}, "delivery 0"),
        ({"topic": "t", "partition": 0, "offset": "x"}, "offset: 'x' is no whole number"),
        (
            {"topic": "t", "partition": 0, "offset": 1, "delivery": 1, "action": "hold"},
            "delivery 1: the delivery count is in the answer",
        ),
        (
            {"topic": "t", "partition": 0, "offset": 1, "api": "Fetch"},
            "offset: only ShareFetch and ShareAcknowledge are about single records",
        ),
        (
            {"topic": "t", "partition": 0, "offset": 1, "delivery": 1, "api": "ShareAcknowledge"},
            "delivery: only ShareFetch are about single records",
        ),
    ],
)
def test_what_cannot_be(words: dict[str, Any], told: str) -> None:
    with pytest.raises(f.FaultError) as caught:
        check_carried(f.from_plain({"action": "lose_answer", **words}).selector)
    assert told in str(caught.value)


def test_a_worker_whose_acknowledgement_is_lost() -> None:
    """In one line, with a live worker: what it accepted is done with, and comes to nobody again."""
    config = {"group.share.heartbeat.interval.ms": 100, "group.share.assignment.interval.ms": 0}
    with Emulator(config=config, remember=100_000) as kafka:
        kafka.create_topic("jobs", 1)
        share = kafka.share_group("workers")
        share.configure({"share.auto.offset.reset": "earliest"})
        lost = kafka.disconnect(
            None, after=True, topic="jobs", partition=0, offset=1, delivery=1, times=1
        )
        kafka.produce("jobs", ["a", "b"])
        with kafka.share_peer("workers", ["jobs"]) as peer:
            lost.wait_hit()
            share.wait(acknowledged=2, lag=0)
            assert {(of.offset, of.delivery_count) for of in peer.done} >= {(1, 2)}
        share.verify().done_stays_done().deliveries_are_counted()
