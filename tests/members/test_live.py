"""Live members against the emulator, over real sockets."""

from __future__ import annotations

import asyncio
import logging
import socket
from typing import Any, ClassVar

import pytest

from assignors import TopicPartition
from coordinator.base.errors import ErrorCode
from coordinator.kit.emulator.embedded import Emulator
from coordinator.members import MemberConfig, MemberConfigError
from coordinator.members.faults import AssignorFault, FencedInstance, ListenerFault
from coordinator.members.live import Fleet, FleetError, Peer, PeerError
from coordinator.members.live.bootstrap import AddressError, parse_addresses
from coordinator.server.interceptors import Answer
from coordinator.testing.virtual import virtual_kafka
from coordinator.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from tests.members.kit import Eager, Listener
from tests.ports import kept_port

TIMEOUT_S = 120.0


def config(group: str = "g", **values: Any) -> MemberConfig:
    values = {
        "assignors": ("range",),
        "heartbeat_interval_ms": 50,
        "enable_auto_commit": False,
        **values,
    }
    return MemberConfig(group_id=group, **values)


async def settled(fleet: Fleet, *peers: Peer) -> None:
    await fleet.stable(peers or None, TIMEOUT_S)


async def test_one_member_over_sockets() -> None:
    """CLI-3, CLI-4: in, everything owned, out again with its partitions revoked."""
    async with Emulator({"orders": 3}) as kafka, Fleet(kafka.bootstrap_servers) as fleet:
        peer = fleet.peer(config(), topics=["orders"])
        await settled(fleet)
        assert peer.client_id == "consumer-g-1" and peer.member_id.startswith("consumer-g-1-")
        assert [str(partition) for partition in peer.owned] == ["orders-0", "orders-1", "orders-2"]
        assert peer.member.is_leader and peer.member.generation.protocol_name == "range"
        await peer.close()
        assert [call.kind for call in peer.callbacks] == ["assigned", "revoked"]
        assert (
            kafka.coordinator.groups["g"].state.name == "Empty"
            or not kafka.coordinator.groups["g"].members
        )


async def test_many_members_come_go_and_die() -> None:
    """CLI-14, CLI-28, over sockets; the coordinator sees the same members."""
    async with Emulator({"orders": 12}) as kafka, Fleet(kafka.bootstrap_servers, seed=1) as fleet:
        settings = config(assignors=("cooperative-sticky",))
        peers = [fleet.peer(settings, topics=["orders"]) for _ in range(6)]
        await settled(fleet)
        assert sorted(len(peer.owned) for peer in peers) == [2] * 6
        assert {peer.member_id for peer in peers} == set(kafka.coordinator.groups["g"].members)
        await peers[0].close()
        dead = peers[1].member_id
        peers[1].crash()
        kafka.group("g").expire(dead)  # as its session does in time
        async with asyncio.timeout(TIMEOUT_S):
            while sum(len(peer.owned) for peer in peers[2:]) < 12:
                await asyncio.sleep(0.02)
        await settled(fleet)
        assert sorted(len(peer.owned) for peer in peers[2:]) == [3] * 4
        lost = [call for peer in peers[2:] for call in peer.callbacks if call.kind == "lost"]
        assert lost == []


async def test_offsets_are_committed_and_found_again() -> None:
    async with Emulator({"orders": 2}) as kafka, Fleet(kafka.bootstrap_servers) as fleet:
        peer = fleet.peer(config(), topics=["orders"])
        await settled(fleet)
        peer.seek(TopicPartition("orders", 1), 7)
        await peer.commit()
        await peer.close()
        again = fleet.peer(config(), topics=["orders"])
        await settled(fleet, again)
        while not again.member.positions_known:
            await asyncio.sleep(0.01)
        assert {
            str(partition): position.offset
            for partition, position in again.member.positions.items()
        } == {"orders-1": 7}


