"""Our own members of the consumer protocol (KIP-848) and of share groups (KIP-932), on the emulator and
judged by a real Apache Kafka 4.4.0.

A real coordinator takes every heartbeat, acknowledgement and commit for those of a client, or it
does not: a member that speaks wrongly is fenced, never gets its share, or cannot commit. Every wait
is for what the members themselves come to.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from coordinator.kit.admin import Admin
from coordinator.members import MemberConfig
from coordinator.members.applications.sharing import Work
from coordinator.members.live import Fleet, Peer
from coordinator.members.live.sharing import SharePeer
from coordinator.members.share.config import ShareConfig
from coordinator.testing.real_share_groups import RealShareGroup
from integration_tests.clients.stage import CODEC
from integration_tests.targets import EmulatorTarget, KafkaTarget
from integration_tests.wire.people import topic
from integration_tests.wire.recorder import Session, new_nonce
from integration_tests.wire.sharing import PROFILE as SHARES
from integration_tests.wire.sharing import Shared

PROFILE = "consumer"
PATIENCE_S = 120.0
Story = Callable[["Troupe"], Awaitable[None]]


class Troupe:
    """Members of one group of the run's own, and its topic with six partitions."""

    def __init__(self, fleet: Fleet, nonce: str, orders: str) -> None:
        self.fleet = fleet
        self.nonce = nonce
        self.orders = orders
        self.count = 0

    def peer(self, *, pattern: str | None = None, **settings: str) -> Peer:
        """One more member."""
        self.count += 1
        names = {
            "group.id": f"group-{self.nonce}",
            "group.protocol": "consumer",
            "client.id": f"own-{self.count}",
        }
        given = {key.replace("_", "."): value for key, value in settings.items()}
        config = MemberConfig.from_properties({**names, "enable.auto.commit": "false", **given})
        return self.fleet.peer(config, topics=None if pattern else [self.orders], pattern=pattern)

    async def share(self, *peers: Peer) -> None:
        """Wait until these share all six partitions evenly, and are settled at one epoch."""

        def shared() -> bool:
            owned = [partition for peer in peers for partition in peer.owned]
            return len(owned) == len(set(owned)) == 6 and {len(peer.owned) for peer in peers} == {
                6 // len(peers)
            }

        await self.fleet.stable(peers, PATIENCE_S, also=shared)


async def members_come_and_go(troupe: Troupe) -> None:
    """K8-CL-4: who was there gives up before a newcomer gets; who closes (epoch -1) leaves its
    share to the others at once."""
    a = troupe.peer()
    await troupe.share(a)
    b = troupe.peer(group_remote_assignor="range")
    await troupe.share(a, b)
    c = troupe.peer(pattern=f"orders-{troupe.nonce}")
    await troupe.share(a, b, c)
    assert "lost" not in {call.kind for peer in (a, b, c) for call in peer.callbacks}
    await b.close()
    c.crash()
    await a.close()
    assert (
        [call.kind for call in b.callbacks][-1] == "revoked" and b.fault is None and a.fault is None
    )


async def commits_are_taken_at_the_members_epoch(troupe: Troupe) -> None:
    """K8-OFF-1, K8-OFF-2: what one committed is where the next begins."""
    a = troupe.peer()
    await troupe.share(a)
    for number, partition in enumerate(a.owned):
        a.seek(partition, number + 1)
    await a.commit()
    await a.close()
    b = troupe.peer()
    await troupe.share(b)
    await troupe.fleet.stable([b], PATIENCE_S, also=lambda: b.member.positions_known)
    assert [b.member.positions[partition].offset for partition in b.owned] == [1, 2, 3, 4, 5, 6]


async def a_static_member_comes_back(troupe: Troupe) -> None:
    """K8-LV-2, K8-ST-1: epoch -2, and the same share under a new member id."""
    a = troupe.peer(group_instance_id="one")
    await troupe.share(a)
    b = troupe.peer(group_instance_id="two")
    await troupe.share(a, b)
    theirs, heard = b.owned, len(a.callbacks)
    await b.close()
    again = troupe.peer(group_instance_id="two")
    await troupe.share(a, again)
    assert again.owned == theirs and len(a.callbacks) == heard and again.member_id != b.member_id
    await again.close(leave=True)
    await troupe.share(a)


