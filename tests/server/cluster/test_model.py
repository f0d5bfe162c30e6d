"""The cluster: names, ids and the version that kept answers depend on."""

from __future__ import annotations

import pytest

from coordinator.server.cluster import BrokerNode, Cluster
from coordinator.server.cluster.topic_names import TopicNames, why_invalid
from coordinator.server.settings.broker_configs import BrokerConfigs


@pytest.fixture
def cluster() -> Cluster:
    brokers = [BrokerNode(1, "a"), BrokerNode(2, "b"), BrokerNode(3, "b", fenced=True)]
    return Cluster(cluster_id="c", controller_id=1, brokers=brokers, configs=BrokerConfigs())


def test_topics_by_name_and_id(cluster: Cluster) -> None:
    topic = cluster.create_topic(
        "t", topic_id=b"t" * 16, assignment=[[1, 2], [2, 1]], configs={"retention.ms": "5"}
    )
    assert cluster.topics["t"] is cluster.topics_by_id[b"t" * 16] is topic
    assert not topic.internal
    assert [
        (each.index, each.leader, each.leader_epoch, each.replicas, each.isr)
        for each in topic.partitions
    ] == [
        (0, 1, 0, [1, 2], [1, 2]),
        (1, 2, 0, [2, 1], [2, 1]),
    ]
    assert cluster.delete_topic("t") is topic
    assert (cluster.topics, cluster.topics_by_id) == ({}, {})
    with pytest.raises(KeyError):
        cluster.delete_topic("t")


def test_each_partition_has_its_own_log(cluster: Cluster) -> None:
    topic = cluster.create_topic("t", topic_id=b"t" * 16, assignment=[[1], [1]])
    assert topic.partitions[0].log is not topic.partitions[1].log


def test_partitions_that_are_not_there(cluster: Cluster) -> None:
    cluster.create_topic("t", topic_id=b"t" * 16, assignment=[[1]])
    assert cluster.partition("t", 0) is cluster.topics["t"].partitions[0]
    assert cluster.partition("t", 1) is None
    assert cluster.partition("t", -1) is None
    assert cluster.partition("u", 0) is None


def test_fenced_brokers_neither_lead_nor_are_in_sync(cluster: Cluster) -> None:
    topic = cluster.create_topic("t", topic_id=b"t" * 16, assignment=[[3, 2], [3]])
    assert [(each.leader, each.isr, each.offline) for each in topic.partitions] == [
        (2, [2], [3]),
        (-1, [3], [3]),
    ]


@pytest.mark.parametrize(
    "name", ["__consumer_offsets", "__transaction_state", "__share_group_state"]
)
def test_internal_topics_are_known_by_name(cluster: Cluster, name: str) -> None:
    assert cluster.create_topic(name, topic_id=b"t" * 16, assignment=[[1]]).internal


def test_every_change_raises_the_version_and_empties_what_was_kept(cluster: Cluster) -> None:
    def changed() -> bool:
        after, kept = cluster.version, cluster.kept.copy()
        different = after > seen[-1] and not kept
        seen.append(after)
        cluster.kept["answer"] = b""
        return different

    seen = [cluster.version]
    cluster.kept["answer"] = b""
    cluster.create_topic("t", topic_id=b"t" * 16, assignment=[[1]])
    assert changed()
    cluster.add_partitions("t", [[2]])
    assert changed()
    cluster.set_topic_configs("t", {"retention.ms": "1"})
    assert changed()
    cluster.add_broker(BrokerNode(4))
    assert changed()
    cluster.partition("t", 0)
    assert not changed()
    cluster.delete_topic("t")
    assert changed()


def test_effective_configs_follow_topic_and_broker(cluster: Cluster) -> None:
    topic = cluster.create_topic("t", topic_id=b"t" * 16, assignment=[[1]])
    assert topic.effective_int("max.message.bytes") == 1048588
    cluster.configs.replace_dynamic({"message.max.bytes": "7"}, for_all_brokers=True)
    assert topic.effective_int("max.message.bytes") == 7
    cluster.set_topic_configs(
        "t", {"max.message.bytes": "9", "message.timestamp.type": "LogAppendTime"}
    )
    assert topic.effective_int("max.message.bytes") == 9
    assert topic.effective("message.timestamp.type") == "LogAppendTime"
    assert topic.effective("cleanup.policy") == ["delete"]
    assert topic.effective("retention.ms") == 168 * 3_600_000
    assert topic.effective("remote.storage.enable") is False
    with pytest.raises(KeyError):
        topic.effective("nope")


def test_names() -> None:
    assert why_invalid("a.B_9-") is None
    assert why_invalid("a" * 249) is None
    assert why_invalid("a\n") is not None
    assert TopicNames(["a_b", "x"]).colliding("a.b") == "a_b"
    assert TopicNames(["a_b", "a.b"]).colliding("a-b") is None
    assert TopicNames(["a.b"]).colliding("a.b") is None
