"""Large requests are decoded, handled and answered in slices of so many elements, and the requests
of other connections come between two slices."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import pytest

from benchmarks.hostile import filled, paths
from coordinator.base.releases import NEWEST
from coordinator.base.slices import ITEMS_A_STEP
from coordinator.server import apis
from coordinator.server.interceptors import Answer
from coordinator.server.limits import Limits
from coordinator.server.requests.call import Call, Sliced, by_element
from coordinator.wire.fields import StructType
from coordinator.wire.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from coordinator.wire.messages.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse
from coordinator.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from coordinator.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)
from coordinator.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from coordinator.wire.messages.topics import (
    CreatableTopic,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
    CreateTopicsRequest,
)
from coordinator.wire.messages.transactions import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from coordinator.wire.schema import Request
from coordinator.wire.source import ELEMENTS_A_STEP
from tests.server.broker.driver import Client, Driver, new_member

pytestmark = pytest.mark.unmeasured

BEAT = HeartbeatRequest(group_id="g", generation_id=1, member_id="m")
REQUEST_BYTES = 75_000


class Turns:
    """A driver whose every turn is over at once, so that each slice is the smallest there is.
    `taken`: how many turns there were."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self.taken = 0
        driver.broker.turns.is_over = lambda: True

    def feed(self, client: Client, data: bytes) -> None:
        """Receive bytes from a client: a turn of its own."""
        client.connection.receive(data, self.driver.now)
        self.driver.broker.run_resumable(self.driver.now)
        self.taken += 1

    def next(self) -> bool:
        """Take one turn; return False if no work was left for one."""
        if not self.driver.broker.turns.wanted:
            return False
        self.driver.broker.next_turn(self.driver.now)
        self.taken += 1
        return True

    def run(self) -> None:
        while self.next():
            pass


def describe(count: int) -> DescribeGroupsRequest:
    return DescribeGroupsRequest(groups=[f"group-{i}" for i in range(count)])


def large_requests() -> Iterator[tuple[int, int, str]]:
    """Every array of elements that are not plain numbers, of every API, in its highest version."""
    for key in sorted(apis.SERVED):
        api = apis.apis_of(NEWEST)[key]
        assert api is not None
        for path in paths(api.request, api.highest):
            if isinstance(path[-1].elem, StructType) or path[-1].elem.kind == "string":  # type: ignore[union-attr]
                yield key, api.highest, ".".join(field.name for field in path)


def long_request(api: apis.Api, version: int, path: str) -> tuple[Request, int]:
    """A request of REQUEST_BYTES whose array at a path is long, and how long it is."""
    (long,) = [
        fields
        for fields in paths(api.request, version)
        if ".".join(field.name for field in fields) == path
    ]
    numbers = iter(range(1 << 30))

    def request(count: int) -> Request:
        message = filled(
            api.request,
            version,
            long,
            count,
            lambda: f"n-{next(numbers)}",
            lambda: next(numbers).to_bytes(16, "big"),
        )
        assert isinstance(message, Request)
        return message

    element_bytes = (len(request(101).encode(version)) - len(request(1).encode(version))) / 100
    count = int(REQUEST_BYTES / element_bytes)
    return request(count), count


@pytest.mark.parametrize(
    ("key", "version", "path"),
    [pytest.param(*one, id=f"{apis.title(one[0])}-{one[2]}") for one in large_requests()],
)
def test_no_request_is_handled_in_one_piece(key: int, version: int, path: str) -> None:
    """It is decoded in slices of `ELEMENTS_A_STEP`, and answered."""
    driver = Driver(["t:4"])
    api = apis.apis_of(NEWEST)[key]
    assert api is not None
    request, count = long_request(api, version, path)
    turns, client = Turns(driver), driver.client()
    turns.feed(client, client.frame(request, version))
    turns.run()
    assert client.writes or client.closed is not None or driver.broker.parked
    assert client.fault is None
    assert turns.taken >= count // ELEMENTS_A_STEP


SEEN_TO_IN_SLICES = [
    ("AlterClientQuotas", "entries"),
    ("DeleteShareGroupState", "topics.partitions"),
    ("DeleteTopics", "topics"),
    ("DescribeConfigs", "resources"),
    ("DescribeLogDirs", "topics"),
    ("DescribeProducers", "topics"),
    ("DescribeShareGroupOffsets", "groups"),
    ("Metadata", "topics"),
    ("OffsetDelete", "topics"),
    ("OffsetForLeaderEpoch", "topics"),
    ("WriteShareGroupState", "topics.partitions"),
    ("WriteTxnMarkers", "markers"),
]
"""Requests that may name very much, and whose handlers do some work for each element."""