async def who_does_not_poll_joins_again(troupe: Troupe) -> None:
    """K8-CL-4: who does not poll leaves (epoch -1), loses its share, and joins again when it
    polls."""
    a = troupe.peer(max_poll_interval_ms="3000")
    await troupe.share(a)
    a.stall()
    b = troupe.peer()
    await troupe.share(b)
    a.resume()
    await troupe.share(a, b)
    assert [call.kind for call in a.callbacks if call.partitions][:2] == [
        "assigned",
        "lost",
    ] and a.fault is None


STORIES: dict[str, Story] = {
    story.__name__: story
    for story in (
        members_come_and_go,
        commits_are_taken_at_the_members_epoch,
        a_static_member_comes_back,
        who_does_not_poll_joins_again,
    )
}
EVERY = pytest.mark.parametrize("story", STORIES)


def play(story: str, address: str) -> None:
    """Play one story."""
    nonce = new_nonce()
    session = Session(address, CODEC, nonce)
    try:
        orders = topic(session, "orders", 6)
        interval = {"name": "consumer.heartbeat.interval.ms", "config_operation": 0, "value": "250"}
        resources = [
            {"resource_type": 32, "resource_name": f"group-{nonce}", "configs": [interval]}
        ]
        session.stage().ask_quietly(
            "IncrementalAlterConfigs", 1, resources=resources, validate_only=False
        )
        asyncio.run(_play(story, address, nonce, orders))
        session.stage().ask_quietly("DeleteTopics", 4, topic_names=[orders], timeout_ms=5_000)
    finally:
        session.close()


async def _play(story: str, address: str, nonce: str, orders: str) -> None:
    async with Fleet(address) as fleet:
        await STORIES[story](Troupe(fleet, nonce, orders))


def share(address: str) -> None:
    """Share consumers (KIP-932): one releases some of what it is given, one renews its locks and
    dies with records in hand; in the end each record was accepted once."""
    nonce = new_nonce()
    session = Session(address, CODEC, nonce)
    try:
        shared = Shared(session, partitions=2)
        for partition in (0, 1):
            shared.produce(5, 5, partition=partition)
        asyncio.run(_share(address, shared.group, shared.topic))
    finally:
        session.close()


async def _share(address: str, group: str, jobs: str) -> None:
    config = ShareConfig(group_id=group, acknowledgement_mode="explicit", max_poll_records=3)
    async with Fleet(address, seed=1) as fleet:
        slow = SharePeer(fleet, config, [jobs], Work(3_600_000, renew_ms=50))
        await _until(lambda: slow.application.renewed > 5)
        assert slow.fault is None and slow.application.in_hand
        slow.crash()
        # it releases so few that none reaches share.delivery.count.limit, and is given up
        fickle = SharePeer(fleet, config, [jobs], Work(release=0.1))
        steady = SharePeer(fleet, config.having(acknowledgement_mode="implicit"), [jobs], Work())
        accepted: set[tuple[int, int]] = set()

        def all_accepted() -> bool:
            accepted.update(
                (of.partition, of.offset)
                for peer in (fickle, steady)
                for of in peer.done
                if of.word == "accept"
            )
            return len(accepted) == 20

        await _until(all_accepted)
        done = [(*of[:3], of.word) for peer in (fickle, steady) for of in peer.done]
        assert len([of for of in done if of[3] == "accept"]) == 20
        assert fickle.fault is None and steady.fault is None
        host, _, port = address.rpartition(":")
        seen = RealShareGroup(group, lambda: Admin([(host, int(port))]), lambda *of: None)
        told = await asyncio.to_thread(seen.wait, state="Stable", lag=0, timeout=PATIENCE_S)
        assert told.members >= 2 and told.starts.keys() == {f"{jobs}-0", f"{jobs}-1"}


async def _until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not holds():
            await asyncio.sleep(0.02)


def test_share_consumers_on_the_emulator(emulator: EmulatorTarget) -> None:
    share(emulator.address(SHARES))


def test_share_consumers_on_a_real_broker(kafka: KafkaTarget) -> None:
    share(kafka.address(SHARES))


@EVERY
def test_on_the_emulator(story: str, emulator: EmulatorTarget) -> None:
    play(story, emulator.address(PROFILE))


@EVERY
def test_on_a_real_broker(story: str, kafka: KafkaTarget) -> None:
    play(story, kafka.address(PROFILE))
