"""Share coordinators that move: whoever comes to lead a partition of __share_group_state reads its own
copy of the records, and what it has not is lost (SH-LD-2, SH-LD-3)."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator.base.errors import ErrorCode
from coordinator.core.share_states.model import ShareStateKey
from coordinator.events import Line
from coordinator.events.availability import LogTruncated
from coordinator.history.judges.sharing import OF_SHARE_GROUPS
from coordinator.kit.cluster import CutLink, HealLink, MoveLeader, SlowLoad, StartBroker, StopBroker
from coordinator.server.cluster.model import SHARE_GROUP_STATE as STATES
from coordinator.server.shares import state_loads
from coordinator.wire.messages.share_group_states import ReadShareGroupStateRequest, ReadStateData
from coordinator.wire.messages.share_group_states import ReadStatePartitionData as PartitionData
from tests.server.brokers.desk import produce
from tests.server.brokers.test_share_groups import accept, coordinator_of, fetch, joined

UNCLEAN = {
    "unclean.leader.election.enable": "true",
    "min.insync.replicas": "1",
    "share.coordinator.state.topic.min.isr": "1",
}


class Story:
    """A group that reads the one partition of orders, and where its state is kept."""

    def __init__(self, config: dict[str, str] | None = None) -> None:
        self.cluster, _ = joined(1, config or {})
        self.topic_id = self.cluster.truth.topics["orders"].id
        self.key = ShareStateKey("g", self.topic_id, 0)
        self.epoch = 0

    @property
    def leader(self) -> int:
        return self.cluster.partition().leader

    @property
    def coordinator(self) -> int:
        return coordinator_of(self.cluster, 2, self.key.for_coordinator)

    @property
    def index(self) -> int:
        """The partition of __share_group_state."""
        return self.cluster.runtime.brokers[1].services.shares.states._index(self.key)

    def elsewhere(self, *not_these: int) -> int:
        return next(node for node in (1, 2, 3) if node not in not_these)

    def apart(self) -> None:
        """Let the state be kept by another broker than the one that leads the records."""
        self.move(self.elsewhere(self.leader))

    def move(self, to: int) -> None:
        self.cluster.do(MoveLeader(STATES, self.index, to))
        self.cluster.pass_time(100)
        assert self.coordinator == to

    def records(self, count: int) -> None:
        for _ in range(count):
            self.cluster.client(self.leader).ask(produce(), 9)

    def fetch(self, epoch: int = 0) -> list[Any]:
        return fetch(self.cluster, self.cluster.client(self.leader), 0, epoch)

    def read(self, node: int) -> tuple[ErrorCode, list[tuple[int, int, int, int]]]:
        """What a broker answers who reads the state."""
        request = ReadShareGroupStateRequest(
            group_id="g",
            topics=[ReadStateData(topic_id=self.topic_id, partitions=[PartitionData(partition=0)])],
        )
        [row] = self.cluster.client(node).ask(request, 0).results[0].partitions  # type: ignore[attr-defined]
        return ErrorCode(row.error_code), [
            (of.first_offset, of.last_offset, of.delivery_state, of.delivery_count)
            for of in row.state_batches
        ]

    def told(self, *kinds: str) -> list[tuple[str, int]]:
        """Loads and unloads of the state's partition: what, at which broker."""
        return [
            (str(line["type"]), line["broker"])  # type: ignore[misc]
            for line in self.cluster.log.events()
            if line["type"] in kinds and self.index in line["partitions"]
        ]


def findings(lines: list[Line]) -> dict[str, list[str]]:
    """What the judges of share groups blame, by their names."""
    judges = [judge() for judge in OF_SHARE_GROUPS]
    for line in lines:
        for judge in judges:
            judge.see(line)
    return {of.name: texts for of in judges if (texts := [str(one) for one in of.findings])}


def test_a_coordinator_that_moves_reads_what_the_one_before_wrote() -> None:
    """SH-LD-2: each reads the same from its own copy; who led before says so no longer (SH-LD-3)."""
    story = Story()
    story.records(5)
    story.apart()
    assert story.fetch() == [(0, 5, 1)]
    accept(story.cluster, story.leader, 0, 3)
    before = story.coordinator
    for _ in range(3):
        was, to = story.coordinator, story.elsewhere(story.coordinator, story.leader)
        kept = story.read(was)
        assert kept == (ErrorCode.NONE, [(0, 3, 2, 1)])
        story.move(to)
        assert story.read(to) == kept
        assert story.read(was) == (ErrorCode.NOT_COORDINATOR, [])
        assert not story.cluster.runtime.brokers[was].services.shares.states.by_partition.get(
            story.index
        )
        story.move(was)
    assert story.told("ShareStatesLoading", "ShareStatesLoaded")[-2:] == [
        ("ShareStatesLoading", before),
        ("ShareStatesLoaded", before),
    ]


def test_an_acknowledgement_goes_to_who_took_over() -> None:
    """The coordinator crashes between two acknowledgements: neither record comes again."""
    story = Story()
    story.records(3)
    story.apart()
    assert story.fetch() == [(0, 3, 1)]
    accept(story.cluster, story.leader, 0, 1)
    first = story.coordinator
    story.cluster.do(StopBroker(first, "crash"))
    story.cluster.pass_time(5_000)
    assert story.coordinator != first
    accept(story.cluster, story.leader, 2, 2, epoch=2)
    was = story.leader
    story.cluster.do(MoveLeader("orders", 0, story.elsewhere(was, first)))
    story.cluster.pass_time(100)
    assert story.fetch() == [(3, 3, 1)]
    story.cluster.do(StartBroker(first))
    story.cluster.pass_time(5_000)
    story.move(first)
    assert story.cluster.runtime.brokers[first].services.shares.states.find(story.key) is not None


