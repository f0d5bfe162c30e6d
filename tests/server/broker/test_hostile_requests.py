"""Requests that make a broker work, answer or keep more than they are worth. Each was seen to:
bounds are counted, never timed."""

from __future__ import annotations

import gc
import tracemalloc
from typing import Any

import pytest

from coordinator.base.releases import NEWEST
from coordinator.base.slices import whole
from coordinator.server import apis
from coordinator.server.cluster.topic_names import TopicNames
from coordinator.server.fetching.sessions import MOST_PARTITIONS
from coordinator.server.handlers import create_topics, list_transactions
from coordinator.server.handlers import metadata as metadata_handler
from coordinator.server.limits import Limits
from coordinator.server.requests.call import Call, Sliced
from coordinator.server.settings.definitions import (
    ConfigDef,
    ConfigException,
    ConfigType,
    parse_whole,
)
from coordinator.wire.encoders import PIECES_BETWEEN_LOOKS
from coordinator.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from coordinator.wire.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from coordinator.wire.messages.describe_groups import (
    DescribedGroup,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from coordinator.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from coordinator.wire.messages.heartbeat import HeartbeatRequest
from coordinator.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from coordinator.wire.messages.list_groups import ListGroupsRequest
from coordinator.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from coordinator.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from coordinator.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchResponse,
)
from coordinator.wire.messages.topics import CreatableTopic, CreateTopicsRequest
from coordinator.wire.messages.transaction_views import (
    ListTransactionsRequest,
    ListTransactionsResponse,
)
from coordinator.wire.messages.transactions import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
    InitProducerIdRequest,
)
from coordinator.wire.primitives import ResponseTooLarge
from coordinator.wire.schema import Request, Response
from tests.server.broker.driver import Client, Driver, join

pytestmark = pytest.mark.unmeasured

MIB = 1 << 20


def peak_of(client: Client, request: Request, version: int) -> int:
    """The most memory that a request holds, in bytes."""
    data = client.frame(request, version)
    tracemalloc.start()
    try:
        client.feed(data)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def committed(driver: Driver, group: str, count: int, metadata: str) -> None:
    partitions = [
        OffsetCommitRequestPartition(
            partition_index=i, committed_offset=i, committed_metadata=metadata
        )
        for i in range(count)
    ]
    client = driver.client()
    client.send(
        OffsetCommitRequest(
            group_id=group, topics=[OffsetCommitRequestTopic(name="t", partitions=partitions)]
        ),
        8,
    )
    client.answers()


def test_an_answer_that_would_be_too_large_is_never_whole_in_memory() -> None:
    """OffsetFetch of 400 bytes that names a group 30 times made 400 MB."""
    driver = Driver(["t:100"], limits=Limits(response_bytes=4 * MIB))
    committed(driver, "g", 100, "m" * 4_000)
    client = driver.client()
    groups = [OffsetFetchRequestGroup(group_id="g", topics=None)] * 500
    assert (
        peak_of(client, OffsetFetchRequest(groups=groups), 8) < 24 * MIB
    )  # 200 MB, were it encoded
    assert client.closed is not None
    assert "max_response_bytes" in client.closed
    assert client.fault is None
    assert driver.client().closed is None


def test_what_is_asked_twice_is_looked_up_once_and_shown_twice() -> None:
    driver = Driver(["t:10"])
    committed(driver, "g", 10, "")
    client = driver.client()
    groups = [OffsetFetchRequestGroup(group_id=name, topics=None) for name in ("g", "h", "g")]
    client.send(OffsetFetchRequest(groups=groups), 8)
    (answer,) = client.answers()
    assert isinstance(answer, OffsetFetchResponse)
    assert [group.group_id for group in answer.groups] == ["g", "h", "g"]
    assert answer.groups[0] == answer.groups[2]
    assert answer.groups[0].topics
    client.send(DescribeGroupsRequest(groups=["g", "h", "g"]), 4)
    (described,) = client.answers()
    assert isinstance(described, DescribeGroupsResponse)
    assert [group.group_id for group in described.groups] == ["g", "g", "h"], "by partition (DSC-5)"


