"""What a leader of records does while its share coordinator cannot be had, or has not replicated what
it stored (SH-LD-4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from coordinator.base.errors import ErrorCode
from coordinator.core.share_partitions.acknowledge import NOT_ACQUIRED
from coordinator.history.explain.output import as_text, timeline_of
from coordinator.kit.cluster import MoveLeader, SlowFollower, SlowLoad, StartBroker, StopBroker
from coordinator.server.cluster.model import SHARE_GROUP_STATE as STATES
from coordinator.wire.messages.share_acknowledge import (
    AcknowledgementBatch,
    AcknowledgePartition,
    AcknowledgeTopic,
    ShareAcknowledgeRequest,
)
from coordinator.wire.messages.share_fetch import AcknowledgementBatch as FetchedBatch
from coordinator.wire.messages.share_fetch import FetchPartition, FetchTopic, ShareFetchRequest
from tests.server.broker.driver import Client
from tests.server.brokers.test_share_coordinators import Story, findings

EXHAUSTED = (
    "Error in write state RPC. Exhausted max retries to complete write state RPC without success."
)
ACCEPT, RELEASE = 1, 2


class Waits(Story):
    """A story with a client whose answers may be waited for."""

    def __init__(self, *, records: int = 3, config: dict[str, str] | None = None) -> None:
        super().__init__(config)
        self.records(records - 1)
        if len(self.cluster.partition(self.index, STATES).replicas) > 1:
            self.apart()
        elif self.coordinator == self.leader:
            self.cluster.do(MoveLeader("orders", 0, self.elsewhere(self.leader)))
            self.cluster.pass_time(100)
        self.client: Client = self.cluster.client(self.leader)

    def say(self, first: int, last: int, *, epoch: int = 1, kind: int = ACCEPT) -> None:
        """Send a ShareAcknowledge."""
        batch = AcknowledgementBatch(first_offset=first, last_offset=last, acknowledge_types=[kind])
        partition = AcknowledgePartition(partition_index=0, acknowledgement_batches=[batch])
        topic = AcknowledgeTopic(topic_id=self.topic_id, partitions=[partition])
        self.client.send(
            ShareAcknowledgeRequest(
                group_id="g", member_id="m", share_session_epoch=epoch, topics=[topic]
            ),
            1,
        )

    def ask(
        self, *, epoch: int = 0, wait_ms: int = 0, said: Sequence[tuple[int, int, int]] = ()
    ) -> None:
        """Send a ShareFetch."""
        batches = [
            FetchedBatch(first_offset=a, last_offset=b, acknowledge_types=[c]) for a, b, c in said
        ]
        partition = FetchPartition(partition_index=0, acknowledgement_batches=batches)
        self.client.send(
            ShareFetchRequest(
                group_id="g",
                member_id="m",
                share_session_epoch=epoch,
                max_wait_ms=wait_ms,
                min_bytes=1,
                max_bytes=1_000_000,
                max_records=10,
                batch_size=10,
                topics=[FetchTopic(topic_id=self.topic_id, partitions=[partition])],
            ),
            1,
        )

    def told(self) -> list[tuple[int, str | None]]:  # type: ignore[override]
        """What ShareAcknowledges were answered since the last look."""
        answers: list[Any] = self.client.answers()
        rows = [row for answer in answers for of in answer.responses for row in of.partitions]
        return [(row.error_code, row.error_message) for row in rows]

    def given(self) -> list[Any]:
        """What ShareFetches were answered: errors, records, errors of acknowledgements."""
        answers: list[Any] = self.client.answers()
        return [
            [
                (
                    row.error_code,
                    [(of.first_offset, of.last_offset) for of in row.acquired_records],
                    row.acknowledge_error_code,
                )
                for of in answer.responses
                for row in of.partitions
            ]
            for answer in answers
        ]

    def crash(self) -> int:
        """The coordinator's process ends, and nobody knows it yet."""
        node = self.coordinator
        self.cluster.do(StopBroker(node, "crash"))
        return node

    def waited(self) -> list[tuple[object, object, object]]:
        """Which acknowledgements waited for the share coordinator: why, how long, what failed."""
        lines = self.cluster.logged("AcknowledgementWaited")
        return [(line["reason"], line["waited_ms"], line["failed"]) for line in lines]

    def told_of(self, kind: str, offset: int) -> int:
        """How many lines of a kind are about a record."""
        return sum(
            int(of["first_offset"]) <= offset <= int(of["last_offset"])
            for line in self.cluster.logged(kind)
            for of in cast("list[dict[str, int]]", line.get("records", [line]))
        )

    def explained(self) -> str:
        """What `explain` says of the group."""
        timeline = timeline_of(self.cluster.log.read())
        return "\n".join(as_text(timeline, timeline.groups.values()))

    def verdict(self) -> dict[str, list[str]]:
        return findings(list(self.cluster.log.read()))