def test_while_it_loads() -> None:
    """SH-LD-2: COORDINATOR_LOAD_IN_PROGRESS, until all is read."""
    story = Story()
    story.apart()
    to = story.elsewhere(story.coordinator, story.leader)
    story.cluster.do(SlowLoad(to, 2_000))
    story.cluster.do(MoveLeader(STATES, story.index, to))
    assert story.read(to) == (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, [])
    story.cluster.pass_time(1_999)
    assert story.read(to) == (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, [])
    story.cluster.pass_time(1)
    assert story.read(to)[0] is ErrorCode.NONE


def test_a_long_log_is_read_in_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """SH-LD-2: so many records a tick; others are served between two."""
    story = Story()
    story.records(9)
    story.apart()
    story.fetch()
    for offset in range(9):
        accept(story.cluster, story.leader, offset, offset, epoch=offset + 1)
    to = story.elsewhere(story.coordinator, story.leader)
    monkeypatch.setattr(state_loads, "SLICE", 2)
    ticks = []
    tick = state_loads.StateLoads.tick
    monkeypatch.setattr(
        state_loads.StateLoads, "tick", lambda self, now: ticks.append(now) or tick(self, now)
    )
    story.cluster.do(MoveLeader(STATES, story.index, to))
    story.cluster.pass_time(0)
    assert len(ticks) >= 5
    assert story.read(to) == (ErrorCode.NONE, [(8, 8, 2, 1)])
    assert story.cluster.runtime.brokers[to].services.shares.states.find(story.key) is not None


def test_a_broker_that_was_restarted_reads_again() -> None:
    """SH-LD-2: of one process nothing is left in the next."""
    story = Story()
    story.apart()
    assert story.fetch() == [(0, 0, 1)]
    accept(story.cluster, story.leader, 0, 0)
    node = story.coordinator
    for how in ("controlled", "crash"):
        story.cluster.do(StopBroker(node, how))  # type: ignore[arg-type]
        story.cluster.pass_time(5_000)
        story.cluster.do(StartBroker(node))
        story.cluster.pass_time(5_000)
        story.move(node)
        [state] = story.cluster.runtime.brokers[node].services.shares.states.states.values()
        assert (state.start_offset, state.complete_count) in ((0, 1), (1, 0))


def test_an_unclean_coordinator_has_not_what_was_not_replicated() -> None:
    """What an acknowledgement stored is lost with the only copy, as in Kafka, and the log says which:
    the record comes again."""
    story = Story(UNCLEAN)
    story.records(1)
    story.apart()
    first, leader = story.coordinator, story.leader
    third = story.elsewhere(first, leader)
    assert story.fetch() == [(0, 1, 1)]
    accept(story.cluster, leader, 0, 0)
    for node in (leader, third):
        story.cluster.do(StopBroker(node))
        story.cluster.pass_time(3_000)
    assert story.cluster.partition(story.index, STATES).isr == [first]
    assert story.leader == first
    assert story.fetch() == [(1, 1, 1)]
    accept(story.cluster, first, 1, 1)
    story.cluster.do(StopBroker(first, "crash"))
    for node in (leader, third):
        story.cluster.do(StartBroker(node))
    story.cluster.pass_time(10_000)
    assert story.coordinator in (leader, third)
    [lost] = [line for line in story.cluster.logged("LogTruncated") if line["topic"] == STATES]
    gone = [
        line
        for line in story.cluster.log.events()
        if line["seq"] in lost["lost"]  # type: ignore[operator]
    ]
    assert {line["broker"] for line in gone} == {first}
    assert {line["stream"] for line in gone} == {"share"}
    assert story.fetch() == [(1, 1, 1)]
    lines = list(story.cluster.log.read())
    assert findings(lines) == {}
    untold = [line for line in lines if line.kind is not LogTruncated]
    assert list(findings(untold)) == ["done_stays_done", "deliveries_are_counted"]


def test_a_coordinator_that_is_cut_off_writes_for_nobody() -> None:
    """It believes to lead, and what it writes meanwhile its successor has not (SH-LD-3)."""
    story = Story()
    story.apart()
    first, leader = story.coordinator, story.leader
    third = story.elsewhere(first, leader)
    story.cluster.do(CutLink(first, leader))
    story.cluster.do(CutLink(first, third))
    story.cluster.pass_time(10_000)
    assert story.cluster.partition(story.index, STATES).leader != first
    assert story.read(first)[0] is ErrorCode.NONE, "it has not heard of it"
    assert story.fetch() == [(0, 0, 1)]
    accept(story.cluster, leader, 0, 0)
    story.cluster.do(HealLink(first, leader))
    story.cluster.do(HealLink(first, third))
    story.cluster.pass_time(10_000)
    assert story.read(first)[0] is ErrorCode.NOT_COORDINATOR
    story.move(first)
    state = story.cluster.runtime.brokers[first].services.shares.states.find(story.key)
    assert state is not None and state.complete_count + state.start_offset == 1
