"""Waits that cannot come about are refused at once; those that end in vain say what stood in the
way."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from coordinator import Emulator
from coordinator.base.installing import see_agents
from coordinator.kit.injection.fault_board import FaultHandle
from coordinator.kit.waiting import WaitTimeoutError
from coordinator.kit.waits.expectations import ExpectationError, GroupExpectation
from coordinator.members.live import PeerError
from coordinator.testing.virtual import virtual_kafka

_STRATEGY = "partition.assignment.strategy"
PATIENCE_S = 120.0
"""For each thing that is awaited, on a busy machine."""


@pytest.fixture
def kafka() -> Iterator[Emulator]:
    with Emulator({"orders": 4}, remember=10_000, seed=5, auto_create_topics=False) as running:
        yield running


@pytest.fixture
def cluster() -> Iterator[Emulator]:
    settings = {"broker.session.timeout.ms": 300, "default.replication.factor": 1}
    with Emulator({"orders": 3}, settings, brokers=3, remember=10_000, seed=3) as running:
        yield running


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"state": "PreparingRebalance", "assigned": "all"}, "is not in force"),
        ({"state": "CompletingRebalance", "assigned": "all"}, "is not in force"),
        ({"state": "Reconciling", "assigned": "all"}, "is not in force"),
        ({"state": "Assigning", "assigned": {"a": ["orders-0"]}}, "is not in force"),
        ({"state": "CompletingRebalance", "heard": True}, "this needs a Stable group"),
        ({"state": "PreparingRebalance", "heard": True}, "this needs a Stable group"),
        ({"state": "Reconciling", "heard": True}, "this needs a Stable group"),
        ({"state": "PreparingRebalance", "members": 0}, "is Empty, not PreparingRebalance"),
        (
            {"assigned": {"a": ["orders-0"], "b": [("orders", 0)]}},
            "orders-0 is expected at a and at b, but a partition has one owner",
        ),
        (
            {"members": 1, "assigned": {"a": ["orders-0"], "b": ["orders-1"]}},
            r"assigned names 2 members \(a, b\), but members is 1",
        ),
    ],
)
def test_what_cannot_be_is_refused_at_once(words: dict[str, Any], said: str) -> None:
    with pytest.raises(ExpectationError, match=said):
        GroupExpectation(**words)


@pytest.mark.parametrize(
    "words",
    [
        {"state": "Stable", "assigned": "all", "heard": True},
        {"state": "PreparingRebalance", "members": 2},
        {"members": 2, "assigned": {"a": ["orders-0"], "b": ["orders-1"]}},
        {"members": 2, "assigned": {"a": ["orders-0", "orders-0"]}},
    ],
)
def test_what_can_be_is_not(words: dict[str, Any]) -> None:
    GroupExpectation(**words)


class TestLines:
    def test_one_that_had_come_before_is_told(self, kafka: Emulator) -> None:
        with kafka.peer("billing", ["orders"]) as peer:
            peer.wait_stable()
        with pytest.raises(
            WaitTimeoutError, match=r"it had come before as line .* give since="
        ) as told:
            kafka.wait_for("MemberRemoved", group="billing", timeout=0.05)
        (line,) = kafka.events("MemberRemoved")
        assert f"line {line['seq']} at {line['at_ms']} ms" in str(told.value)

    def test_one_that_never_came_is_not(self, kafka: Emulator) -> None:
        with pytest.raises(WaitTimeoutError) as told:
            kafka.wait_for("MemberRemoved", group="billing", timeout=0.05)
        assert "before" not in str(told.value)
        assert str(told.value).endswith(f"\n({see_agents()})")


class TestPartitions:
    def test_lag_of_a_partition_that_another_broker_holds_is_its_leaders(
        self, cluster: Emulator
    ) -> None:
        group = cluster.group("billing")
        group.commit({("orders", index): 0 for index in range(3)})
        cluster.produce("orders", ["x"] * 9)
        assert group.lag == {("orders", index): 3 for index in range(3)}
        with pytest.raises(WaitTimeoutError, match="it is 9 records behind"):
            group.wait(lag=0, timeout=0.05)

    def test_no_leader(self, cluster: Emulator) -> None:
        group = cluster.group("billing")
        group.commit({("orders", index): 0 for index in range(3)})
        cluster.produce("orders", ["x"] * 9)
        led = cluster.run(
            lambda: {
                p.leader: p.index
                for p in cluster.brokers[1].controller.cluster.topics["orders"].partitions
            }
        )
        away = next(node for node in led if node != group.coordinator)
        with (
            cluster.stop_broker(away, how="crash"),
            pytest.raises(WaitTimeoutError) as told,
        ):
            group.wait(lag=0, timeout=1)
        assert f"orders-{led[away]} has no leader that runs" in str(told.value)
        assert f"replicas: {away}" in str(told.value)

    def test_a_leader_that_is_cut_off(self, cluster: Emulator) -> None:
        with cluster.peer("billing", ["orders"], config={"client.id": "app"}) as peer:
            peer.wait_stable()
            group = cluster.group("billing")
            group.wait(assigned="all", members=1)
            leader = cluster.run(
                lambda: cluster.brokers[1].controller.cluster.topics["orders"].partitions[0].leader
            )
            with cluster.cut_client("app", leader):
                cluster.produce("orders", ["x"] * 3)
                with pytest.raises(
                    WaitTimeoutError,
                    match=f"orders-0: client app is cut off from its leader, broker {leader}",
                ):
                    group.wait(lag=0, timeout=0.05)

    def test_a_group_without_a_coordinator(self, cluster: Emulator) -> None:
        group = cluster.group("billing")
        group.commit({("orders", 0): 0})
        for node in (1, 2, 3):
            cluster.stop_broker(node, how="pause")
        with pytest.raises(WaitTimeoutError, match="no broker runs"):
            group.wait(state="Stable", timeout=0.05)


def poll_until(consumer: Any, seen: FaultHandle) -> None:
    """Poll until the emulator has seen a request."""
    end = time.monotonic() + PATIENCE_S
    while not seen.hits:
        assert time.monotonic() < end, f"{seen.fault} was never seen"
        consumer.poll(timeout_ms=100)


class TestClients:
    def test_who_names_another_group_is_told(self, kafka: Emulator) -> None:
        library = pytest.importorskip("kafka")
        consumer = library.KafkaConsumer(
            "orders", bootstrap_servers=kafka.bootstrap_servers, group_id="biling", client_id="app"
        )
        try:
            future = kafka.group("billing").begin_wait(GroupExpectation(state="Stable"))
            poll_until(consumer, kafka.observe("JoinGroup", group="biling"))
            told = str(
                kafka.group("billing").timed_out(GroupExpectation(state="Stable"), future, 1)
            )
        finally:
            consumer.close()
        assert "group 'billing' does not exist" in told
        assert "client 'app' asked for" in told
        assert "it named group 'biling'" in told
        assert "JoinGroup" in told

    def test_who_asks_for_a_topic_that_there_is_not_is_told(self, kafka: Emulator) -> None:
        library = pytest.importorskip("kafka")
        consumer = library.KafkaConsumer(
            "ordrs", bootstrap_servers=kafka.bootstrap_servers, group_id=None, client_id="app"
        )
        try:
            future = kafka.group("billing").begin_wait(GroupExpectation(state="Stable"))
            poll_until(consumer, kafka.observe("Metadata", topic="ordrs"))
            told = str(
                kafka.group("billing").timed_out(GroupExpectation(state="Stable"), future, 1)
            )
        finally:
            consumer.close()
        assert "it asked for 'ordrs', which does not exist" in told

    def test_nobody(self, kafka: Emulator) -> None:
        with pytest.raises(WaitTimeoutError, match="no client is connected"):
            kafka.group("billing").wait(state="Stable", timeout=0.02)

    def test_nothing_is_left_that_looks_on(self, kafka: Emulator) -> None:
        with pytest.raises(WaitTimeoutError):
            kafka.group("billing").wait(state="Stable", timeout=0.02)
        future = kafka.group("billing").begin_wait(GroupExpectation(state="Stable"))
        with kafka.peer("billing", ["orders"]) as peer:
            peer.wait_stable()
            future.result(30)
        assert kafka.run(lambda: list(kafka.broker.interceptors)) == []
        assert kafka._session.onlookers == {}

    def test_a_peer_that_has_ended_is_named_with_its_reason(self, kafka: Emulator) -> None:
        config = {_STRATEGY: "sticky", "client.id": "app"}
        with kafka.peer("billing", ["orders"], config=config) as first:
            first.wait_stable()
            settings = {_STRATEGY: "range", "client.id": "late"}
            late = kafka.peer("billing", ["orders"], config=settings)
            with pytest.raises(PeerError):
                late.wait_stable(members=2)
            with pytest.raises(WaitTimeoutError) as told:
                kafka.group("billing").wait(members=2, timeout=0.05)
        assert "peer late has ended: " in str(told.value)
        assert "the peer offers range; in group 'billing' app offers sticky" in str(told.value)


async def test_virtual_time_names_its_limit() -> None:
    async with virtual_kafka({"orders": 1}) as kafka:
        with pytest.raises(
            TimeoutError, match=r"after 60 virtual seconds; until\(\.\.\., timeout_s="
        ):
            await kafka.until(lambda: False)


@pytest.mark.parametrize(
    ("protocol", "name", "said"),
    [
        ("consumer", "MemberRemoved", "the equivalent is ConsumerMemberRemoved"),
        ("consumer", "MemberJoined", "the equivalent is ConsumerMemberSubscribed"),
        ("consumer", "GenerationStored", "the equivalent is TargetAssigned"),
        ("consumer", "ShareMemberRemoved", "the equivalent is ConsumerMemberRemoved"),
        ("consumer", "MemberPending", "which has nothing similar"),
        ("share", "MemberRemoved", "the equivalent is ShareMemberRemoved"),
        ("share", "ConsumerMemberReconciled", "the equivalent is ShareMemberReconciled"),
    ],
)
def test_a_name_of_another_kind_of_group_is_refused_at_once(
    kafka: Emulator, protocol: str, name: str, said: str
) -> None:
    if protocol == "share":
        member = kafka.share_peer("billing", ["orders"])
        kafka.share_group("billing").wait(members=1)
    else:
        member = kafka.peer("billing", ["orders"], protocol=protocol)
        kafka.group("billing").wait(members=1)
    with member:
        with pytest.raises(
            ExpectationError, match=f"group 'billing': {name} never happens to .*[;,] {said}"
        ):
            kafka.wait_for(name, group="billing", timeout=PATIENCE_S)


def test_what_happens_to_a_group_is_never_refused_by_its_name(kafka: Emulator) -> None:
    """Each type that groups of a kind write is one that a wait takes for them."""
    with (
        kafka.peer("g-classic", ["orders"]) as classic,
        kafka.peer("g-consumer", ["orders"], protocol="consumer") as consumer,
        kafka.share_peer("g-share", ["orders"]),
    ):
        classic.wait_stable()
        consumer.wait_stable()
        kafka.share_group("g-share").wait(members=1)
        lines = kafka.events(stream="group")
        for group in ("g-classic", "g-consumer", "g-share"):
            for name in {line["type"] for line in lines if line.get("group") == group}:
                assert kafka.wait_for(name, group=group, since=0, timeout=PATIENCE_S)


def test_a_wait_in_vain_in_a_classic_group_names_what_was_meant(kafka: Emulator) -> None:
    with kafka.peer("billing", ["orders"]) as member:
        member.wait_stable()
        with pytest.raises(WaitTimeoutError, match="the equivalent is MemberRemoved"):
            kafka.wait_for("ConsumerMemberRemoved", group="billing", timeout=0.01)