async def test_a_pattern_finds_topics_that_come_later() -> None:
    """CLI-20."""
    async with (
        Emulator({"orders": 1, "other": 1}) as kafka,
        Fleet(kafka.bootstrap_servers) as fleet,
    ):
        peer = fleet.peer(config(metadata_max_age_ms=100), pattern="orders.*")
        await settled(fleet)
        assert [str(partition) for partition in peer.owned] == ["orders-0"]
        kafka.run(
            lambda: kafka.broker.cluster.create_topic(
                "orders-eu", topic_id=bytes(15) + b"\1", assignment=[[1]], configs={}
            )
        )
        while len(peer.owned) < 2:
            await asyncio.sleep(0.02)
        assert [str(partition) for partition in peer.owned] == ["orders-0", "orders-eu-0"]


async def test_a_fenced_static_member_ends_and_says_why() -> None:
    """CLI-11 (82)."""
    async with Emulator({"orders": 2}) as kafka, Fleet(kafka.bootstrap_servers) as fleet:
        first = fleet.peer(config(group_instance_id="i1"), topics=["orders"])
        await settled(fleet)
        second = fleet.peer(config(group_instance_id="i1"), topics=["orders"])
        await settled(fleet, second)
        with pytest.raises(PeerError, match="FENCED_INSTANCE_ID"):
            while True:
                await settled(fleet, first)
                await asyncio.sleep(0.02)
        assert isinstance(first.fault, FencedInstance) and first.ended
        assert len(second.owned) == 2


async def test_a_broken_assignor_is_reported_and_the_group_goes_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The leader says which rule and which partition, and leaves; those who have a sound assignor
    of that name go on."""

    class Twice(Eager):
        name = "range"

        def assign(self, partitions: Any, members: Any, racks: Any = None) -> Any:
            type(self).answer = dict.fromkeys(members, "orders-0 orders-1")
            return super().assign(partitions, members, racks)

    class Once(Twice):
        answer: ClassVar[Any] = None

    caplog.set_level(logging.ERROR, "coordinator.members")
    async with Emulator({"orders": 2}) as kafka, Fleet(kafka.bootstrap_servers) as fleet:
        broken = fleet.peer(config(assignors=(Once,)), topics=["orders"])
        sound = fleet.peer(config(), topics=["orders"])
        with pytest.raises(PeerError, match="orders-0 goes to"):
            await settled(fleet, broken)
        await settled(fleet, sound)
        assert isinstance(broken.fault, AssignorFault) and broken.fault.partition == "orders-0"
        assert len(sound.owned) == 2
    assert "a partition has one owner" in caplog.text


async def test_a_moved_coordinator_is_found_again() -> None:
    """CLI-13: one heartbeat answered 16; the generation goes on."""
    async with Emulator({"orders": 2}) as kafka, Fleet(kafka.bootstrap_servers) as fleet:
        peer = fleet.peer(config(), topics=["orders"])
        await settled(fleet)
        seen: list[int] = []

        def once(request: Any) -> Answer | None:
            if isinstance(request.message, HeartbeatRequest):
                seen.append(request.message.generation_id)
                if len(seen) == 1:
                    return Answer(HeartbeatResponse(error_code=ErrorCode.NOT_COORDINATOR))
            return None

        kafka.run(lambda: kafka.broker.interceptors.append(once))
        while len(seen) < 3:
            await asyncio.sleep(0.02)
        assert seen == [1, 1, 1] and peer.settled and len(peer.callbacks) == 1


async def test_a_broker_that_is_not_there() -> None:
    with socket.socket() as taken:  # bound, not listening: connections are refused
        taken.bind(("127.0.0.1", 0))
        fleet = Fleet(f"127.0.0.1:{taken.getsockname()[1]}")
        fleet.peer(config(), topics=["orders"])
        while not fleet.bootstrap.trouble:
            await asyncio.sleep(0.01)
        with pytest.raises(FleetError, match=r"not stable after 0\.2 s: 1 UNJOINED.*127\.0\.0\.1"):
            await fleet.stable(timeout_s=0.2)
        assert not fleet.bootstrap.reached
        await fleet.close()


async def test_a_broker_that_comes_later() -> None:
    """Discovery and metadata are retried until somebody answers."""
    port = kept_port()
    async with Fleet(f"127.0.0.1:{port}") as fleet:
        fleet.peer(config(), topics=["orders"])
        with pytest.raises(FleetError):
            await fleet.stable(timeout_s=0.2)
        async with Emulator({"orders": 1}, listen=f"127.0.0.1:{port}"):
            await settled(fleet)
            await fleet.close()


async def test_a_broker_that_restarts_is_joined_anew() -> None:
    """CLI-13: the connection breaks; the new coordinator knows nobody (25): lost, and joined
    again."""
    port = kept_port()  # also between the two
    first = Emulator({"orders": 2}, listen=f"127.0.0.1:{port}")
    await first.start()
    async with Fleet(first.bootstrap_servers) as fleet:
        peer = fleet.peer(config(), topics=["orders"])
        await settled(fleet)
        await first.stop()
        async with Emulator({"orders": 2}, listen=f"127.0.0.1:{port}"):
            while [call.kind for call in peer.callbacks] != ["assigned", "lost", "assigned"]:
                await asyncio.sleep(0.02)
            await settled(fleet)
            await fleet.close()


async def test_members_that_start_together_form_one_generation() -> None:
    async with Emulator({"orders": 8}) as kafka, Fleet(kafka.bootstrap_servers) as fleet:
        peers = [
            fleet.peer(config(heartbeat_interval_ms=3_000), topics=["orders"]) for _ in range(200)
        ]
        await settled(fleet)
        assert len({peer.generation for peer in peers}) == 1
        assert sum(len(peer.owned) for peer in peers) == 8
        assert len(kafka.coordinator.groups["g"].members) == 200


def test_a_lost_answer_costs_a_member_its_connection_and_no_more() -> None:
    """CLI-13: as Java's client, it gives the connection up when its own session timer ends, and
    what was asked over it is not awaited until the request's time-out."""

    async def story() -> None:
        async with virtual_kafka({"orders": 2}) as kafka:
            group = kafka.group("g")
            timers = {"session.timeout.ms": 10_000, "heartbeat.interval.ms": 3_000}
            async with group.peer(["orders"], config=timers) as peer:
                await peer.stable()
                before = peer.member_id, peer.generation
                lost = kafka.lose_answer("Heartbeat", group="g", times=1)
                await lost.wait_hit()
                hit_ms = kafka.now_ms
                await kafka.observe("Heartbeat", group="g").wait_hit()
                assert kafka.now_ms - hit_ms < 10_000
                await peer.stable()
                assert (peer.member_id, peer.generation) == before

    asyncio.run(story())


