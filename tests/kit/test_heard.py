"""`heard=True`, the barrier that proves less than `acted=True`: every member has sent a heartbeat
since it was told what it has."""

from __future__ import annotations

import pytest

from coordinator import Emulator
from coordinator.kit.waiting import WaitTimeoutError

CONSUMER_GROUPS = {
    "group.consumer.min.heartbeat.interval.ms": "10",
    "group.consumer.heartbeat.interval.ms": "50",
    "group.consumer.assignment.interval.ms": "0",
}


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_member_whose_heartbeats_do_not_come_is_named(protocol: str) -> None:
    api, nth = (
        ("Heartbeat", 1) if protocol == "classic" else ("ConsumerGroupHeartbeat", 2)
    )  # the first one joins
    with Emulator({"orders": 2}, remember=10_000, seed=5, config=CONSUMER_GROUPS) as kafka:
        group = kafka.group("g")
        held = kafka.hold(api, group="g", nth=nth)
        with group.peer(["orders"], protocol=protocol):
            group.wait(state="Stable", members=1, assigned="all")
            with pytest.raises(
                WaitTimeoutError,
                match="has sent no heartbeat since it was assigned orders 0-1",
            ):
                group.wait(heard=True, timeout=0.2)
            held.remove()
            assert group.wait(state="Stable", heard=True).members[0].heard


def test_after_a_rebalance_everybody_has_to_be_heard_anew() -> None:
    with Emulator({"orders": 2}, remember=10_000, seed=5) as kafka:
        group = kafka.group("g")
        with group.peer(["orders"]), group.peer(["orders"]):
            before = group.wait(state="Stable", members=2, heard=True)
            held = kafka.hold("Heartbeat", group="g", generation=before.generation + 1)
            group.rebalance()
            seen = group.wait(state="Stable", members=2, generation_above=before.generation)
            assert seen.generation == before.generation + 1
            held.wait_hit(2)
            with pytest.raises(
                WaitTimeoutError, match=r"(?s)has sent no heartbeat .* has sent no heartbeat"
            ):
                group.wait(heard=True, timeout=0.2)
            held.remove()
            assert all(member.heard for member in group.wait(state="Stable", heard=True).members)


def test_without_members_nobody_is_heard() -> None:
    with (
        Emulator({"orders": 2}) as kafka,
        pytest.raises(WaitTimeoutError, match="there is no member that could send a heartbeat"),
    ):
        kafka.group("g").wait(heard=True, timeout=0)
