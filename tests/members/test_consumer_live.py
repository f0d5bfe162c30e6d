"""`kafka.peer(..., protocol="consumer")`: members of the consumer protocol (KIP-848) on real
sockets, beside a test."""

from __future__ import annotations

import pytest

from coordinator.base.errors import ErrorCode
from coordinator.events.line import lines_of
from coordinator.history.explain.output import timeline_of
from coordinator.history.judges import Judgement, judge
from coordinator.kit.emulator.embedded import Emulator
from coordinator.members import ConsumerState, MemberConfigError
from coordinator.members.live import PeerError

FAST = {
    "group.consumer.heartbeat.interval.ms": "100",
    "group.consumer.min.heartbeat.interval.ms": "100",
    "group.consumer.assignment.interval.ms": "0",
    "group.consumer.min.assignment.interval.ms": "0",
}


def test_two_members_share_and_one_takes_over() -> None:
    """K8-CL-4: revoked by the one before the other is told; commits name the epoch; the log is
    explained and judged."""
    with Emulator({"orders": 4}, FAST, remember=10_000) as kafka:
        with kafka.peer("billing", ["orders"], protocol="consumer") as a:
            a.wait_stable(members=1)
            assert len(a.owned) == 4 and a.state is ConsumerState.STABLE and not a.is_leader
            with kafka.peer("billing", pattern="ord.*", protocol="consumer") as b:
                b.wait_stable(members=2)
                a.wait_stable(members=2)
                assert len(a.owned) == len(b.owned) == 2 and not set(a.owned) & set(b.owned)
                assert a.generation == b.generation and len(a.member_id) == 22
                b.seek(*b.owned[0], 5)
                b.wait_commit()
                assert b.fault is None and a.fault is None
            a.wait_stable(members=1)
            assert len(a.owned) == 4
            assert [call.kind for call in a.callbacks[:2]] == ["assigned", "revoked"]
        lines = kafka.events()
    assert [str(verdict) for verdict in judge(lines) if verdict.judgement is Judgement.BROKEN] == []
    assert "billing" in timeline_of(lines_of(lines)).groups


async def test_from_asynchronous_code_with_the_coordinators_assignor() -> None:
    async with Emulator({"orders": 3}, FAST) as kafka:
        config = {"group.remote.assignor": "range", "group.instance.id": "i", "client.rack": "r"}
        async with kafka.peer("billing", ["orders"], protocol="consumer", config=config) as peer:
            await peer.stable()
            assert len(peer.owned) == 3


def test_a_classic_member_and_one_of_the_consumer_protocol_share_a_group() -> None:
    """K8-MIG-1, K8-MIG-2: the group follows who is in it."""
    with Emulator({"orders": 4}, FAST) as kafka:
        with kafka.peer("billing", ["orders"], config={"heartbeat.interval.ms": 50}) as old:
            old.wait_stable(members=1)
            with kafka.peer("billing", ["orders"], protocol="consumer") as new:
                kafka.group("billing").wait(state="Stable", members=2, assigned="all", acted=True)
                assert len(old.owned) == len(new.owned) == 2
            kafka.group("billing").wait(state="Stable", members=1, assigned="all", acted=True)
            assert len(old.owned) == 4 and old.fault is None


def test_a_broken_connection_and_a_fence_are_lived_through() -> None:
    """K8-CL-3: the same member id; after a fence everything is lost and joined for anew."""
    with (
        Emulator({"orders": 2}, FAST) as kafka,
        kafka.peer("billing", ["orders"], protocol="consumer") as peer,
    ):
        name = peer.wait_stable(members=1).member_id
        kafka.group("billing").remove(name)
        kafka.group("billing").wait(state="Stable", members=1, assigned="all", acted=True)
        assert peer.member_id == name and len(peer.owned) == 2
        assert [call.kind for call in peer.callbacks] == ["assigned", "lost", "assigned"]


def test_a_broker_without_the_protocol_says_what_to_do() -> None:
    """K8-CFG-2: 35, and the member says which setting helps."""
    config = {"group.coordinator.rebalance.protocols": "classic"}
    with Emulator({"orders": 2}, config) as kafka:
        peer = kafka.peer("billing", ["orders"], protocol="consumer")
        with pytest.raises(PeerError, match=r"group\.protocol=classic"):
            peer.wait_stable()
        assert peer.fault is not None and peer.fault.code is ErrorCode.UNSUPPORTED_VERSION


def test_what_the_coordinator_decides_cannot_be_set() -> None:
    with (
        Emulator({"orders": 2}) as kafka,
        pytest.raises(MemberConfigError, match=r"session\.timeout\.ms cannot be set"),
    ):
        kafka.peer("billing", ["orders"], protocol="consumer", config={"session.timeout.ms": 6000})
