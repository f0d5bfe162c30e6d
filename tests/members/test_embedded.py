"""`kafka.peer(...)`: a member beside a test, from synchronous and asynchronous code."""

from __future__ import annotations

import pytest

from coordinator.emulator import Emulator
from coordinator.members import MemberConfigError, MemberState
from coordinator.members.live import PeerError

FAST = {"heartbeat.interval.ms": 50}


def test_from_synchronous_code() -> None:
    with Emulator({"orders": 4}) as kafka:
        with kafka.peer("billing", ["orders"], config=FAST) as a, kafka.peer("billing", topics=["orders"], config=FAST) as b:
            b.wait_stable()
            a.wait_stable()
            assert a.generation == b.generation and a.state is MemberState.STABLE
            assert len(a.owned) == len(b.owned) == 2 and not set(a.owned) & set(b.owned)
            assert a.is_leader != b.is_leader
            topic, partition = b.owned[0]
            b.seek(topic, partition, 5)
            b.wait_commit()
            assert b.positions[b.owned[0]].offset == 5
        assert a.ended and b.ended and b.callbacks[-1].kind in ("revoked", "lost")
        with kafka.peer("billing", ["orders"]) as c:
            c.wait_stable()
            assert len(c.owned) == 4


async def test_from_asynchronous_code() -> None:
    async with Emulator({"orders": 2}) as kafka:
        async with kafka.peer("billing", pattern="ord.*", config=FAST) as peer:
            await peer.stable()
            assert [str(partition) for partition in peer.owned] == ["orders-0", "orders-1"]
            with pytest.raises(PeerError, match="await stable"):
                peer.wait_stable()
            peer.seek("orders", 1, 3)
            await peer.commit()
            peer.stop()
            await peer.left()
        assert peer.ended and peer.fault is None


def test_a_crashed_peer_stays_in_the_group_until_its_session_ends() -> None:
    with Emulator({"orders": 2}) as kafka:
        peer = kafka.peer("billing", ["orders"]).wait_stable()
        peer.crash()
        assert peer.ended
        assert kafka.run(lambda: len(kafka.coordinator.groups["billing"].members)) == 1


def test_stalling_and_rebalancing() -> None:
    """CLI-12, CLI-14: who does not poll is out; who was told to rebalance joins anew."""
    with Emulator({"orders": 2}) as kafka:
        peer = kafka.peer("billing", ["orders"], config={**FAST, "max.poll.interval.ms": 300}).wait_stable()
        peer.rebalance()
        peer.wait_stable()
        assert peer.generation == 2
        peer.stall()
        while kafka.run(lambda: len(kafka.coordinator.groups["billing"].members)):
            pass
        peer.resume()
        peer.wait_stable()
        assert [call.kind for call in peer.callbacks][-2:] == ["lost", "assigned"]
        peer.stop()


def test_wrong_settings_are_refused_at_once() -> None:
    with Emulator({"orders": 2}) as kafka:
        with pytest.raises(MemberConfigError, match=r"session\.timeout\.ms is"):
            kafka.peer("billing", ["orders"], config={"session.timeout": 1})
        with pytest.raises(MemberConfigError, match="nope"):
            kafka.peer("billing", ["orders"], config={"partition.assignment.strategy": "nope"})


def test_the_end_of_the_emulator_ends_its_peers() -> None:
    with Emulator({"orders": 2}) as kafka:
        peer = kafka.peer("billing", ["orders"]).wait_stable()
    assert peer.ended
