"""Eligible leader replicas (KIP-966) end when min.insync.replicas is changed, for the topic or for
all brokers."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator.base.errors import ErrorCode
from coordinator.kit.cluster import StartBroker, StopBroker, UpdateFeature
from coordinator.server.settings.definitions import ConfigSource, ResourceType
from coordinator.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsRequest,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    WholeConfig,
    WholeResource,
)
from tests.server.brokers.desk import Cluster

MIN_ISR = "min.insync.replicas"
SET, DELETE = 0, 1


def cluster_with_an_eligible_leader() -> Cluster:
    """A partition that has two replicas and wants two in sync: after its follower stood still, that
    one is eligible beside the leader."""
    cluster = Cluster(["orders:1"], config={"default.replication.factor": "2"}, brokers=5)
    alter(cluster, ResourceType.TOPIC, "orders", MIN_ISR, "2")
    leader, follower = cluster.partition().replicas
    cluster.do(StopBroker(follower, "pause"))
    cluster.pass_time(5_000)
    assert (cluster.partition().isr, cluster.partition().elr) == ([leader], [follower])
    return cluster


def alter(
    cluster: Cluster,
    kind: ResourceType,
    resource: str,
    name: str,
    value: str | None,
    operation: int = SET,
) -> None:
    answer: Any = cluster.client(cluster.partition().leader).ask(
        IncrementalAlterConfigsRequest(
            resources=[
                AlterConfigsResource(
                    resource_type=kind,
                    resource_name=resource,
                    configs=[AlterableConfig(name=name, config_operation=operation, value=value)],
                )
            ]
        ),
        1,
    )
    assert [one.error_code for one in answer.responses] == [ErrorCode.NONE]


@pytest.mark.parametrize(
    ("kind", "resource", "value", "operation"),
    [
        (ResourceType.TOPIC, "orders", "3", SET),
        (ResourceType.TOPIC, "orders", None, DELETE),
        (ResourceType.BROKER, "", "2", SET),
        (ResourceType.BROKER, "", "1", SET),
    ],
)
def test_nobody_is_eligible_after_a_change(
    kind: ResourceType, resource: str, value: str | None, operation: int
) -> None:
    cluster = cluster_with_an_eligible_leader()
    one = cluster.partition()
    leader, leader_epoch, partition_epoch = one.leader, one.leader_epoch, one.partition_epoch
    alter(cluster, kind, resource, MIN_ISR, value, operation)
    assert (one.elr, one.last_known_elr, one.isr) == ([], [], [leader])
    assert (one.leader, one.leader_epoch, one.partition_epoch) == (
        leader,
        leader_epoch,
        partition_epoch + 1,
    )
    assert cluster.partition(at=leader).elr == []
    assert [line["reason"] for line in cluster.logged("ElrChanged")] == [
        "min.insync.replicas was changed"
    ]


def test_the_same_value_of_a_topic_changes_nothing() -> None:
    cluster = cluster_with_an_eligible_leader()
    alter(cluster, ResourceType.TOPIC, "orders", MIN_ISR, "2")
    alter(cluster, ResourceType.TOPIC, "orders", "retention.ms", "1000")
    assert cluster.partition().elr == cluster.partition().replicas[1:]


def test_it_is_taken_away_by_naming_others_only() -> None:
    """AlterConfigs replaces all values of a topic."""
    cluster = cluster_with_an_eligible_leader()
    cluster.client(cluster.partition().leader).ask(
        AlterConfigsRequest(
            resources=[
                WholeResource(
                    resource_type=ResourceType.TOPIC,
                    resource_name="orders",
                    configs=[WholeConfig(name="retention.ms", value="1000")],
                )
            ]
        ),
        2,
    )
    assert cluster.partition().elr == []


@pytest.mark.parametrize("changed", [False, True])
def test_who_was_eligible_leads_only_if_nothing_was_changed(changed: bool) -> None:
    cluster = cluster_with_an_eligible_leader()
    leader, follower = cluster.partition().replicas
    if changed:
        alter(cluster, ResourceType.TOPIC, "orders", MIN_ISR, "3")
    cluster.do(StopBroker(leader, "pause"))
    cluster.pass_time(5_000)
    assert cluster.partition().leader == -1
    cluster.do(StartBroker(follower))
    cluster.pass_time(5_000)
    assert cluster.partition().leader == (-1 if changed else follower)


ELIGIBLE = "eligible.leader.replicas.version"


def test_without_them_the_last_replica_in_sync_stays_that() -> None:
    """ELR-1: as seen on 4.4.0 and 4.0.2."""
    cluster = Cluster(["orders:1"], config={"default.replication.factor": "1"}, brokers=3)
    cluster.do(UpdateFeature(ELIGIBLE, 0))
    [holder] = cluster.partition().replicas
    epoch = cluster.partition().leader_epoch
    cluster.do(StopBroker(holder, "crash"))
    cluster.pass_time(5_000)
    gone = cluster.partition()
    assert (gone.leader, gone.isr, gone.elr, gone.last_known_elr) == (-1, [holder], [], [])
    assert gone.leader_epoch == epoch + 1
    cluster.do(StartBroker(holder))
    cluster.pass_time(5_000)
    assert (cluster.partition().leader, cluster.partition().isr) == (holder, [holder])


def test_who_was_eligible_when_it_was_lowered_stays_so_until_it_is_in_sync() -> None:
    """ELR-1."""
    cluster = cluster_with_an_eligible_leader()
    leader, follower = cluster.partition().replicas
    cluster.do(UpdateFeature(ELIGIBLE, 0))
    assert cluster.partition().elr == [follower]
    cluster.do(StartBroker(follower))
    cluster.pass_time(5_000)
    assert (sorted(cluster.partition().isr), cluster.partition().elr) == (
        sorted((leader, follower)),
        [],
    )
    cluster.do(StopBroker(follower, "pause"))
    cluster.pass_time(5_000)
    assert (cluster.partition().isr, cluster.partition().elr) == ([leader], [])


def test_raised_it_takes_the_setting_from_single_brokers() -> None:
    """ELR-1: a broker may have its own min.insync.replicas only without it; all have what was set for
    all, or else what they were started with."""
    cluster = Cluster(["orders:1"], release="4.0")
    configs = cluster.runtime.configs[1]
    assert configs.text(MIN_ISR) == ("1", ConfigSource.DEFAULT)
    leader = cluster.partition().leader
    alter(cluster, ResourceType.BROKER, str(leader), MIN_ISR, "2")
    own = cluster.runtime.configs[leader]
    assert own.text(MIN_ISR) == ("2", ConfigSource.DYNAMIC_BROKER)
    cluster.do(UpdateFeature(ELIGIBLE, 1))
    assert own.text(MIN_ISR) == configs.text(MIN_ISR) == ("1", ConfigSource.DYNAMIC_DEFAULT_BROKER)
    cluster.do(UpdateFeature(ELIGIBLE, 0))
    alter(cluster, ResourceType.BROKER, "", MIN_ISR, None, DELETE)
    assert configs.text(MIN_ISR) == ("1", ConfigSource.DEFAULT)
    alter(cluster, ResourceType.BROKER, "", MIN_ISR, "3")
    cluster.do(UpdateFeature(ELIGIBLE, 1))
    assert configs.text(MIN_ISR) == ("3", ConfigSource.DYNAMIC_DEFAULT_BROKER)
