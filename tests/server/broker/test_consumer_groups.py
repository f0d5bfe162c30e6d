"""Consumer groups as a broker serves them: configuration, features, user assignors, and the
protocols that are not served."""

from __future__ import annotations

import pytest

from coordinator.base.errors import ErrorCode
from coordinator.server.environments.consumer import environment
from coordinator.server.settings.broker_configs import BrokerConfigs, ConfigError
from coordinator.wire.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from coordinator.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from coordinator.wire.messages.streams_groups import StreamsGroupDescribeRequest
from coordinator.wire.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from tests.server.broker.driver import Client, Driver

HELLO = ConsumerGroupHeartbeatRequest(
    group_id="g",
    member_id="m",
    rebalance_timeout_ms=1_000,
    subscribed_topic_names=["t1"],
    topic_partitions=[],
)


class FirstTakesAll:
    """A user's assignor: the first member gets everything it subscribes to."""

    name = "first-takes-all"

    def assign(self, spec: object) -> dict[str, dict[bytes, tuple[int, ...]]]:
        members, partitions = spec.members, spec.partitions  # type: ignore[attr-defined]
        first = min(members)
        return {first: {topic: tuple(range(partitions[topic])) for topic in members[first].topics}}


def level(client: Client, name: str, to: int, kind: int) -> int:
    """Set a feature; the error."""
    update = FeatureUpdateKey(feature=name, max_version_level=to, upgrade_type=kind)
    return int(client.ask(UpdateFeaturesRequest(feature_updates=[update]), 1).error_code)  # type: ignore[attr-defined]


def test_group_version_0_switches_consumer_groups_off() -> None:
    """K8-CFG-2: the groups are there when it is on again."""
    client = Driver(["t1:3"]).client()
    assert client.ask(HELLO, 1).member_epoch == 2  # type: ignore[attr-defined]
    assert level(client, "group.version", 0, 1) == ErrorCode.INVALID_UPDATE_VERSION
    assert level(client, "group.version", 0, 2) == ErrorCode.NONE
    assert client.ask(HELLO, 1).error_code == ErrorCode.UNSUPPORTED_VERSION  # type: ignore[attr-defined]
    (row,) = client.ask(ConsumerGroupDescribeRequest(group_ids=["g"]), 1).groups  # type: ignore[attr-defined]
    assert row.error_code == ErrorCode.UNSUPPORTED_VERSION
    assert level(client, "group.version", 1, 1) == ErrorCode.NONE
    assert client.ask(HELLO, 1).member_epoch == 2  # type: ignore[attr-defined]


def test_without_the_protocol_consumer_groups_are_not_served() -> None:
    """K8-CFG-2."""
    client = Driver(["t1:3"], {"group.coordinator.rebalance.protocols": "classic"}).client()
    assert client.ask(HELLO, 1).error_code == ErrorCode.UNSUPPORTED_VERSION  # type: ignore[attr-defined]


def test_streams_groups_are_refused_at_once() -> None:
    client = Driver().client()
    rows = client.ask(StreamsGroupDescribeRequest(group_ids=["g", "h"]), 0).groups  # type: ignore[attr-defined]
    assert [(row.group_id, row.error_code) for row in rows] == [("g", 35), ("h", 35)]


def test_a_users_assignor() -> None:
    driver = Driver(["t1:3"], {"group.consumer.assignors": f"range,{__name__}:FirstTakesAll"})
    client = driver.client()
    client.ask(HELLO, 1)
    other = ConsumerGroupHeartbeatRequest(
        group_id="g",
        member_id="a",
        rebalance_timeout_ms=1_000,
        subscribed_topic_names=["t1"],
        topic_partitions=[],
        server_assignor="first-takes-all",
    )
    driver.pass_time(1_000)
    client.ask(other, 1)
    (row,) = client.ask(ConsumerGroupDescribeRequest(group_ids=["g"]), 1).groups  # type: ignore[attr-defined]
    assert row.assignor_name == "first-takes-all"
    targets = {
        member.member_id: [of.partitions for of in member.target_assignment.topic_partitions]
        for member in row.members
    }
    assert targets == {"a": [[0, 1, 2]], "m": []}


@pytest.mark.parametrize(
    ("config", "complaint"),
    [
        (
            {"group.consumer.assignors": "sticky"},
            "uniform and range are built in; give others as module:Class",
        ),
        ({"group.consumer.assignors": "no.such.module:X"}, "ModuleNotFoundError"),
        ({"group.consumer.assignors": "json:loads"}, "TypeError"),
        (
            {"group.consumer.session.timeout.ms": "1000"},
            "group.consumer.min.session.timeout.ms=45000 must not be above",
        ),
        (
            {"group.consumer.heartbeat.interval.ms": "16000"},
            "must not be above group.consumer.max.heartbeat.interval.ms",
        ),
        ({"group.consumer.regex.refresh.interval.ms": "9999"}, "at least 10000"),
    ],
)
def test_wrong_options_are_told_at_the_start(config: dict[str, str], complaint: str) -> None:
    """K8-CFG-1."""
    with pytest.raises(ConfigError) as refused:
        cluster = Driver().broker.cluster
        environment(cluster, BrokerConfigs(config))
    assert complaint in str(refused.value)


def test_a_heartbeat_that_says_nothing_new_is_answered_as_the_first_was() -> None:
    """Its bytes are kept: in each version they are those of the same answer, and those of the
    member's epoch."""
    client = Driver(["t1:3"], {"group.consumer.assignment.interval.ms": "0"}).client()
    epoch = client.ask(HELLO, 1).member_epoch  # type: ignore[attr-defined]
    for version in (1, 0, 1, 0):
        told = client.ask(
            ConsumerGroupHeartbeatRequest(group_id="g", member_id="m", member_epoch=epoch), version
        )
        assert told == ConsumerGroupHeartbeatResponse(
            member_id="m", member_epoch=epoch, heartbeat_interval_ms=5_000
        )
    client.ask(
        ConsumerGroupHeartbeatRequest(
            group_id="g", member_id="m", member_epoch=epoch, subscribed_topic_names=["t2"]
        ),
        1,
    )
    client.ask(
        ConsumerGroupHeartbeatRequest(
            group_id="g", member_id="m", member_epoch=epoch, topic_partitions=[]
        ),
        1,
    )
    told = client.ask(
        ConsumerGroupHeartbeatRequest(group_id="g", member_id="m", member_epoch=epoch + 1), 1
    )
    assert told.member_epoch == epoch + 1  # type: ignore[attr-defined]
