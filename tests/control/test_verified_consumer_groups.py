"""Assertions about groups of the consumer protocol (KIP-848): their rebalances, and who left them how."""

from __future__ import annotations

import pytest

from coordinator import Emulator

CONSUMER = {"group.protocol": "consumer"}


@pytest.fixture
def emulator() -> Emulator:
    return Emulator(
        topics={"orders": 4}, remember=10_000,
        config={"group.consumer.heartbeat.interval.ms": 20, "group.consumer.min.heartbeat.interval.ms": 10})


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
        with pytest.raises(AssertionError, match=r"rebalanced 2 times, not at most 1\n  line \d+, at \d+ ms: .*subscri.*\n.* left"):
            group.verify(since=mark).rebalances(at_most=1)


def test_who_leaves_left_cleanly_by_any_of_its_names(emulator: Emulator) -> None:
    with emulator:
        with emulator.peer("g", topics=["orders"], config={**CONSUMER, "client.id": "mine"}) as peer:
            peer.wait_stable()
            member = peer.member_id
        emulator.group("g").wait(state="Empty")
        emulator.group("g").verify().left_cleanly().left_cleanly("mine", member, member[:8])
        with pytest.raises(AssertionError, match=f"'other' did not leave group 'g'; who left: {member}"):
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
        with emulator.peer("g", topics=["orders"], config={"client.id": "mine", "group.instance.id": "one"}) as peer:
            peer.wait_stable()
        emulator.group("g").remove("one")
        emulator.group("g").verify().left_cleanly("mine").left_cleanly("one")