def test_an_acknowledgement_waits_for_another_share_coordinator() -> None:
    """SH-LD-4: tried after 1 s and, somebody leads by then, 3 s: the answer is 0, and the record is
    done with wherever it is read."""
    story = Waits()
    assert story.fetch() == [(0, 2, 1)]
    story.crash()
    story.say(0, 1)
    story.cluster.pass_time(2_999)
    assert story.told() == []
    story.cluster.pass_time(1)
    assert story.told() == [(0, None)]
    assert story.waited() == [("no share coordinator could be reached", 3_000, None)]
    assert (
        "The acknowledgement of test for records 0 to 1 of orders-0 was stored after 3 s: no share coordinator "
        "could be reached."
    ) in story.explained()
    assert story.read(story.coordinator) == (ErrorCode.NONE, [(0, 1, 2, 1)])
    story.cluster.do(MoveLeader("orders", 0, story.coordinator))
    story.cluster.pass_time(100)
    assert story.fetch() == [(2, 2, 1)]
    assert story.verdict() == {}


def test_an_acknowledgement_waits_for_a_load() -> None:
    """SH-LD-4: COORDINATOR_LOAD_IN_PROGRESS is tried again, too."""
    story = Waits()
    story.fetch()
    to = story.elsewhere(story.coordinator, story.leader)
    story.cluster.do(SlowLoad(to, 2_500))
    story.cluster.do(MoveLeader(STATES, story.index, to))
    story.say(0, 0, kind=RELEASE)
    story.cluster.pass_time(2_999)
    assert (story.told(), story.waited()) == ([], [])
    story.cluster.pass_time(1)
    assert story.told() == [(0, None)]
    assert story.waited() == [("the share coordinator was loading", 3_000, None)]


def test_an_acknowledgement_that_nobody_stores() -> None:
    """SH-LD-4: after five attempts, 15 s, it is COORDINATOR_NOT_AVAILABLE, and its member holds the
    records as before, so that it can say it again."""
    story = Waits(config={"share.coordinator.state.topic.replication.factor": "1"})
    story.fetch()
    node = story.crash()
    story.say(0, 2)
    story.cluster.pass_time(14_999)
    assert story.told() == []
    story.cluster.pass_time(1)
    assert story.told() == [(ErrorCode.COORDINATOR_NOT_AVAILABLE, EXHAUSTED)]
    assert (
        "The acknowledgement of test for records 0 to 2 of orders-0 was given up after 15 s, and refused with "
        "COORDINATOR_NOT_AVAILABLE: no share coordinator could be reached."
    ) in story.explained()
    story.cluster.do(StartBroker(node))
    story.cluster.pass_time(5_000)
    story.say(0, 2, epoch=2)
    story.cluster.pass_time(1)
    assert story.told() == [(0, None)]


def test_locks_do_not_end_meanwhile() -> None:
    """SH-LD-4: what a member has said in time counts. Locks of which nothing was said end in time,
    and those of a refused acknowledgement when it is refused."""
    story = Waits(config={"group.share.min.record.lock.duration.ms": "1000"})
    groups = [image.group_configs for image in story.cluster.runtime.images.values()]
    for of in groups:
        of["g"] = {**of["g"], "share.record.lock.duration.ms": "1000"}
    story.fetch()
    story.crash()
    story.say(0, 0)
    story.cluster.pass_time(3_000)
    assert story.told() == [(0, None)]
    released = story.cluster.logged("RecordsReleased")
    assert [(line["at_ms"], line["records"][0]["first_offset"]) for line in released] == [  # type: ignore[index]
        (story.cluster.now - 2_000, 1)
    ]
    assert story.verdict() == {}