@pytest.mark.parametrize("kind", [4, 2, 32])
def test_describe_configs_looks_a_resource_up_once(
    kind: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """20 KB that named one broker 2,000 times took 18 s and 2.6 GB."""
    from coordinator.server.handlers import describe_configs

    looked_up = []
    entries = describe_configs._entries
    monkeypatch.setattr(
        describe_configs, "_entries", lambda *asked: looked_up.append(asked) or entries(*asked)
    )
    driver = Driver(["t"])
    client = driver.client()
    resource = DescribeConfigsResource(
        resource_type=kind, resource_name={4: "1", 2: "t", 32: "g"}[kind], configuration_keys=None
    )
    client.send(DescribeConfigsRequest(resources=[resource] * 300), 4)
    (answer,) = client.answers()
    assert len(looked_up) == 1
    assert len(answer.results) == 300  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("kind", "names", "own"), [(32, "g", "consumer.session.timeout.ms"), (2, "t", "retention.ms")]
)
def test_describe_configs_looks_up_once_what_resources_without_own_values_share(
    kind: int,
    names: str,
    own: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """180 KB that named 20,000 groups held the loop 3.8 s."""
    from coordinator.server.handlers import describe_configs

    driver = Driver([f"t{number}" for number in range(20)])
    client = driver.client()
    change = AlterableConfig(name=own, value="50000")
    client.ask(
        IncrementalAlterConfigsRequest(
            resources=[
                AlterConfigsResource(
                    resource_type=kind, resource_name=f"{names}7", configs=[change]
                )
            ]
        ),
        1,
    )
    looked_up = []
    entries = describe_configs._entries
    monkeypatch.setattr(
        describe_configs, "_entries", lambda *asked: looked_up.append(asked) or entries(*asked)
    )
    asked = [
        DescribeConfigsResource(
            resource_type=kind, resource_name=f"{names}{number}", configuration_keys=None
        )
        for number in range(20)
    ]
    asked.append(
        DescribeConfigsResource(
            resource_type=kind, resource_name=f"{names}3", configuration_keys=[own]
        )
    )
    together = client.ask(DescribeConfigsRequest(resources=asked), 4).results  # type: ignore[attr-defined]
    assert len(looked_up) == 3, "one without own values, the one that has some, and one key alone"
    alone = [client.ask(DescribeConfigsRequest(resources=[one]), 4).results[0] for one in asked]  # type: ignore[attr-defined]
    assert together == alone


def test_partitions_are_made_without_collections_of_garbage(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They stay: to go through all of them again and again doubled what 9,000 cost."""
    driver = Driver()
    seen: list[bool] = []
    make = create_topics.make
    monkeypatch.setattr(
        create_topics, "make", lambda *asked: seen.append(gc.isenabled()) or make(*asked)
    )
    topics = [
        CreatableTopic(name=name, num_partitions=2, replication_factor=1) for name in ("a", "b")
    ]
    driver.client().ask(CreateTopicsRequest(topics=topics), 7)
    assert (seen, gc.isenabled()) == ([False, False], True)


def test_an_encoder_counts_while_it_goes_on() -> None:
    answer = DescribeGroupsResponse(
        groups=[DescribedGroup(group_id="g" * 1_000) for _ in range(100_000)]
    )
    tracemalloc.start()
    with pytest.raises(ResponseTooLarge):
        answer.encode(4, MIB)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 * MIB + PIECES_BETWEEN_LOOKS * 1_200
    assert (
        len(DescribeGroupsResponse(groups=[DescribedGroup(group_id="g")] * 5_000).encode(4, MIB))
        < MIB
    )


@pytest.mark.parametrize(
    "text",
    [
        "9" * 32_000 + ":",
        "1" * 16_000 + "." + "1" * 16_000 + "x",
        "1" * 32_000 + "e",
        "0" * 32_000 + "x",
    ],
)
def test_a_configuration_value_of_many_digits(text: str) -> None:
    """Quadratic backtracking: 32,000 digits took 20 s."""
    fraction = ConfigDef("ratio", ConfigType.DOUBLE, "0.5", "0..1")
    with pytest.raises(ConfigException, match="Not a number of type DOUBLE"):
        fraction.parse(text)
    assert parse_whole(text) is None


def test_whole_numbers_are_read_as_java_reads_them() -> None:
    assert [
        parse_whole(text) for text in ("0" * 30_000 + "7", "+7", "-7", "2147483647", "-2147483648")
    ] == [7, 7, -7, 2**31 - 1, -(2**31)]
    assert [
        parse_whole(text)
        for text in ("2147483648", "-2147483649", "", "+", "1_0", " 1", "1.0", "9" * 30_000, "1\n")
    ] == [None] * 9
    assert parse_whole("9223372036854775807", 63) == 2**63 - 1
    assert parse_whole("9223372036854775808", 63) is None


def test_collisions_of_names_are_looked_up_not_searched() -> None:
    """Each dotted name of a request was compared with every topic."""

    class Counted(str):
        __slots__ = ()
        replaced = 0

        def replace(self, *args: object) -> str:  # type: ignore[override]
            Counted.replaced += 1
            return str.replace(self, *args)  # type: ignore[arg-type]

    names = TopicNames(Counted(f"a.{i}") for i in range(100))
    assert [names.colliding(f"a_{i}") for i in range(50, 150)] == [
        f"a.{i}" for i in range(50, 100)
    ] + [None] * 50
    assert Counted.replaced == 100
    assert TopicNames(["a.b_c", "a_b.c"]).colliding("a.b.c") == "a.b_c"
    assert TopicNames(["a.b"]).colliding("a.b") is None
    assert TopicNames(["ab"]).colliding("ab") is None


def test_automatic_creation_makes_no_more_than_the_controller_allows() -> None:
    """ReplicationControlManager refuses a request for more than 10,000 partitions, or records, as a
    whole."""
    driver = Driver()
    before = len(driver.broker.cluster.topics)
    for count, made in ((5_001, 0), (10_001, 0), (3, 3)):
        driver.client().send(
            MetadataRequest(topics=[MetadataRequestTopic(name=f"x.{i}") for i in range(count)]), 9
        )
        assert len(driver.broker.cluster.topics) - before == made


def test_metadata_keeps_neither_large_requests_nor_more_than_its_share(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    driver = Driver(["t"])
    client = driver.client()
    client.send(MetadataRequest(topics=[MetadataRequestTopic(name="t")] * 10_000), 9)
    assert not driver.broker.cluster.kept
    client.send(MetadataRequest(topics=[MetadataRequestTopic(name="t")]), 9)
    assert len(driver.broker.cluster.kept) == 1
    monkeypatch.setattr(metadata_handler, "_MOST_BYTES", 10)
    client.send(MetadataRequest(topics=None), 9)
    assert len(driver.broker.cluster.kept) == 1


def test_fetch_sessions_hold_so_many_partitions_all_together() -> None:
    driver = Driver(["t"])

    def fetch(count: int, session_id: int = 0, epoch: int = 0) -> tuple[int, int]:
        partitions = [
            FetchPartition(partition=i, partition_max_bytes=1) for i in range(epoch, epoch + count)
        ]
        partitions[0].unknown_tags = {99: bytes(1_000)}
        client = driver.client()
        client.send(
            FetchRequest(
                max_wait_ms=0,
                session_id=session_id,
                session_epoch=epoch,
                topics=[FetchTopic(topic="t", partitions=partitions)],
            ),
            12,
        )
        (answer,) = client.answers()
        return answer.session_id, answer.error_code  # type: ignore[attr-defined]

    small, _ = fetch(10)
    assert small
    sessions = driver.broker.services.fetch_sessions
    assert all(
        one.wanted.unknown_tags is None
        for session in sessions._sessions.values()
        for one in session.partitions.values()
    )
    sessions._sessions[small].cached_size = MOST_PARTITIONS - 5
    assert fetch(6)[0] == 0
    assert fetch(5)[0] > 0
    sessions._sessions[small].cached_size = 10
    next(reversed(sessions._sessions.values())).cached_size = MOST_PARTITIONS
    assert fetch(20, small, 1) == (0, 70)


def test_a_group_whose_id_cannot_be_written_back_does_not_come_to_be() -> None:
    """Bytes that are no UTF-8 are read as U+FFFD, three bytes each: 20,000 of them would need
    60,000, and 32,767 can be written.

    A 4.4.0 broker was asked: JoinGroup v3 and OffsetCommit are -1, JoinGroup v4 is 79 at first; the
    list of groups stays readable.
    """
    driver = Driver(["t"])
    committed(driver, "fine", 1, "")
    client = driver.client()

    def ask(request: Request, version: int) -> Response:
        client.feed(client.frame(request, version).replace(b"G" * 20_000, b"\xff" * 20_000))
        assert client.closed is None
        (answer,) = client.answers()
        assert isinstance(answer, Response)
        return answer

    topics = [
        OffsetCommitRequestTopic(
            name="t",
            partitions=[OffsetCommitRequestPartition(partition_index=0, committed_offset=1)],
        )
    ]
    commit = ask(OffsetCommitRequest(group_id="G" * 20_000, topics=topics), 8)
    assert [p.error_code for topic in commit.topics for p in topic.partitions] == [-1]  # type: ignore[attr-defined]
    assert [ask(join("G" * 20_000), version).error_code for version in (3, 4, 9)] == [-1, 79, 79]  # type: ignore[attr-defined]
    assert ask(join("G" * 20_000, "m"), 9).error_code == -1  # type: ignore[attr-defined]
    for version in (0, 5):
        listed = ask(ListGroupsRequest(), version)
        assert [group.group_id for group in listed.groups] == ["fine"]  # type: ignore[attr-defined]
    assert ask(OffsetCommitRequest(group_id="G" * 10_900, topics=topics), 8)


def test_an_answer_shows_an_id_that_cannot_be_written_back() -> None:
    """Kafka never answers these (seen on 4.4.0: DescribeGroups, OffsetFetch, FindCoordinator,
    DeleteGroups)."""
    driver = Driver(["t"])
    client = driver.client()
    for request, version in (
        (DescribeGroupsRequest(groups=["G" * 20_000]), 0),
        (OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id="G" * 20_000)]), 8),
    ):
        client.feed(client.frame(request, version).replace(b"G" * 20_000, b"\xff" * 20_000))
        (answer,) = client.answers()
        assert answer.groups[0].group_id == "?" * 20_000  # type: ignore[attr-defined]
    assert client.closed is None


def test_the_collector_is_only_put_off(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = Driver()
    seen: list[bool] = []
    client = driver.client()
    for key, name in ((12, "heartbeat"), (3, "metadata")):
        api = apis.apis_of(NEWEST)[key]
        assert api is not None, name
        handle = api.handle

        def look(broker: Any, call: Any, handle: Any = handle) -> Any:
            seen.append(gc.isenabled())
            return handle(broker, call)

        monkeypatch.setattr(api, "handle", look)
    client.send(HeartbeatRequest(group_id="g"), 4)
    client.send(MetadataRequest(topics=[MetadataRequestTopic(name="x" * 200)] * 1_000), 9)
    assert seen == [True, False]
    assert gc.isenabled()


def test_a_pattern_that_is_too_much_for_a_transactional_id_is_refused() -> None:
    """One id of 32 KB and one pattern of 30 KB held the broker for ten seconds."""
    driver = Driver()
    client = driver.client()
    client.send(
        InitProducerIdRequest(
            transactional_id="t" * 5_000,
            transaction_timeout_ms=1_000,
            producer_id=-1,
            producer_epoch=-1,
        ),
        4,
    )
    client.answers()
    for pattern, expected in (("t+", (0, 1)), ("t{1000}" * 3, (0, 0)), ("t{1000}" * 5, (128, 0))):
        client.send(ListTransactionsRequest(transactional_id_pattern=pattern), 2)
        (answer,) = client.answers()
        assert isinstance(answer, ListTransactionsResponse)
        assert (answer.error_code, len(answer.transaction_states)) == expected


@pytest.mark.parametrize("padding", [0, 100_000])
def test_an_error_message_that_would_be_too_long_is_cut_off(padding: int) -> None:
    """What is quoted may be as long as a string may be; the answer could not be encoded. Large
    requests are answered in slices."""
    driver = Driver()
    client = driver.client()
    pattern = "(" + "é" * 16_380
    topics = [f"t.{number}" for number in range(padding // 10)] or None
    client.send(
        ConsumerGroupHeartbeatRequest(
            group_id="g",
            member_id="m",
            rebalance_timeout_ms=1_000,
            subscribed_topic_names=topics,
            subscribed_topic_regex=pattern,
            topic_partitions=[],
        ),
        1,
    )
    (answer,) = client.answers()
    assert isinstance(answer, ConsumerGroupHeartbeatResponse)
    assert answer.error_code == 128
    assert answer.error_message is not None
    assert answer.error_message.startswith("SubscribedTopicRegex `(é")
    assert answer.error_message.endswith("é...")
    assert 32_760 < len(answer.error_message.encode()) <= 32_767
    assert (client.closed, client.fault) == (None, None)


def test_a_topic_that_is_named_again_and_again_gets_one_row_a_partition() -> None:
    """AddPartitionsToTxn looked through all rows of the topic for each time it was named: 95,000
    times took minutes."""
    client = Driver(["t:3"]).client()
    topics = [AddPartitionsToTxnTopic(name="t", partitions=[index, 0]) for index in range(2_000)]
    one = AddPartitionsToTxnTransaction(
        transactional_id="tx", producer_id=1, producer_epoch=0, topics=topics
    )
    client.send(AddPartitionsToTxnRequest(transactions=[one]), 5)
    (answer,) = client.answers()
    assert isinstance(answer, AddPartitionsToTxnResponse)
    (topic,) = answer.results_by_transaction[0].topic_results
    assert [row.partition_index for row in topic.results_by_partition] == list(range(2_000))
    assert [row.partition_error_code for row in topic.results_by_partition] == [55] * 3 + [
        3
    ] * 1_997


class Compared(int):
    """A number that counts how often it is compared."""

    times = 0
    __hash__ = int.__hash__

    def __eq__(self, other: object) -> bool:
        Compared.times += 1
        return int(self) == other


def test_producer_ids_are_looked_up_not_searched() -> None:
    """A filter of 200,000 ids was gone through for each transactional id."""
    driver = Driver()
    client = driver.client()
    for number in range(50):
        client.ask(
            InitProducerIdRequest(transactional_id=f"tx-{number}", transaction_timeout_ms=1_000), 4
        )
    known = sorted(
        one.producer_id
        for one in driver.broker.services.transactions.coordinator.transactions.values()
    )
    ids: list[int] = [Compared(number) for number in (*range(1_000_000, 1_020_000), *known[:3])]
    call = Call(
        ListTransactionsRequest(producer_id_filters=ids),
        1,
        "test",
        "/127.0.0.1",
        1,
        0,
        "PLAINTEXT",
        None,
    )
    handled = list_transactions.handle(driver.broker, call)
    assert isinstance(handled, Sliced)
    answer = whole(handled.work, 0)
    assert isinstance(answer, ListTransactionsResponse)
    assert sorted(row.producer_id for row in answer.transaction_states) == known[:3]
    assert Compared.times < 1_000
