"""Metadata, DescribeCluster and DescribeTopicPartitions: every version's own meaning, as Kafka
4.4.0 answered."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator.server.cluster import BrokerNode
from coordinator.wire.messages.describe_topic_partitions import Cursor, TopicRequest
from coordinator.wire.messages.metadata import MetadataRequestTopic, MetadataResponse
from coordinator.wire.schema import ZERO_UUID
from tests.server.broker.admin import LISTENER, Admin

NOT_ASKED = -2147483648


def metadata(
    admin: Admin, version: int, *names: str, every: bool = False, **fields: Any
) -> MetadataResponse:
    topics = None if every else [MetadataRequestTopic(name=name) for name in names]
    answer: MetadataResponse = admin.ask(3, version, topics=topics, **fields)
    return answer


def by_id(admin: Admin, version: int, *asked: tuple[bytes, str | None]) -> MetadataResponse:
    answer: MetadataResponse = admin.ask(
        3, version, topics=[MetadataRequestTopic(topic_id=id_, name=name) for id_, name in asked]
    )
    return answer


def seen(answer: MetadataResponse) -> list[tuple[int, str | None, int]]:
    return [(topic.error_code, topic.name, len(topic.partitions)) for topic in answer.topics]


@pytest.mark.parametrize("version", range(14))
def test_a_topic_in_every_version(version: int) -> None:
    admin = Admin("orders:3")
    answer = metadata(admin, version, "orders")
    [broker] = answer.brokers
    assert (broker.node_id, broker.host, broker.port) == (1, "127.0.0.1", 9092)
    assert seen(answer) == [(0, "orders", 3)]
    partition = answer.topics[0].partitions[2]
    assert (
        partition.partition_index,
        partition.leader_id,
        partition.replica_nodes,
        partition.isr_nodes,
    ) == (2, 1, [1], [1])
    assert partition.leader_epoch == (0 if version >= 7 else -1)
    assert answer.topics[0].topic_id == (
        admin.cluster.topics["orders"].id if version >= 10 else ZERO_UUID
    )
    assert answer.cluster_id == (admin.cluster.cluster_id if version >= 2 else None)
    assert answer.controller_id == (1 if version >= 1 else -1)


def test_all_topics_none_and_the_empty_list_of_version_0() -> None:
    admin = Admin("orders:3")
    everything = [(0, "__consumer_offsets", 50), (0, "orders", 3)]
    assert seen(metadata(admin, 0)) == everything
    assert seen(metadata(admin, 1, every=True)) == everything
    assert seen(metadata(admin, 12, every=True)) == everything
    assert seen(metadata(admin, 1)) == []
    assert [topic.is_internal for topic in metadata(admin, 1, every=True).topics] == [True, False]


def test_a_topic_created_by_asking_is_there_the_next_time() -> None:
    admin = Admin(num_partitions="2")
    assert seen(metadata(admin, 9, "new")) == [(3, "new", 0)]
    assert seen(metadata(admin, 9, "new")) == [(0, "new", 2)]
    [event] = admin.logged("TopicCreated")
    assert (event["topic"], event["cause"]) == ("new", 7)


def test_nothing_is_created_when_broker_or_client_forbid_it() -> None:
    admin = Admin(auto_create_topics_enable="false")
    assert seen(metadata(admin, 9, "new")) == seen(metadata(admin, 9, "new")) == [(3, "new", 0)]
    admin = Admin()
    for _ in range(2):
        assert seen(metadata(admin, 4, "new", allow_auto_topic_creation=False)) == [(3, "new", 0)]
    assert "new" not in admin.cluster.topics


def test_what_cannot_be_created_stays_unknown() -> None:
    admin = Admin("a.b")
    for _ in range(2):
        assert seen(metadata(admin, 9, "a_b", "__cluster_metadata")) == [
            (3, "a_b", 0),
            (3, "__cluster_metadata", 0),
        ]


def test_found_topics_come_first_and_names_count_once() -> None:
    """The others stand as Kafka 4.4 has them (META-44-1)."""
    answer = metadata(
        Admin("orders:3"), 12, "nope", "orders", "a/b", "", "nope", allow_auto_topic_creation=False
    )
    assert seen(answer) == [(0, "orders", 3), (17, "", 0), (3, "nope", 0), (17, "a/b", 0)]


def test_operations_only_when_asked() -> None:
    admin = Admin("orders")
    plain = metadata(admin, 8, "orders")
    assert (plain.cluster_authorized_operations, plain.topics[0].topic_authorized_operations) == (
        NOT_ASKED,
        NOT_ASKED,
    )
    asked = metadata(
        admin,
        8,
        "orders",
        "nope",
        include_cluster_authorized_operations=True,
        include_topic_authorized_operations=True,
        allow_auto_topic_creation=False,
    )
    assert (
        asked.cluster_authorized_operations,
        [topic.topic_authorized_operations for topic in asked.topics],
    ) == (8096, [3576, 3576])


@pytest.mark.parametrize("version", [12, 13])
def test_by_topic_id(version: int) -> None:
    admin = Admin("orders:3", "other")
    orders, unknown = admin.cluster.topics["orders"].id, b"\x77" * 16
    assert seen(by_id(admin, version, (orders, None))) == [(0, "orders", 3)]
    assert seen(by_id(admin, version, (unknown, None), (orders, None))) == [
        (100, None, 0),
        (0, "orders", 3),
    ]
    # With an id in the request, names are not looked at.
    assert seen(by_id(admin, version, (orders, "other"), (ZERO_UUID, "other"))) == [
        (0, "orders", 3)
    ]
    nameless = by_id(admin, version, (ZERO_UUID, None))
    assert (seen(nameless), nameless.brokers) == ([(-1, "", 0)], [])
    assert nameless.error_code == (-1 if version == 13 else 0)


@pytest.mark.parametrize("version", [10, 11])
def test_versions_that_carry_ids_but_may_not_ask_by_them(version: int) -> None:
    admin = Admin("orders:3")
    orders = admin.cluster.topics["orders"].id
    for asked in ((orders, None), (orders, "orders"), (ZERO_UUID, None)):
        answer = by_id(admin, version, asked)
        assert (seen(answer), answer.brokers, answer.cluster_id) == (
            [(42, asked[1] or "", 0)],
            [],
            None,
        )


def test_an_answer_is_kept_until_the_cluster_changes() -> None:
    admin = Admin("orders:3")
    metadata(admin, 9, "orders")
    assert len(admin.cluster.kept) == 1
    assert seen(metadata(admin, 9, "orders")) == [(0, "orders", 3)]
    admin.cluster.add_partitions("orders", [[1]])
    assert admin.cluster.kept == {}
    assert seen(metadata(admin, 9, "orders")) == [(0, "orders", 4)]
    admin.cluster.delete_topic("orders")
    assert seen(metadata(admin, 9, "orders", allow_auto_topic_creation=False)) == [(3, "orders", 0)]


def test_several_brokers_racks_and_one_that_is_down() -> None:
    admin = Admin()
    admin.cluster.add_broker(BrokerNode(2, "east", {LISTENER: ("b2", 1)}))
    admin.cluster.add_broker(BrokerNode(3, "west", {LISTENER: ("b3", 1)}, fenced=True))
    admin.cluster.add_broker(BrokerNode(4, None, {"OTHER": ("b4", 1)}))
    admin.cluster.create_topic("t", topic_id=b"t" * 16, assignment=[[2, 1], [3, 2], [3], [4]])
    answer = metadata(admin, 9, "t")
    assert [(node.node_id, node.rack) for node in answer.brokers] == [(1, None), (2, "east")]
    shown = [
        (each.error_code, each.leader_id, each.isr_nodes, each.offline_replicas)
        for each in answer.topics[0].partitions
    ]
    assert shown == [(0, 2, [2, 1], []), (0, 2, [2], [3]), (5, -1, [3], [3]), (72, -1, [4], [])]
    assert [each.error_code for each in metadata(admin, 5, "t").topics[0].partitions] == [
        0,
        0,
        5,
        5,
    ]
    oldest = metadata(admin, 0, "t").topics[0].partitions
    assert [(each.error_code, each.replica_nodes) for each in oldest] == [
        (0, [2, 1]),
        (9, [2]),
        (5, []),
        (5, [4]),
    ]


@pytest.mark.parametrize("version", range(3))
def test_describe_cluster(version: int) -> None:
    admin = Admin()
    admin.cluster.add_broker(BrokerNode(3, "west", {LISTENER: ("b3", 1)}, fenced=True))
    answer = admin.ask(60, version)
    assert (answer.error_code, answer.cluster_id, answer.controller_id) == (
        0,
        admin.cluster.cluster_id,
        1,
    )
    assert [(node.broker_id, node.host, node.port) for node in answer.brokers] == [
        (1, "127.0.0.1", 9092)
    ]
    assert answer.cluster_authorized_operations == NOT_ASKED
    assert (
        admin.ask(
            60, version, include_cluster_authorized_operations=True
        ).cluster_authorized_operations
        == 8096
    )


def test_names_beside_topic_ids_are_not_looked_at() -> None:
    admin = Admin("t")
    asked = [(b"x" * 16, "t"), (ZERO_UUID, None), (ZERO_UUID, "t")]
    topics = [MetadataRequestTopic(topic_id=id_, name=name) for id_, name in asked]
    answer = admin.ask(3, 12, topics=topics)
    assert [(topic.error_code, topic.topic_id) for topic in answer.topics] == [(100, b"x" * 16)]
    assert answer.cluster_id
    assert admin.ask(3, 12, topics=topics[1:]).topics[0].error_code == -1


def test_describe_cluster_shows_fenced_brokers_when_asked() -> None:
    admin = Admin()
    admin.cluster.add_broker(BrokerNode(3, "west", {LISTENER: ("b3", 1)}, fenced=True))
    nodes = admin.ask(60, 2, include_fenced_brokers=True).brokers
    assert [(node.broker_id, node.rack, node.is_fenced) for node in nodes] == [
        (1, None, False),
        (3, "west", True),
    ]


def test_describe_cluster_is_a_brokers_endpoint() -> None:
    controllers = Admin().ask(60, 1, endpoint_type=2)
    text = "The request was sent to an endpoint of type BROKER, but we wanted an endpoint of type CONTROLLER"
    assert (controllers.error_code, controllers.error_message, controllers.brokers) == (
        114,
        text,
        [],
    )
    strange = Admin().ask(60, 2, endpoint_type=3)
    assert (strange.error_code, strange.error_message, strange.cluster_id) == (
        115,
        "Unsupported endpoint type 3",
        "",
    )


def pages(
    admin: Admin, *names: str, limit: int = 2000, cursor: tuple[str, int] | None = None
) -> tuple[list[Any], Any]:
    answer = admin.ask(
        75,
        0,
        topics=[TopicRequest(name=name) for name in names],
        response_partition_limit=limit,
        cursor=cursor and Cursor(topic_name=cursor[0], partition_index=cursor[1]),
    )
    topics = [
        (topic.error_code, topic.name, [each.partition_index for each in topic.partitions])
        for topic in answer.topics
    ]
    following = answer.next_cursor
    return topics, following and (following.topic_name, following.partition_index)


def test_topic_partitions_page_after_page() -> None:
    admin = Admin("b:2", "a:3")
    assert pages(admin, "b", "a", "b") == ([(0, "a", [0, 1, 2]), (0, "b", [0, 1])], None)
    assert pages(admin, "b", "a", limit=2) == ([(0, "a", [0, 1])], ("a", 2))
    assert pages(admin, "b", "a", limit=2, cursor=("a", 2)) == (
        [(0, "a", [2]), (0, "b", [0])],
        ("b", 1),
    )
    assert pages(admin, "b", "a", limit=3) == ([(0, "a", [0, 1, 2])], ("b", 0))
    assert pages(admin, "b", "a", "zz", limit=5) == (
        [(0, "a", [0, 1, 2]), (0, "b", [0, 1])],
        ("zz", 0),
    )
    assert pages(admin, "a", limit=3) == ([(0, "a", [0, 1, 2])], None)
    assert pages(admin, "a", cursor=("a", 9)) == ([(0, "a", [])], None)
    assert pages(admin, "a", limit=0) == pages(admin, "a", limit=-5) == ([(0, "a", [0])], ("a", 1))


def test_topic_partitions_of_all_topics() -> None:
    admin = Admin("b:2", "a:3")
    topics, following = pages(admin, cursor=("a", 1))
    assert (topics, following) == ([(0, "a", [1, 2]), (0, "b", [0, 1])], None)
    topics, following = pages(admin, cursor=("aa", 1), limit=1)
    assert (topics, following) == ([(0, "b", [0])], ("b", 1))
    assert pages(admin, limit=50) == ([(0, "__consumer_offsets", list(range(50)))], ("a", 0))


def test_the_brokers_own_limit_holds() -> None:
    admin = Admin("a:3", max_request_partition_size_limit="2")
    assert pages(admin, "a") == ([(0, "a", [0, 1])], ("a", 2))


def test_topic_partitions_refusals() -> None:
    admin = Admin("b:2", "a:3")
    assert pages(admin, "nope", "a/b") == ([(17, "a/b", []), (3, "nope", [])], None)
    assert pages(admin, "a", "b", cursor=("aa", 0)) == ([(42, "a", []), (42, "b", [])], None)
    assert pages(admin, "a", cursor=("a", -1)) == ([(42, "a", [])], None)
    assert pages(admin, "a", "") == ([(-1, "a", []), (-1, "", [])], None)
    assert pages(admin, "a", "", limit=2, cursor=("", 0)) == (
        [(17, "", []), (0, "a", [0, 1])],
        ("a", 2),
    )
    assert pages(admin, "a", "", cursor=("", -1)) == ([(42, "a", []), (42, "", [])], None)
    assert pages(admin, "a", "nope", cursor=("nope", 4)) == ([(3, "nope", [])], None)


def test_a_cursor_whose_page_ends_beyond_32_bits_goes_on_at_a_negative_partition() -> None:
    """Seen on Kafka 4.4.0: where the page ends is a sum of 32 bits."""
    admin = Admin("a:3", "b")
    last = 2**31 - 1
    assert pages(admin, "a", "b", limit=1, cursor=("a", last - 1)) == (
        [(0, "a", []), (0, "b", [0])],
        None,
    )
    assert pages(admin, "a", "b", cursor=("a", last)) == ([(0, "a", [])], ("a", 1999 - 2**31))


def test_topic_partitions_tell_all_about_a_partition() -> None:
    admin = Admin("a")
    [topic] = admin.ask(75, 0, topics=[TopicRequest(name="a")]).topics
    [partition] = topic.partitions
    assert (topic.topic_id, topic.topic_authorized_operations, topic.is_internal) == (
        admin.cluster.topics["a"].id,
        3576,
        False,
    )
    assert (
        partition.leader_id,
        partition.leader_epoch,
        partition.eligible_leader_replicas,
        partition.last_known_elr,
    ) == (1, 0, [], [])
