"""`kafka.peer(...)`: a member beside a test, from synchronous and asynchronous code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from coordinator.event_log import read
from coordinator.events import files
from coordinator.history.explain.output import timeline_of
from coordinator.kit.emulator.embedded import Emulator
from coordinator.members import MemberConfigError, MemberState
from coordinator.members.live import FleetError, PeerError

FAST = {"heartbeat.interval.ms": 50}


def test_from_synchronous_code() -> None:
    with Emulator({"orders": 4}) as kafka:
        with (
            kafka.peer("billing", ["orders"], config=FAST) as a,
            kafka.peer("billing", topics=["orders"], config=FAST) as b,
        ):
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
        with kafka.peer("billing", ["orders"], config=FAST) as rebalanced:
            rebalanced.wait_stable()
            rebalanced.rebalance()
            rebalanced.wait_stable(after_generation=1)
            assert rebalanced.generation == 2
        peer = kafka.peer(
            "billing", ["orders"], config={**FAST, "max.poll.interval.ms": 2_000}
        ).wait_stable()
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


@pytest.mark.parametrize("assignor", ["range", "cooperative-sticky"])
def test_what_a_peer_is_told_stands_in_the_log(tmp_path: Path, assignor: str) -> None:
    """Stream `member`: explain takes these instants as known instead of inferring them."""
    path = tmp_path / "run.jsonl"
    config = {**FAST, "partition.assignment.strategy": assignor}
    with (
        Emulator({"orders": 4}, log=path) as kafka,
        kafka.peer("billing", ["orders"], config=config) as a,
    ):
        a.wait_stable()
        with kafka.peer("billing", ["orders"], config=config) as b:
            b.wait_stable()
            a.wait_stable()
            told = [(callback.kind, len(callback.partitions)) for callback in a.callbacks]
            member_id = a.member_id
    lines = [
        line for line in read(path) if line["stream"] == "member" and line["member"] == member_id
    ]
    kinds = {
        "assigned": "PartitionsAssigned",
        "revoked": "PartitionsRevoked",
        "lost": "PartitionsLost",
    }
    assert [(line["type"], len(line["partitions"])) for line in lines][: len(told)] == [
        (kinds[kind], count) for kind, count in told
    ]
    assert all(
        line["group"] == "billing" and line["client"] == "consumer-billing-1" for line in lines
    )
    timeline = timeline_of(files.read(path))
    stops = [
        share.pause
        for rebalance in timeline.groups["billing"].rebalances
        for share in rebalance.shares
        if share.pause
    ]
    known = [pause for pause in stops if pause.known and pause.partitions]
    assert bool(known) == (assignor == "range"), "cooperative peers do not stop"


def test_a_peer_that_outlives_its_emulator_says_so() -> None:
    with Emulator({"orders": 2}) as kafka:
        peer = kafka.peer("billing", ["orders"]).wait_stable()
    peer.stall()
    peer.resume()
    peer.rebalance()
    peer.crash()
    peer.stop()
    for use in (peer.wait_stable, peer.wait_commit):
        with pytest.raises(PeerError, match="ended"):
            use()
    with Emulator({"orders": 2}) as kafka:
        again = kafka.peer("billing", ["orders"])
    with again:  # entered and left after its emulator
        pass


async def test_a_peer_that_outlives_its_emulator_says_so_to_asynchronous_code_too() -> None:
    with Emulator({"orders": 2}) as kafka:
        peer = kafka.peer("billing", ["orders"])
        await peer.stable()
    await peer.left()
    with pytest.raises(PeerError, match="ended"):
        await peer.stable()
    with pytest.raises(PeerError, match="ended"):
        await peer.commit()


@pytest.mark.parametrize(
    ("topics", "told"),
    [
        ("orders", r"topics='orders' is one text, .*: topics=\['orders'\]"),
        ([1], "give a list of names"),
    ],
)
def test_topics_come_as_a_list_of_names(topics: Any, told: str) -> None:
    with Emulator("orders:3") as kafka:
        for use in (
            lambda: kafka.peer("billing", topics=topics),
            lambda: kafka.group("billing").peer(topics),
        ):
            with pytest.raises(MemberConfigError, match=told):
                use()
        assert kafka.groups() == []


def test_waiting_for_what_comes_next() -> None:
    """A settled peer is stable at once: members and after_generation say what is still to come."""
    with Emulator({"orders": 2}) as kafka, kafka.peer("billing", ["orders"], config=FAST) as first:
        first.wait_stable(members=1)
        before = first.generation
        with kafka.peer("billing", ["orders"], config=FAST) as second:
            first.wait_stable(members=2)
            assert first.generation > before and len(first.owned) == 1
            second.wait_stable(members=2)
            assert second.generation == first.generation
            before = first.generation
        first.wait_stable(after_generation=before)
        assert len(first.owned) == 2
        with pytest.raises(FleetError, match="not stable in a generation after 99 "):
            first.wait_stable(0.01, after_generation=99)
        with pytest.raises(FleetError, match="members in the stable group: 1, not 5"):
            first.wait_stable(0.01, members=5)


def test_a_coordinator_that_is_lost_and_loaded_answers_who_waits() -> None:
    """ERR-5, ERR-6, ERR-7: the replies of what was parked are delivered, and the group is there
    again."""
    config = {"group.initial.rebalance.delay.ms": 60_000}
    with Emulator({"orders": 2}, config) as kafka:
        peer = kafka.peer("billing", ["orders"], config=FAST)
        while not kafka.run(lambda: kafka.broker.parked):
            pass
        kafka.unload_coordinator()
        kafka.run(
            lambda: kafka.broker.configs.replace_dynamic(
                {"group.initial.rebalance.delay.ms": "0"}, for_all_brokers=True
            )
        )
        kafka.load_coordinator()
        before = peer.wait_stable(members=1).generation
        outcome = kafka.run(lambda: kafka.coordinator.unload(kafka.server.now()))
        assert outcome.replies == ()
        kafka.load_coordinator()
        peer.rebalance()
        assert peer.wait_stable(after_generation=before).generation > before


@pytest.mark.parametrize(
    ("called", "instead"), [("commit", "wait_commit"), ("stable", "wait_stable"), ("left", "stop")]
)
def test_what_is_to_be_awaited_says_so_where_nobody_can(called: str, instead: str) -> None:
    with Emulator({"t": 1}) as kafka, kafka.peer("g", topics=["t"]) as peer:
        with pytest.raises(
            PeerError,
            match=rf"{called}\(\) is to be awaited, and no event loop runs here: call {instead}\(\)",
        ):
            getattr(peer, called)()
        assert not peer.ended
