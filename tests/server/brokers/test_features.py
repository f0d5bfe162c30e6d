"""Features of a cluster (KIP-584): finalised by the controller, and every broker acts on them."""

from __future__ import annotations

from coordinator.base.errors import ErrorCode
from coordinator.kit.cluster import CutLink
from coordinator.wire.messages.api_versions import ApiVersionsRequest
from coordinator.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from coordinator.wire.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from tests.server.broker.driver import Client
from tests.server.brokers.desk import Cluster

HELLO = ConsumerGroupHeartbeatRequest(
    group_id="g",
    member_id="m",
    rebalance_timeout_ms=1_000,
    subscribed_topic_names=["orders"],
    topic_partitions=[],
)


def update(client: Client, level: int) -> int:
    request = UpdateFeaturesRequest(
        feature_updates=[
            FeatureUpdateKey(feature="group.version", max_version_level=level, upgrade_type=2)
        ]
    )
    return int(client.ask(request, 1).error_code)  # type: ignore[attr-defined]


def finalised(cluster: Cluster) -> list[int]:
    """The level of group.version that each broker tells; 0: it does not."""
    levels = []
    for node in (1, 2, 3):
        answer = cluster.client(node).ask(
            ApiVersionsRequest(client_software_name="a", client_software_version="1"), 3
        )
        found = {row.name: row.max_version_level for row in answer.finalized_features}  # type: ignore[attr-defined]
        levels.append(found.get("group.version", 0))
    return levels


def test_every_broker_learns_of_a_level_whichever_was_asked() -> None:
    """K8-CFG-2: 35 from all three, as from the one that was asked."""
    cluster = Cluster()
    assert finalised(cluster) == [1, 1, 1]
    assert update(cluster.client(2), 0) == ErrorCode.NONE
    assert finalised(cluster) == [0, 0, 0]
    errors = {cluster.client(node).ask(HELLO, 1).error_code for node in (1, 2, 3)}  # type: ignore[attr-defined]
    assert errors == {ErrorCode.UNSUPPORTED_VERSION}
    assert cluster.logged("FeatureChanged")[0]["level"] == 0


def test_brokers_learn_of_a_level_when_the_metadata_reach_them() -> None:
    cluster = Cluster(metadata_delay_ms=500)
    cluster.pass_time(1_000)
    assert update(cluster.client(3), 0) == ErrorCode.NONE
    assert finalised(cluster) == [1, 1, 1]
    cluster.pass_time(500)
    assert finalised(cluster) == [0, 0, 0]


def test_who_does_not_reach_the_controller_changes_nothing() -> None:
    cluster = Cluster()
    cut, other = [node for node in (1, 2, 3) if node != cluster.truth.controller_id]
    for node in (other, cluster.truth.controller_id):
        cluster.do(CutLink(cut, node))
    assert update(cluster.client(cut), 0) == ErrorCode.REQUEST_TIMED_OUT
    assert cluster.truth.features["group.version"] == 1