@pytest.mark.parametrize(("api", "path"), SEEN_TO_IN_SLICES)
def test_a_handler_sees_to_so_many_elements_between_two_turns(api: str, path: str) -> None:
    """Counted are the elements of the long array of which the handler reads a field."""
    key = next(key for key in apis.SERVED if apis.title(key) == api)
    known = apis.apis_of(NEWEST)[key]
    assert known is not None
    request, count = long_request(known, known.highest, path)
    driver = Driver(["t:4"])
    turns, client = Turns(driver), driver.client()
    watched: set[int] = set()
    read: set[int] = set()

    def watch(call: Any) -> None:
        """Count each element from now on: the request is decoded, and the handler comes next."""
        *above, last = path.split(".")
        (holder,) = [call.message]
        for name in above:
            (holder,) = getattr(holder, name)
        elements = getattr(holder, last)
        counted = reads_counted(type(elements[0]), read)
        for element in elements:
            element.__class__ = counted
            watched.add(id(element))

    driver.broker.interceptors.append(watch)
    turns.feed(client, client.frame(request, known.highest))
    seen: set[int] = set()
    while turns.next():
        assert len(read) <= ITEMS_A_STEP
        seen |= read
        read.clear()
    assert client.writes
    assert len(watched) == count
    assert seen == watched


def reads_counted(kind: type, read: set[int]) -> type:
    """Return a subclass whose instances note in `read` that one of their fields was read."""

    def noted(element: object, name: str) -> object:
        read.add(id(element))
        return kind.__getattribute__(element, name)

    return type(kind.__name__, (kind,), {"__slots__": (), "__getattribute__": noted})


@pytest.mark.parametrize("topics", [["t:1"] * 12_000, ["t:30000"], ["t:5000"] * 4])
def test_metadata_of_all_topics_is_not_answered_in_one_piece(topics: list[str]) -> None:
    """A request of a few bytes has an answer as large as the cluster, be it topics or partitions."""
    driver = Driver([f"{number}-{topic}" for number, topic in enumerate(topics)])
    turns, client = Turns(driver), driver.client()
    for _ in range(2):
        turns.feed(client, client.frame(MetadataRequest(topics=None), 12))
        turns.run()
        (answer,) = client.answers()
        assert isinstance(answer, MetadataResponse)
        assert len(answer.topics) == len(driver.broker.cluster.topics)
    assert turns.taken > 1


def test_topics_that_one_question_makes_are_not_made_in_one_piece() -> None:
    """What somebody else makes meanwhile is not made twice."""
    driver = Driver(["t:1"])
    topics = [MetadataRequestTopic(name=f"new-{number}") for number in range(3_000)]
    turns, client = Turns(driver), driver.client()
    turns.feed(client, client.frame(MetadataRequest(topics=topics), 9))
    cluster = driver.broker.cluster
    while len(cluster.topics) < 200:
        assert turns.next()
    (late,) = {"new-2999"} - set(cluster.topics)
    cluster.create_topic(late, topic_id=b"late" * 4, assignment=[[1]])
    turns.run()
    assert len(cluster.topics) == 3_002  # with __consumer_offsets
    assert cluster.topics[late].id == b"late" * 4


def test_metadata_that_changes_while_it_is_told_is_not_kept() -> None:
    """The answer begun before is whole; the next one has the topic that came meanwhile."""
    driver = Driver([f"t-{number}:1" for number in range(1_000)])
    turns, client = Turns(driver), driver.client()
    turns.feed(client, client.frame(MetadataRequest(topics=None), 12))
    assert turns.next()
    driver.broker.cluster.create_topic("late", topic_id=b"late" * 4, assignment=[[1]])
    turns.run()
    turns.feed(client, client.frame(MetadataRequest(topics=None), 12))
    turns.run()
    names = [
        {topic.name for topic in answer.topics}
        for answer in client.answers()
        if isinstance(answer, MetadataResponse)
    ]
    assert "late" not in names[0]
    assert names[1] - names[0] == {"late"}


