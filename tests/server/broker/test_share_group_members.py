"""Share groups as a broker serves them: features, configuration, the way of what their share
coordinator is asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from coordinator.server.environments.share import environment
from coordinator.server.settings.broker_configs import BrokerConfigs, ConfigError
from coordinator.wire.messages.share_group_describe import ShareGroupDescribeRequest
from coordinator.wire.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from tests.server.broker.driver import Client, Driver
from tests.server.broker.test_wire_log import LoggedDriver


class Everything:
    """A user's assignor: every member gets all that may be given."""

    name = "everything"

    def assign(self, spec: Any) -> dict[str, dict[bytes, tuple[int, ...]]]:
        return {
            member_id: {topic: tuple(spec.assignable.get(topic, ())) for topic in member.topics}
            for member_id, member in spec.members.items()
        }


def beat(client: Client, member: str, epoch: int, *names: str) -> Any:
    """One heartbeat."""
    request = ShareGroupHeartbeatRequest(
        group_id="g",
        member_id=member,
        member_epoch=epoch,
        subscribed_topic_names=list(names) or None,
    )
    return client.ask(request, 1)


def given(answer: Any) -> list[list[int]]:
    """The partitions in an answer."""
    return [of.partitions for of in answer.assignment.topic_partitions]


def test_share_version_0_switches_share_groups_off() -> None:
    driver = Driver(["jobs:2"])
    driver.broker.cluster.set_feature("share.version", 0)
    client = driver.client()
    assert beat(client, "a", 0, "jobs").error_code == 35
    [row] = client.ask(ShareGroupDescribeRequest(group_ids=["g"]), 1).groups  # type: ignore[attr-defined]
    assert (row.group_id, row.error_code) == ("g", 35)


@pytest.mark.parametrize("make", [lambda: Driver(["orders:2"]), LoggedDriver])
def test_a_member_joins_is_given_partitions_stays_and_leaves(make: Callable[[], Driver]) -> None:
    """SH-HB-2: the share coordinator answers after the join was answered."""
    driver = make()
    client = driver.client()
    joined = beat(client, "a", 0, "orders")
    assert (joined.member_epoch, given(joined)) == (2, [])
    driver.pass_time(1_000)  # the assignment interval
    answer = beat(client, "a", 2)
    assert (answer.member_epoch, given(answer), answer.heartbeat_interval_ms) == (
        3,
        [[0, 1]],
        5_000,
    )
    for _ in range(2):  # the short way
        quiet = beat(client, "a", 3)
        assert (quiet.member_epoch, quiet.assignment) == (3, None)
    [row] = client.ask(ShareGroupDescribeRequest(group_ids=["g"]), 1).groups  # type: ignore[attr-defined]
    assert (row.group_state, row.group_epoch, row.members[0].client_id) == ("Stable", 3, "test")
    assert beat(client, "a", -1).member_epoch == -1
    driver.pass_time(60_000)
    assert [str(group.state) for group in driver.broker.coordinator.groups.values()] == ["Empty"]


def test_a_silent_member_goes() -> None:
    """SH-HB-4, SH-CFG-1: after the group's own session timeout."""
    driver = Driver(["jobs:2"], {"group.share.min.session.timeout.ms": "6000"})
    client = driver.client()
    driver.broker.cluster.group_configs["g"] = {"share.session.timeout.ms": "7000"}
    beat(client, "a", 0, "jobs")
    driver.pass_time(6_999)
    assert list(driver.broker.coordinator.groups["g"].members) == ["a"]
    driver.pass_time(1)
    assert list(driver.broker.coordinator.groups["g"].members) == []


def test_a_users_assignor() -> None:
    driver = Driver(
        ["jobs:2"],
        {
            "group.share.assignors": f"{__name__}:Everything",
            "group.share.assignment.interval.ms": "0",
        },
    )
    client = driver.client()
    beat(client, "a", 0, "jobs")
    assert given(beat(client, "a", 2)) == given(beat(client, "b", 0, "jobs")) == [[0, 1]]


@pytest.mark.parametrize(
    ("config", "complaint"),
    [
        (
            {"group.share.assignors": "uniform"},
            "group.share.assignors=uniform: simple is built in; give others as module:Class",
        ),
        (
            {"group.share.assignors": "nowhere:Nothing"},
            "group.share.assignors=nowhere:Nothing: ModuleNotFoundError",
        ),
    ],
)
def test_assignors_that_cannot_be_had(config: dict[str, str], complaint: str) -> None:
    driver = Driver()
    with pytest.raises(ConfigError, match=f"^{complaint}"):
        environment(driver.broker.cluster, BrokerConfigs(config))


def test_times_out_of_their_own_bounds() -> None:
    with pytest.raises(
        ConfigError,
        match=r"^group\.share\.heartbeat\.interval\.ms=50000 must not be above "
        r"group\.share\.max\.heartbeat\.interval\.ms=15000",
    ):
        BrokerConfigs({"group.share.heartbeat.interval.ms": "50000"})