@pytest.mark.parametrize("text", ["nowhere", "h:", ":9092", "h:0", "h:99999", "a:1,,b:2", "h:x"])
def test_addresses_that_are_none(text: str) -> None:
    with pytest.raises(AddressError, match="such as"):
        parse_addresses(text)


def test_addresses() -> None:
    assert parse_addresses("a:1, [::1]:2") == [("a", 1), ("::1", 2)]


async def test_a_peer_needs_topics_or_a_pattern() -> None:
    async with Emulator() as kafka, Fleet(kafka.bootstrap_servers) as fleet:
        with pytest.raises(MemberConfigError, match="either"):
            fleet.peer(config())


async def test_a_peer_that_keeps_going_tells_the_application_and_polls_on() -> None:
    """The listener raises once: kept as the fault, and the peer settles all the same."""
    listener = Listener()
    listener.fail = "assigned"
    async with Emulator({"orders": 2}) as kafka, Fleet(kafka.bootstrap_servers) as fleet:
        peer = fleet.peer(config(), topics=["orders"], listener=listener, keep_going=True)
        while not listener.calls:
            await asyncio.sleep(0.01)
        listener.fail = None
        await settled(fleet)
        assert isinstance(peer.fault, ListenerFault) and not peer.ended and len(peer.owned) == 2
        assert listener.calls[0] == ("assigned", "orders-0 orders-1")
        peer.subscribe(["other"])
        peer.rebalance()
        assert "consumer-g-1" in repr(peer)