def test_a_fetch_waits_for_what_it_acknowledges() -> None:
    """SH-LD-4: its answer brings both, however short its own wait."""
    story = Waits()
    story.ask()
    assert story.given() == [[(0, [(0, 2)], 0)]]
    story.crash()
    story.ask(epoch=1, said=[(0, 0, ACCEPT), (1, 2, RELEASE)])
    story.cluster.pass_time(2_999)
    assert story.given() == []
    story.cluster.pass_time(1)
    assert story.given() == [[(0, [], 0)]], "it was read before they were given back (SH-ACK-6)"
    assert story.fetch(epoch=2) == [(1, 2, 2)]


def test_a_fetch_that_ends_the_session_waits_too() -> None:
    """SH-SES-3: what its member still holds is given back when the acknowledgements are settled."""
    story = Waits()
    story.fetch()
    story.crash()
    story.say(0, 0, epoch=-1)
    story.cluster.pass_time(3_000)
    assert story.told() == [(0, None)]
    assert story.fetch() == [(1, 2, 2)]


def test_an_acknowledgement_is_answered_when_it_is_replicated() -> None:
    """SH-LD-4: a slow follower holds it back for as long as it needs."""
    story = Waits()
    story.fetch()
    slow = story.elsewhere(story.coordinator, story.leader)
    story.cluster.do(SlowFollower(slow, 400))
    story.say(0, 1)
    story.cluster.pass_time(300)
    assert story.told() == []
    story.cluster.pass_time(700)
    assert (story.told(), story.waited()) == ([(0, None)], [])


def test_what_was_not_replicated_is_stored_again() -> None:
    """SH-LD-4: the coordinator dies with its log ahead; its successor gets the write, the answer is 0,
    and nothing is lost."""
    story = Waits()
    story.fetch()
    first = story.coordinator
    for node in (1, 2, 3):
        if node != first:
            story.cluster.do(SlowFollower(node, 600))
    story.say(0, 1)
    story.cluster.pass_time(100)
    assert story.told() == []
    ahead = story.cluster.partition(story.index, STATES, at=first).log
    assert ahead.high_watermark < ahead.log_end_offset
    story.crash()
    story.cluster.pass_time(10_000)
    assert story.told() == [(0, None)]
    ((reason, _, failed),) = story.waited()
    assert reason == "the share coordinator had moved, then no share coordinator could be reached"
    assert failed is None
    assert story.read(story.coordinator) == (ErrorCode.NONE, [(0, 1, 2, 1)])
    [lost] = [line for line in story.cluster.logged("LogTruncated") if line["topic"] == STATES]
    assert len(lost["lost"]) == 1  # type: ignore[arg-type]
    story.cluster.do(StartBroker(first))
    story.cluster.pass_time(10_000)
    assert story.verdict() == {}


def test_a_write_that_is_not_replicated_in_time() -> None:
    """share.coordinator.write.timeout.ms: it counts as an attempt that failed."""
    story = Waits(config={"replica.lag.time.max.ms": "60000"})
    story.fetch()
    slow = story.elsewhere(story.coordinator, story.leader)
    story.cluster.do(SlowFollower(slow, 50_000))
    story.say(0, 1)
    stored = len(story.cluster.logged("ShareStateUpdated"))
    story.cluster.pass_time(5_999)
    assert len(story.cluster.logged("ShareStateUpdated")) == stored
    story.cluster.pass_time(1)
    assert len(story.cluster.logged("ShareStateUpdated")) == stored + 1
    assert story.told() == []


