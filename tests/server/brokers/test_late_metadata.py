"""A broker that has not heard yet of topics that were made or deleted: what it is asked to change
is checked by the controller."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator.kit.cluster import CutLink
from coordinator.wire.messages.find_coordinator import FindCoordinatorRequest
from coordinator.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from coordinator.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from coordinator.wire.messages.topics import (
    CreatableTopic,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
    CreateTopicsRequest,
    DeleteTopicsRequest,
    DeleteTopicState,
)
from tests.server.brokers.desk import Cluster

DELAY_MS = 500


def late() -> Cluster:
    cluster = Cluster(metadata_delay_ms=DELAY_MS)
    cluster.pass_time(2 * DELAY_MS)
    return cluster


def ask_create(cluster: Cluster, node: int, name: str = "new") -> int:
    request = CreateTopicsRequest(
        topics=[CreatableTopic(name=name, num_partitions=2, replication_factor=3)], timeout_ms=1_000
    )
    answer: Any = cluster.client(node).ask(request, 7)
    code: int = answer.topics[0].error_code
    return code


def ask_delete(cluster: Cluster, node: int, name: str = "new") -> int:
    answer: Any = cluster.client(node).ask(
        DeleteTopicsRequest(topics=[DeleteTopicState(name=name)], timeout_ms=1_000), 6
    )
    code: int = answer.responses[0].error_code
    return code


def find(cluster: Cluster, node: int, *, key_type: int = 1) -> int:
    answer: Any = cluster.client(node).ask(FindCoordinatorRequest(key="t", key_type=key_type), 3)
    code: int = answer.error_code
    return code


def test_a_topic_is_made_once() -> None:
    cluster = late()
    assert ask_create(cluster, 1) == 0
    assert ask_create(cluster, 2) == 36
    cluster.pass_time(DELAY_MS)
    assert ask_create(cluster, 3) == 36


def test_the_topic_of_transactions_is_made_once() -> None:
    """FC-3: until it is known everywhere there is no coordinator."""
    cluster = late()
    assert find(cluster, 1) == 15
    assert find(cluster, 2) == 15
    cluster.pass_time(DELAY_MS)
    assert {find(cluster, node) for node in (1, 2, 3)} == {0}


def test_who_cannot_ask_the_controller_makes_nothing() -> None:
    cluster = Cluster()
    away = next(node for node in (1, 2, 3) if node != cluster.runtime.controller.leader)
    for other in {1, 2, 3} - {away}:
        cluster.do(CutLink(away, other))
    assert find(cluster, away) == 15
    names: Any = cluster.client(away).ask(
        MetadataRequest(topics=[MetadataRequestTopic(name="auto")], allow_auto_topic_creation=True),
        9,
    )
    assert names.topics[0].error_code == 3
    assert not {"auto", "__transaction_state"} & set(cluster.truth.topics)


@pytest.mark.parametrize("known_by_broker", [False, True])
def test_a_topic_that_is_made_or_deleted_is_changed_as_the_controller_has_it(
    known_by_broker: bool,
) -> None:
    """Whether the broker believes in a topic that is gone, or has not heard of one that is
    there."""
    cluster = late()
    assert ask_create(cluster, 1) == 0
    if known_by_broker:
        cluster.pass_time(DELAY_MS)
        assert ask_delete(cluster, 1) == 0
    grow = CreatePartitionsRequest(
        topics=[CreatePartitionsTopic(name="new", count=5, assignments=None)], timeout_ms=1_000
    )
    grown: Any = cluster.client(2).ask(grow, 3)
    resource = AlterConfigsResource(
        resource_type=2,
        resource_name="new",
        configs=[AlterableConfig(name="retention.ms", config_operation=0, value="1000")],
    )
    altered: Any = cluster.client(2).ask(IncrementalAlterConfigsRequest(resources=[resource]), 1)
    deleted = ask_delete(cluster, 3)
    assert (grown.results[0].error_code, altered.responses[0].error_code, deleted) == (
        (3, 3, 3) if known_by_broker else (0, 0, 0)
    )