class TestOthers:
    def test_others_are_answered_between_two_slices(self) -> None:
        driver = Driver()
        turns, client, other = Turns(driver), driver.client(), driver.client()
        turns.feed(client, client.frame(describe(7_000), 5))
        answered = 0
        while turns.next():
            if client.writes:
                break
            turns.feed(other, other.frame(BEAT, 4))
            answered += len(other.answers())
        assert answered > 20
        (described,) = client.answers()
        assert isinstance(described, DescribeGroupsResponse)
        assert len(described.groups) == 7_000

    def test_the_answers_of_a_connection_keep_their_order(self) -> None:
        driver = Driver()
        turns, client = Turns(driver), driver.client()
        frames = [
            client.frame(request, 5 if isinstance(request, DescribeGroupsRequest) else 4)
            for request in (BEAT, describe(7_000), BEAT, describe(6_000), BEAT)
        ]
        data = b"".join(frames)
        for start in range(0, len(data), 30_000):
            turns.feed(client, data[start : start + 30_000])
            turns.next()
        turns.run()
        kinds = [type(answer).__name__ for answer in client.answers()]
        assert kinds == [
            "HeartbeatResponse",
            "DescribeGroupsResponse",
            "HeartbeatResponse",
            "DescribeGroupsResponse",
            "HeartbeatResponse",
        ]

    def test_the_answer_is_the_one_that_a_small_request_gets(self) -> None:
        """Names that are there and names that are not: what is told of each does not depend on how
        many were asked."""
        driver = Driver(["t:4"])
        turns = Turns(driver)
        names = ["t", *(f"n.{i}" for i in range(9_000)), "bad name"]
        client = driver.client()
        topics = [MetadataRequestTopic(name=name) for name in names]
        turns.feed(
            client,
            client.frame(MetadataRequest(topics=topics, allow_auto_topic_creation=False), 12),
        )
        turns.run()
        (large,) = client.answers()
        assert isinstance(large, MetadataResponse)
        told = {topic.name: topic for topic in large.topics}
        for name in ("t", "n.7", "bad name"):
            small = client.ask(
                MetadataRequest(
                    topics=[MetadataRequestTopic(name=name)], allow_auto_topic_creation=False
                ),
                12,
            )
            assert isinstance(small, MetadataResponse)
            assert told[name] == small.topics[0]

    def test_one_large_request_is_in_hand_at_a_time(self) -> None:
        """Each takes many times its bytes: the others wait with theirs, in the order in which they
        came."""
        driver = Driver()
        turns = Turns(driver)
        clients = [driver.client() for _ in range(5)]
        for client in clients:
            turns.feed(client, client.frame(describe(7_000), 5))
        assert driver.broker.turns.input.held > 4 * 64_000
        finished: list[Client] = []
        while turns.next():
            assert sum(client.connection._work is not None for client in clients) <= 1
            finished += [client for client in clients if client.writes and client not in finished]
        assert finished == clients
        assert driver.broker.turns.input.held == 0
        assert driver.broker.turns.lane.owner is None

    def test_whoever_is_at_it_and_goes_makes_room(self) -> None:
        driver = Driver()
        turns = Turns(driver)
        first, second, third = (driver.client() for _ in range(3))
        for client in (first, second, third):
            turns.feed(client, client.frame(describe(7_000), 5))
        turns.next()
        second.connection.lost()  # who waits
        first.connection.lost()  # who is at it
        turns.run()
        assert not first.writes
        assert not second.writes
        assert len(third.answers()) == 1
        assert driver.broker.turns.lane.owner is None

    def test_whose_turn_it_is_and_who_does_not_read_makes_room(self) -> None:
        driver = Driver()
        turns = Turns(driver)
        first, second, third = (driver.client() for _ in range(3))
        for client in (first, second, third):
            turns.feed(client, client.frame(describe(7_000), 5))
        second.connection.pause()
        turns.run()
        assert len(first.answers()) == 1
        assert not second.writes
        assert len(third.answers()) == 1
        second.connection.unpause(0)
        turns.run()
        assert len(second.answers()) == 1


