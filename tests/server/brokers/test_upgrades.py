"""Brokers of one cluster that are of different releases: what each advertises and does, what the
controller allows, and which release does not start."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator.base.errors import ErrorCode
from coordinator.kit.cluster import MoveCoordinator, StartBroker, StopBroker, UpdateFeature
from coordinator.server.cluster_runtime import ClusterError
from coordinator.wire.messages.api_versions import ApiVersionsRequest
from coordinator.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from coordinator.wire.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from tests.server.brokers.desk import Cluster

TXN_OFFSET_COMMIT, UNREGISTER_CONTROLLER = 28, 94


def roll(cluster: Cluster, node: int, version: str = "4.4") -> None:
    """Stop a broker and start it as a release."""
    cluster.do(StopBroker(node, "controlled"))
    cluster.do(StartBroker(node, version))


def told(cluster: Cluster, node: int) -> Any:
    return cluster.client(node).ask(
        ApiVersionsRequest(client_software_name="a", client_software_version="1"), 4
    )


def highest(cluster: Cluster, node: int, key: int) -> int | None:
    """The highest version of an API that a broker advertises."""
    rows = {row.api_key: row.max_version for row in told(cluster, node).api_keys}
    return rows.get(key)


def finalized(cluster: Cluster, node: int) -> dict[str, int]:
    return {row.name: row.max_version_level for row in told(cluster, node).finalized_features}


def update(cluster: Cluster, node: int, feature: str, level: int, kind: int = 1) -> tuple[int, str]:
    request = UpdateFeaturesRequest(
        feature_updates=[
            FeatureUpdateKey(feature=feature, max_version_level=level, upgrade_type=kind)
        ]
    )
    answer: Any = cluster.client(node).ask(request, 2)
    return answer.error_code, (answer.error_message or "").rpartition("error: ")[2]


def heartbeat(cluster: Cluster, node: int, member: str, group: str = "g", *, epoch: int = 0) -> Any:
    return cluster.client(node).ask(
        ConsumerGroupHeartbeatRequest(
            group_id=group,
            member_id=member,
            member_epoch=epoch,
            rebalance_timeout_ms=60_000,
            subscribed_topic_names=["orders"],
            topic_partitions=[],
        ),
        1,
    )


def test_each_broker_advertises_what_its_release_has() -> None:
    """UPG-1."""
    cluster = Cluster(release="4.3")
    roll(cluster, 3)
    assert [highest(cluster, node, TXN_OFFSET_COMMIT) for node in (1, 2, 3)] == [5, 5, 6]
    assert cluster.truth.controller_id == 1
    roll(cluster, 1, "4.3")
    assert [highest(cluster, node, TXN_OFFSET_COMMIT) for node in (1, 2, 3)] == [5, 5, 6]


def test_what_goes_to_the_controller_is_advertised_as_far_as_both_have_it() -> None:
    """UPG-1: UnregisterController, which 4.4 has, with a controller of 4.3, then of 4.4."""
    cluster = Cluster(release="4.3")
    roll(cluster, 3)
    assert highest(cluster, 3, UNREGISTER_CONTROLLER) is None
    roll(cluster, 1)
    roll(cluster, 2)
    assert cluster.truth.controller_id in (1, 2, 3)
    assert [highest(cluster, node, UNREGISTER_CONTROLLER) for node in (1, 2, 3)] == [0, 0, 0]


def test_features_stay_finalised_until_they_are_raised() -> None:
    """UPG-4."""
    cluster = Cluster(release="4.3")
    before = finalized(cluster, 1)
    assert (before["metadata.version"], before["share.version"]) == (30, 1)
    for node in (1, 2, 3):
        roll(cluster, node)
    assert [finalized(cluster, node) for node in (1, 2, 3)] == [before] * 3
    assert cluster.do(UpdateFeature("metadata.version", 33)) is None
    assert cluster.do(UpdateFeature("share.version", 2)) == UpdateFeature("share.version", 1)
    after = finalized(cluster, 2)
    assert (after["metadata.version"], after["share.version"]) == (33, 2)


def test_a_level_is_one_that_the_controller_and_every_broker_has() -> None:
    """UPG-2."""
    cluster = Cluster(release="4.3")
    roll(cluster, 1)
    controller = cluster.truth.controller_id
    assert controller in (2, 3)
    only = f"Local controller {controller} only supports versions 7-30"
    error, words = update(cluster, 1, "metadata.version", 33)
    assert error == ErrorCode.INVALID_UPDATE_VERSION
    assert words == f"Invalid update version 33 for feature metadata.version. {only}"
    roll(cluster, controller)
    assert cluster.truth.controller_id == 1
    [behind] = {2, 3} - {controller}
    error, words = update(cluster, behind, "share.version", 2)
    assert error == ErrorCode.INVALID_UPDATE_VERSION
    assert words.endswith(f"share.version. Broker {behind} only supports versions 0-1")
    with pytest.raises(ClusterError, match=f"Broker {behind} only supports versions 7-30"):
        cluster.do(UpdateFeature("metadata.version", 33))
    roll(cluster, behind)
    assert update(cluster, 1, "share.version", 2)[0] == ErrorCode.NONE


def test_a_release_that_lacks_a_finalised_level_does_not_start() -> None:
    """UPG-3."""
    cluster = Cluster()
    cluster.do(StopBroker(2))
    with pytest.raises(ClusterError, match=r"No MetadataVersion with feature level 33 .*has 7-30"):
        cluster.do(StartBroker(2, "4.3"))
    with pytest.raises(ClusterError, match=r"'9\.9': there is no such release here; give one of"):
        cluster.do(StartBroker(2, "9.9"))
    with pytest.raises(ClusterError, match="broker 2 is stopped, not running"):
        cluster.do(StopBroker(2, "controlled"))
    cluster.do(StartBroker(2, "4.4.0"))
    assert highest(cluster, 2, TXN_OFFSET_COMMIT) == 6


def test_a_feature_that_was_raised_bars_the_way_back() -> None:
    """UPG-3: in the words of its controller; also when it was lowered again."""
    cluster = Cluster(release="4.3")
    for node in (1, 2, 3):
        roll(cluster, node)
    cluster.do(UpdateFeature("share.version", 2))
    cluster.do(StopBroker(2))
    words = "name='share.version', featureLevel=2.*but this controller only supports versions 0-1"
    with pytest.raises(ClusterError, match=words):
        cluster.do(StartBroker(2, "4.3"))
    cluster.do(UpdateFeature("share.version", 1))
    with pytest.raises(ClusterError, match=words):
        cluster.do(StartBroker(2, "4.3"))


def test_a_release_that_does_not_know_a_setting_does_not_start() -> None:
    cluster = Cluster(release="4.3")
    roll(cluster, 2)
    cluster.do(StopBroker(2))
    cluster.runtime.configs[2].set("group.consumer.assignor.offload.enable", "false")
    with pytest.raises(
        ClusterError, match=r"offload\.enable is no broker configuration of Kafka 4\.3\.1"
    ):
        cluster.do(StartBroker(2, "4.3"))
    cluster.do(StartBroker(2))
    assert highest(cluster, 2, TXN_OFFSET_COMMIT) == 6


def test_a_paused_broker_goes_on_as_what_it_is() -> None:
    cluster = Cluster(release="4.3")
    cluster.do(StopBroker(2, "pause"))
    with pytest.raises(ClusterError, match="broker 2 is paused, and its process goes on"):
        cluster.do(StartBroker(2, "4.4"))
    assert cluster.do(StartBroker(2)) == StopBroker(2, "pause")


def test_a_group_behaves_as_the_release_of_its_coordinator_does() -> None:
    """K8-HB-43-1: of 4.2 a new group's first member is at epoch 1, of 4.3 at 2."""
    cluster = Cluster(release="4.2")
    roll(cluster, 2, "4.3")
    epochs = {}
    for group, node in (("old", 3), ("new", 2)):
        cluster.do(MoveCoordinator(group, node))
        epochs[group] = heartbeat(cluster, node, "m", group).member_epoch
    assert epochs == {"old": 1, "new": 2}


