"""A reset as the next test finds it: no simulated member is left that would join again."""

from __future__ import annotations

import asyncio

import pytest

from coordinator import Emulator
from coordinator.kit.waiting import WaitTimeoutError
from coordinator.members.live import PeerError
from coordinator.testing.virtual import virtual_kafka


def test_peers_of_each_kind_are_stopped() -> None:
    with Emulator({"orders": 4, "jobs": 2}, remember=10_000) as kafka:
        classic = kafka.peer("classic", ["orders"])
        consumer = kafka.peer("consumer", ["orders"], protocol="consumer")
        share = kafka.share_peer("workers", ["jobs"])
        classic.wait_stable()
        consumer.wait_stable()
        kafka.share_group("workers").wait(members=1)
        kafka.reset()
        assert (classic.ended, consumer.ended, share.ended) == (True, True, True)
        assert (kafka.groups(), kafka.topics()) == ([], {})
        with pytest.raises(PeerError, match="consumer-classic-1 has ended"):
            classic.wait_stable()
        classic.stop()
        share.stop()


def test_the_next_test_has_peers_with_the_same_names() -> None:
    with Emulator({"orders": 4}, remember=10_000) as kafka:
        kafka.peer("g", ["orders"]).wait_stable()
        kafka.reset(keep_topics=["orders"])
        with kafka.peer("g", ["orders"]) as again:
            again.wait_stable(members=1)
            assert again.client_id == "consumer-g-1"


def test_peers_that_failed_before_are_not_named_after_it() -> None:
    with Emulator({"orders": 4}, remember=10_000) as kafka:
        kafka.fail("JoinGroup", "GROUP_AUTHORIZATION_FAILED", group="g", may_miss=True)
        with pytest.raises(PeerError):
            kafka.peer("g", ["orders"]).wait_stable()
        with pytest.raises(WaitTimeoutError, match="consumer-g-1"):
            kafka.group("g").wait(members=1, timeout=0)
        kafka.reset(keep_topics=["orders"])
        with pytest.raises(WaitTimeoutError) as refused:
            kafka.group("g").wait(members=1, timeout=0)
        assert "consumer-g-1" not in str(refused.value)


def test_settings_of_groups_go_with_them() -> None:
    with Emulator({"jobs": 1}) as kafka:
        kafka.share_group("workers").configure({"share.auto.offset.reset": "earliest"})
        kafka.reset(keep_topics=["jobs"])
        assert kafka.run(lambda: dict(kafka.broker.cluster.group_configs)) == {}


@pytest.mark.parametrize("protocol", ["classic", "consumer", "share"])
def test_nothing_that_is_on_its_way_makes_a_group(protocol: str) -> None:
    """Whatever a peer has just sent when it is stopped: a join, a heartbeat, a question about a
    topic that Kafka would make."""

    async def left_after(ms: int) -> tuple[list[str], dict[str, int]]:
        async with virtual_kafka({"orders": 2}) as kafka:
            if protocol == "share":
                kafka.share_peer("g", ["orders"])
            else:
                kafka.peer("g", ["orders"], protocol=protocol)
            await asyncio.sleep(ms / 1000)
            kafka.reset()
            await asyncio.sleep(60)
            return kafka.groups(), kafka.topics()

    for ms in range(40):
        assert asyncio.run(left_after(ms)) == ([], {}), ms
