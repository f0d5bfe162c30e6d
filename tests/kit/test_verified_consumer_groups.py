"""Assertions about groups of the consumer protocol (KIP-848): their rebalances, and who left them
how."""

from __future__ import annotations

import pytest

from coordinator import Emulator

CONSUMER = {"group.protocol": "consumer"}


@pytest.fixture
def emulator() -> Emulator:
    return Emulator(
        topics={"orders": 4},
        remember=10_000,
        config={
            "group.consumer.heartbeat.interval.ms": 20,
            "group.consumer.min.heartbeat.interval.ms": 10,
        },
    )


def test_each_new_epoch_is_a_rebalance(emulator: Emulator) -> None:
    with emulator, emulator.peer("g", topics=["orders"], config=CONSUMER) as peer:
        group = emulator.group("g")
        peer.wait_stable()
        mark = emulator.mark()
        group.verify().rebalances(0, since=mark)
        with emulator.peer("g", topics=["orders"], config=CONSUMER):
            group.wait(state="Stable", members=2, assigned="all")
        group.wait(state="Stable", members=1, assigned="all")
        group.verify().rebalances(2, since=mark)
        with pytest.raises(
            AssertionError,
            match=r"rebalanced 2 times, not at most 1\n  line \d+, at \d+ ms: .*subscri.*\n.* left",
        ):
            group.verify(since=mark).rebalances(at_most=1)


def test_the_rebalances_of_a_consumer_group_are_its_epochs(emulator: Emulator) -> None:
    """Who moved what, why, and when it was over; one that the next epoch overtook is interrupted,
    and one without members empty."""
    with emulator:
        group = emulator.group("g")
        with emulator.peer("g", topics=["orders"], config=CONSUMER) as peer:
            peer.wait_stable()
            with emulator.peer("g", topics=["orders"], config=CONSUMER) as other:
                group.wait(state="Stable", members=2, assigned="all")
                ids = peer.member_id, other.member_id
            group.wait(state="Stable", members=1, assigned="all")
        group.wait(state="Empty")
        every = group.rebalances
    first, second, third, fourth = every
    assert [rebalance["outcome"] for rebalance in every] == ["stable", "stable", "stable", "empty"]
    assert (first["assignments"][0]["added"], first["assignor"]) == (
        {"orders": (0, 1, 2, 3)},
        "uniform",
    )
    moved = {
        share["member_id"]: (share["added"], share["revoked"]) for share in second["assignments"]
    }
    assert {ids[0], ids[1]} == set(moved) and moved[ids[0]][1] == moved[ids[1]][0] != {}
    assert (
        second["because"] == f"consumer-g-2-{ids[1][:4]} changed its subscription"
        and second["ended_ms"] == third["started_ms"]
    )
    assert second["started_ms"] <= second["assigned_ms"] <= second["stable_ms"]
    assert (
        third["assignments"][0]["added"] == moved[ids[1]][0]
        and third["because"] == f"consumer-g-2-{ids[1][:4]} left"
    )
    assert (fourth["assignments"], fourth["stable_ms"]) == ([], None)
    assert {line["type"] for line in second["causes"]} >= {"ConsumerMemberSubscribed"}


def test_who_leaves_left_cleanly_by_any_of_its_names(emulator: Emulator) -> None:
    with emulator:
        with emulator.peer(
            "g", topics=["orders"], config={**CONSUMER, "client.id": "mine"}
        ) as peer:
            peer.wait_stable()
            member = peer.member_id
        emulator.group("g").wait(state="Empty")
        emulator.group("g").verify().left_cleanly().left_cleanly("mine", member, member[:8])
        with pytest.raises(
            AssertionError, match=f"'other' did not leave group 'g'; members that left: {member}"
        ):
            emulator.group("g").verify().left_cleanly("other")


def test_who_expires_did_not_leave_cleanly(emulator: Emulator) -> None:
    with emulator:
        peer = emulator.peer("g", topics=["orders"], config={**CONSUMER, "client.id": "mine"})
        peer.wait_stable()
        peer.crash()
        emulator.group("g").expire("mine")
        for names in ((), ("mine",)):
            with pytest.raises(AssertionError, match="did not leave cleanly: session expired"):
                emulator.group("g").verify().left_cleanly(*names)


def test_a_classic_member_is_called_by_its_client_or_instance_id(emulator: Emulator) -> None:
    with emulator:
        with emulator.peer(
            "g", topics=["orders"], config={"client.id": "mine", "group.instance.id": "one"}
        ) as peer:
            peer.wait_stable()
        emulator.group("g").remove("one")
        emulator.group("g").verify().left_cleanly("mine").left_cleanly("one")
