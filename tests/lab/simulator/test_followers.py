"""Consumers read from the replica of their zone, where brokers have a rack-aware selector (KIP-392):
links show from whom the records came, and applications that none is missing."""

from __future__ import annotations

from typing import Any

import pytest

from assignors import TopicPartition
from coordinator.events import EventLog
from coordinator.events.line import lines_of as typed
from coordinator.history.judges import Judgement
from coordinator.lab.simulator.environment import EPOCH_MS
from coordinator.lab.simulator.files.scenario import read_scenario
from coordinator.lab.simulator.run import run_scenario, verdicts
from coordinator.lab.simulator.world import World
from coordinator.members.backoff import Backoff
from coordinator.members.consuming.fetch_config import FetchConfig
from coordinator.members.consuming.fetching import Fetcher
from coordinator.members.effects import AskBroker, Node, Position, Send
from coordinator.members.record_batches import NewRecord, build_batch
from coordinator.wire.messages.fetch import FetchableTopicResponse, FetchResponse, PartitionData
from coordinator.wire.messages.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)

SELECTOR = "org.apache.kafka.common.replica.RackAwareReplicaSelector"
WORLD = """
duration = "2m"
[topics]
orders = 3
[brokers]
count = 3
zones = ["a", "b", "c"]
config = { "default.replication.factor" = 3, "min.insync.replicas" = 2CONFIG }
[[members]]
name = "app"
count = 1
topics = "orders"
consumes = true
zone = "b"
[[producers]]
name = "shop"
topics = "orders"
rate = 5
stop = "100s"
"""


def run(selector: bool, more: str = "") -> tuple[dict[int, int], list[dict[str, Any]]]:
    """How many bytes the member got from each broker; and the log."""
    config = f', "replica.selector.class" = "{SELECTOR}"' if selector else ""
    scenario = read_scenario(WORLD.replace("CONFIG", config) + more, "mine.toml")
    log = EventLog(seed=1, epoch_ms=EPOCH_MS)
    world: World = run_scenario(scenario, 1, log)
    got = {
        node: sum(link.sent_bytes for link in world.links_to("app-1", node, "from_broker"))
        for node in (1, 2, 3)
    }
    lines = list(log.events())
    assert [
        verdict
        for verdict in verdicts(scenario, typed(lines))
        if verdict.judgement is Judgement.BROKEN
    ] == []
    return got, lines


def polled(lines: list[dict[str, Any]]) -> int:
    return sum(
        last - first + 1
        for line in lines
        if line["type"] == "RecordsPolled"
        for first, last in line["ranges"]
    )


def test_records_come_from_the_broker_of_the_members_zone() -> None:
    far, lines = run(selector=False)
    near, others = run(selector=True)
    assert polled(lines) == polled(others) > 400
    assert min(far.values()) > 10_000, "each leads a partition"
    assert near[2] > 3 * max(near[1], near[3])


def test_its_leaders_take_over_while_that_broker_is_down() -> None:
    stop = '[[faults]]\nverb = "StopBroker"\nbroker = 2\nhow = "crash"\nat = "40s"\nlasts = "30s"\n'
    _, lines = run(selector=True, more=stop)
    down = [
        line
        for line in lines
        if line["type"] == "RecordsPolled" and 55_000 < line["at_ms"] < 69_000
    ]
    assert {line["partition"] for line in down} == {0, 1, 2}
    assert polled(lines) > 400


# -- the rules of Java's consumer, one by one

PLACE = TopicPartition("orders", 0)
NODES = {number: Node(number, "h", 9000 + number) for number in (1, 2)}


def fetcher() -> Fetcher:
    """It has read the leader's metadata, and is about to fetch."""
    made = Fetcher(
        FetchConfig(auto_offset_reset="earliest"),
        committed=False,
        timeout_ms=30_000,
        backoff=Backoff(100, 1_000, lambda: 0.5),
        rack="b",
        max_age_ms=60_000,
    )
    made.assign([PLACE], {PLACE: Position(5)}, known=True)
    made.ask(0)
    metadata(made, 1, 2)
    return made


def metadata(made: Fetcher, *running: int) -> None:
    (sent,) = [effect for effect in made.take() if isinstance(effect, Send)]
    rows = [MetadataResponseBroker(node_id=n, host="h", port=9000 + n) for n in running]
    row = MetadataResponsePartition(partition_index=0, leader_id=1, leader_epoch=3)
    answer = MetadataResponse(
        brokers=rows, topics=[MetadataResponseTopic(name="orders", partitions=[row])]
    )
    assert made.receive(sent.number, answer, 0)


def asked(made: Fetcher, now: int) -> AskBroker:
    made.ask(now)
    (effect,) = [effect for effect in made.take() if isinstance(effect, AskBroker)]
    return effect


def answer(made: Fetcher, to: AskBroker, now: int, **fields: Any) -> None:
    row = PartitionData(partition_index=0, **fields)
    response = FetchResponse(responses=[FetchableTopicResponse(topic="orders", partitions=[row])])
    assert made.receive(to.number, response, now)


def sent_near(made: Fetcher, now: int = 0) -> AskBroker:
    first = asked(made, now)
    assert first.node == NODES[1] and first.message.rack_id == "b"
    answer(made, first, now, preferred_read_replica=2)
    second = asked(made, now)
    assert second.node == NODES[2]
    return second


def test_a_partition_is_read_from_the_replica_that_its_leader_names() -> None:
    made = fetcher()
    near = sent_near(made)
    assert near.message.topics[0].partitions[0].fetch_offset == 5
    answer(made, near, 10)
    assert asked(made, 59_999).node == NODES[2]


def test_after_the_age_of_metadata_the_leader_is_asked_again() -> None:
    made = fetcher()
    answer(made, sent_near(made), 10)
    assert asked(made, 60_000).node == NODES[1]


@pytest.mark.parametrize("error", [1, 6, 78])
def test_whatever_goes_wrong_there_the_leader_is_asked(error: int) -> None:
    """OFFSET_OUT_OF_RANGE moves no position, as the leader may have the offset."""
    made = fetcher()
    answer(made, sent_near(made), 10, error_code=error)
    if error != 1:  # who leads is asked first
        made.ask(1_000)
        metadata(made, 1, 2)
    again = asked(made, 2_000)
    assert again.node == NODES[1] and again.message.topics[0].partitions[0].fetch_offset == 5
    assert made.resets == []


def test_a_replica_that_does_not_run_is_not_asked() -> None:
    made = fetcher()
    answer(made, sent_near(made), 10)
    made.leaders.wanted.add("orders")
    made.leaders.look_up(500)
    metadata(made, 1)
    assert asked(made, 1_000).node == NODES[1]


def test_who_has_read_nothing_asks_the_same_again() -> None:
    """The same request, not a new one that says the same: its bytes are made once."""
    made = fetcher()
    first = asked(made, 0)
    answer(made, first, 500)
    second = asked(made, 500)
    assert second.message is first.message
    assert second.number != first.number
    answer(made, second, 1_000, records=build_batch([NewRecord(None, b"x", 0)] * 7))
    (polled,) = made.poll()
    assert [record.offset for record in polled.records] == [5, 6]
    third = asked(made, 1_000)
    assert third.message.topics[0].partitions[0].fetch_offset == 7