def test_too_few_replicas_are_in_sync() -> None:
    """share.coordinator.state.topic.min.isr: nothing is stored, and it is tried again."""
    story = Waits(config={"share.coordinator.state.topic.min.isr": "3"})
    story.fetch()
    third = story.elsewhere(story.coordinator, story.leader)
    story.cluster.do(StopBroker(third))
    story.cluster.pass_time(3_000)
    stored = len(story.cluster.logged("ShareStateUpdated"))
    story.say(0, 1)
    story.cluster.pass_time(2_000)
    assert (story.told(), len(story.cluster.logged("ShareStateUpdated"))) == ([], stored)
    story.cluster.do(StartBroker(third))
    story.cluster.pass_time(5_000)
    assert story.told() == [(0, None)]


def test_a_state_that_cannot_be_read_yet() -> None:
    """SH-LD-4: a fetch finds nothing there; it is answered when the state was read."""
    story = Waits()
    story.crash()
    story.ask()
    assert story.given() == [[]]
    story.ask(epoch=1, wait_ms=60_000)
    story.cluster.pass_time(2_999)
    assert story.given() == []
    story.cluster.pass_time(1)
    assert story.given() == [[(0, [(0, 2)], 0)]]


def test_a_state_that_nobody_has() -> None:
    """SH-LD-4: after five attempts who waits is told COORDINATOR_NOT_AVAILABLE."""
    story = Waits(config={"share.coordinator.state.topic.replication.factor": "1"})
    story.crash()
    story.ask(wait_ms=60_000)
    story.cluster.pass_time(14_999)
    assert story.given() == []
    story.cluster.pass_time(1)
    assert story.given() == [[(ErrorCode.COORDINATOR_NOT_AVAILABLE, [], 0)]]
    story.ask(epoch=1)
    assert story.given() == [[]], "it is tried anew"


def test_who_is_gone_is_not_told() -> None:
    """A connection that ends meanwhile: what was said counts all the same."""
    story = Waits()
    story.fetch()
    story.crash()
    story.say(0, 0)
    story.client.connection.lost()
    story.cluster.pass_time(10_000)
    assert story.read(story.coordinator)[1][0] == (0, 0, 2, 1)
    assert story.verdict() == {}


def test_a_session_that_ends_gives_nothing_back_of_which_something_is_being_stored() -> None:
    """SH-SES-3: of a record that is delivered for the last time and released there is one dead
    letter, though its member's connection ends before that is stored."""
    story = Waits(config={"errors.deadletterqueue.auto.create.topics.enable": "true"})
    for image in story.cluster.runtime.images.values():
        image.group_configs["g"] = {
            **image.group_configs["g"],
            "share.delivery.count.limit": "2",
            "errors.deadletterqueue.topic.name": "dlq.orders",
        }
    assert story.fetch() == [(0, 2, 1)]
    story.say(0, 2, kind=RELEASE)
    story.cluster.pass_time(100)
    assert story.told() == [(0, None)]
    assert story.fetch(epoch=2) == [(0, 2, 2)]
    story.crash()
    story.say(0, 0, epoch=3, kind=RELEASE)
    story.client.connection.lost()
    story.cluster.pass_time(15_000)
    assert story.told_of("RecordsReleased", 0) == 0 < story.told_of("RecordsReleased", 1)
    assert story.told_of("RecordsAcknowledged", 0) == 2
    assert story.told_of("DeadLettersWritten", 0) == 1
    assert story.verdict() == {}


def test_nothing_else_is_said_of_what_is_being_stored() -> None:
    """SH-ACK-3: the records are not acquired any more, nor done with yet; the others are their
    member's as before."""
    story = Waits()
    story.fetch()
    story.crash()
    story.say(0, 1)
    other = story.cluster.client(story.leader)
    story.client, first = other, story.client
    story.say(1, 1, epoch=2)
    assert story.told() == [(ErrorCode.INVALID_RECORD_STATE, NOT_ACQUIRED)]
    story.say(2, 2, epoch=3)
    story.cluster.pass_time(3_000)
    assert story.told() == [(0, None)]
    story.client = first
    assert story.told() == [(0, None)]
    assert story.verdict() == {}