class TestWhatItDoes:
    def test_time_goes_on_between_slices(self) -> None:
        """What a slice changes is changed at the time of that slice: deadlines and events never go
        back in time."""
        driver = Driver(["t:64"])
        member = driver.client()
        new_member(member)
        for group in range(300):
            topics = [
                OffsetCommitRequestTopic(
                    name="t",
                    partitions=[
                        OffsetCommitRequestPartition(partition_index=0, committed_offset=1)
                    ],
                )
            ]
            member.send(OffsetCommitRequest(group_id=f"group-{group}", topics=topics), 8)
        member.answers()
        turns, client = Turns(driver), driver.client()
        turns.feed(
            client,
            client.frame(DeleteGroupsRequest(groups_names=[f"group-{i}" for i in range(6_000)]), 2),
        )
        while turns.next():
            driver.now += 10
        (deleted,) = client.answers()
        assert isinstance(deleted, DeleteGroupsResponse)
        assert sum(not row.error_code for row in deleted.results) == 300
        assert not any(name.startswith("group-") for name in driver.broker.coordinator.groups)

    def test_markers_are_written_at_the_time_of_their_slice(self) -> None:
        driver = Driver(["t:1"])
        markers = [
            WritableTxnMarker(
                producer_id=i,
                producer_epoch=0,
                transaction_result=True,
                topics=[WritableTxnMarkerTopic(name="t", partition_indexes=[0])],
            )
            for i in range(4_000)
        ]
        turns, client = Turns(driver), driver.client()
        turns.feed(client, client.frame(WriteTxnMarkersRequest(markers=markers), 1))
        while turns.next():
            driver.now += 10
        assert len(client.answers()) == 1
        partition = driver.broker.cluster.partition("t", 0)
        assert partition is not None
        assert partition.log.high_watermark == 4_000

    def test_bad_bytes_in_the_middle_close_the_connection(self) -> None:
        driver = Driver()
        turns, client = Turns(driver), driver.client()
        whole = client.frame(describe(7_000), 5)
        cut = whole[:-1_000]
        turns.feed(client, struct.pack(">i", len(cut) - 4) + cut[4:])
        turns.run()
        assert client.closed is not None
        assert "DescribeGroups v5" in client.closed
        assert client.fault is None
        assert driver.broker.turns.lane.owner is None

    def test_an_answer_that_becomes_too_large_closes_the_connection(self) -> None:
        driver = Driver(limits=Limits(response_bytes=50_000))
        turns, client = Turns(driver), driver.client()
        turns.feed(client, client.frame(describe(7_000), 5))
        turns.run()
        assert client.closed is not None
        assert "max_response_bytes" in client.closed

    def test_a_handler_that_fails_in_the_middle_is_our_fault(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        driver = Driver()
        turns, client = Turns(driver), driver.client()
        coordinator = driver.broker.coordinator
        refuse, count = coordinator.refuse, 0

        def fails(group_id: str | None, empty_allowed: bool = False) -> object:
            nonlocal count
            count += 1
            if count == 5_000:
                raise RuntimeError("planted")
            return refuse(group_id, empty_allowed)

        monkeypatch.setattr(coordinator, "refuse", fails)
        turns.feed(client, client.frame(describe(7_000), 5))
        turns.run()
        assert client.closed is not None
        assert str(client.fault) == "planted"
        assert driver.broker.turns.lane.owner is None

    def test_interceptors_meet_large_requests_too(self) -> None:
        driver = Driver()
        turns, client = Turns(driver), driver.client()
        seen: list[Request] = []

        def intercept(call: object) -> Answer:
            seen.append(call.message)  # type: ignore[attr-defined]
            return Answer(DescribeGroupsResponse(throttle_time_ms=7))

        driver.broker.interceptors.append(intercept)  # type: ignore[arg-type]
        turns.feed(client, client.frame(describe(7_000), 5))
        turns.run()
        (answer,) = client.answers()
        assert isinstance(answer, DescribeGroupsResponse)
        assert answer.throttle_time_ms == 7
        assert len(seen) == 1


@pytest.mark.parametrize("grows", [False, True])
def test_the_partitions_of_one_topic_are_not_made_in_one_piece(grows: bool) -> None:
    """Nobody sees a part of them; what is ready is used by whoever makes partitions first."""
    driver = Driver(["t:1"])
    turns, client, cluster = Turns(driver), driver.client(), driver.broker.cluster
    count = 9_000
    if grows:
        wanted = CreatePartitionsTopic(name="t", count=count, assignments=None)
        frame = client.frame(CreatePartitionsRequest(topics=[wanted], timeout_ms=1_000), 3)
    else:
        topic = CreatableTopic(name="new", num_partitions=count, replication_factor=1)
        frame = client.frame(CreateTopicsRequest(topics=[topic], timeout_ms=1_000), 7)
    turns.feed(client, frame)
    sizes: set[int] = set()
    while turns.next():
        sizes.add(sum(len(topic.partitions) for topic in cluster.topics.values()))
        if len(sizes) == 1 and "late" not in cluster.topics:
            cluster.create_topic("late", topic_id=b"late" * 4, assignment=[[1]] * 10)
    assert len(client.answers()) == 1
    made = cluster.topics["t" if grows else "new"].partitions
    assert len(made) == count
    every = [each.log for topic in cluster.topics.values() for each in topic.partitions]
    assert len(set(map(id, every))) == len(every)
    assert len(sizes) == 3


def test_a_handler_that_goes_by_element_is_told_the_instant_of_each_turn() -> None:
    asked = range(2 * ITEMS_A_STEP)
    call = Call(BEAT, 4, "c", "/127.0.0.1", 1, 10, "PLAINTEXT", None)
    after: list[int] = []

    def once_more(instants: list[int]) -> Sliced:
        after.extend(instants)
        return by_element(call, asked, lambda element, _: element, lambda rows: HeartbeatResponse())

    work = by_element(call, asked, lambda _, call: call.now, once_more).work
    next(work)
    work.send(20)
    work.send(30)
    with pytest.raises(StopIteration) as end:
        for _ in range(2):
            work.send(40)
    assert end.value.value == HeartbeatResponse()
    step = ITEMS_A_STEP
    assert after == [10] * (step - 1) + [20] * step + [30]