def test_a_group_lives_through_an_upgrade_of_its_coordinator() -> None:
    """Its members stay what they are: the new release loads what the old one wrote."""
    cluster = Cluster(release="4.3")
    cluster.do(MoveCoordinator("g", 2))
    epoch = heartbeat(cluster, 2, "m").member_epoch
    roll(cluster, 2)
    cluster.do(MoveCoordinator("g", 2))
    answer = heartbeat(cluster, 2, "m", epoch=epoch)
    assert (answer.error_code, answer.member_epoch) == (ErrorCode.NONE, epoch)


def test_the_line_of_a_broker_that_starts_says_its_release() -> None:
    cluster = Cluster(release="4.3")
    assert {line["kafka_version"] for line in cluster.logged("BrokerRegistered")} == {"4.3.1"}
    roll(cluster, 2)
    assert cluster.logged("BrokerRegistered")[-1]["kafka_version"] == "4.4.0"
    assert cluster.logged("StartBroker")[-1]["kafka_version"] == "4.4.0"
    roll(cluster, 3, "4.3")
    cluster.do(StopBroker(3))
    cluster.do(StartBroker(3))
    assert cluster.logged("BrokerRegistered")[-1]["kafka_version"] == "4.3.1"
    assert cluster.logged("StartBroker")[-1]["kafka_version"] is None
