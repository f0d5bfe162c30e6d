"""Members of ours and a real GroupCoordinator, in one process and virtual time: they settle, and
tell the same story as Java's."""

from __future__ import annotations

from random import Random
from typing import Any, ClassVar

import pytest

from coordinator.members.faults import AssignorFault, FencedInstance
from tests.members.crowd import Crowd
from tests.members.kit import Eager

EAGER, COOPERATIVE, STICKY = ("range",), ("cooperative-sticky",), ("sticky",)


def test_the_first_member_gets_everything() -> None:
    """CLI-4: the whole story of one member."""
    c = Crowd({"orders": 2})
    a = c.add("a", assignors=EAGER)
    c.advance(0)
    assert c.story == [
        "FindCoordinator a",
        "JoinGroup a",
        "JoinGroup a",
        "SyncGroup a",
        "OffsetFetch a",
    ]
    assert c.stable() and c.owned() == {"a": "orders-0 orders-1"}
    assert a.listener.take() == [("assigned", "orders-0 orders-1")]


def test_one_more_member_is_one_rebalance_when_eager() -> None:
    """CLI-28: everybody gives up everything, once."""
    c = Crowd({"orders": 4})
    a = c.add("a", assignors=EAGER)
    c.advance(0)
    a.listener.take()
    b = c.add("b", assignors=EAGER)
    c.advance(3_000)
    assert c.stable() and c.owned() == {"a": "orders-0 orders-1", "b": "orders-2 orders-3"}
    assert a.listener.take() == [
        ("revoked", "orders-0 orders-1 orders-2 orders-3"),
        ("assigned", "orders-0 orders-1"),
    ]
    assert b.listener.take() == [("assigned", "orders-2 orders-3")]
    assert a.member.generation.generation_id == 2


def test_one_more_member_is_two_rebalances_when_cooperative() -> None:
    """CLI-28: first revoked by who has too much, then assigned to the new one; nobody stops
    consuming what it keeps."""
    c = Crowd({"orders": 4})
    a = c.add("a", assignors=COOPERATIVE)
    c.advance(0)
    a.listener.take()
    b = c.add("b", assignors=COOPERATIVE)
    c.advance(6_000)
    assert c.stable() and c.owned() == {"a": "orders-0 orders-1", "b": "orders-2 orders-3"}
    assert a.listener.take() == [
        ("revoked", "orders-2 orders-3"),
        ("assigned", ""),
        ("assigned", ""),
    ]
    assert b.listener.take() == [("assigned", ""), ("assigned", "orders-2 orders-3")]
    assert a.member.generation.generation_id == 3


@pytest.mark.parametrize("assignors", [EAGER, COOPERATIVE, STICKY])
def test_the_rest_takes_over_from_one_that_left_and_from_one_that_died(
    assignors: tuple[str, ...],
) -> None:
    """CLI-14: LeaveGroup is noticed by the next heartbeat, death by the session."""
    c = Crowd({"orders": 6})
    for name in "abc":
        c.add(name, assignors=assignors)
        c.advance(7_000)
    assert c.stable()
    c.leave("a")
    c.advance(7_000)
    assert c.stable() and sum(len(share.split()) for share in c.owned().values()) == 6
    c.crash("b")
    c.advance(44_000)
    c.advance(10_000)
    assert c.stable() and len(c.owned()["c"].split()) == 6


def test_stickiness_through_a_rebalance() -> None:
    """UD-1: who stays keeps what it had, because the user data went out with the subscription and
    came back to the leader."""
    c = Crowd({"orders": 6})
    for name in "abc":
        c.add(name, assignors=STICKY)
        c.advance(7_000)
    before = {name: set(share.split()) for name, share in c.owned().items()}
    c.leave("a")
    c.advance(7_000)
    after = {name: set(share.split()) for name, share in c.owned().items()}
    assert c.stable() and all(before[name] <= after[name] for name in "bc")


def test_the_vote_goes_to_what_all_support() -> None:
    """The order of partition.assignment.strategy is the order of the vote."""
    c = Crowd({"orders": 2})
    c.add("a", assignors=("range", "sticky"))
    c.advance(0)
    c.add("b", assignors=("sticky",))
    c.advance(4_000)
    assert c.stable() and {host.member.generation.protocol_name for host in c.hosts.values()} == {
        "sticky"
    }


def test_a_static_member_comes_back_to_what_it_had() -> None:
    """CLI-14, STA-4: no LeaveGroup on close; a new process gets the old share without a
    rebalance."""
    c = Crowd({"orders": 4})
    c.add("a", assignors=EAGER, group_instance_id="i1")
    c.advance(0)
    b = c.add("b", assignors=EAGER, group_instance_id="i2")
    c.advance(4_000)
    owned, generation = c.owned(), b.member.generation.generation_id
    for name, instance in (
        ("a", "i1"),
        ("b", "i2"),
    ):  # the leader, too: it may skip the assignment (CLI-8)
        c.leave(name)
        c.add(name, assignors=EAGER, group_instance_id=instance)
        c.advance(1_000)
        assert c.stable() and c.owned() == owned
    assert {host.member.generation.generation_id for host in c.hosts.values()} == {generation}


def test_two_processes_with_one_instance_id() -> None:
    """CLI-11 (82): the older one is fenced, is told, and stops."""
    c = Crowd({"orders": 2})
    a = c.add("a", assignors=EAGER, group_instance_id="i1")
    c.advance(0)
    c.add("b", assignors=EAGER, group_instance_id="i1")
    c.advance(4_000)
    assert isinstance(a.faults[0], FencedInstance)


def test_a_stalled_application_is_out_and_comes_back() -> None:
    """CLI-12, CLI-14."""
    c = Crowd({"orders": 4})
    a = c.add("a", assignors=EAGER, max_poll_interval_ms=10_000)
    b = c.add("b", assignors=EAGER, max_poll_interval_ms=10_000)
    c.advance(7_000)
    b.polling = False
    c.advance(20_000)
    assert len(a.member.owned) == 4
    b.polling = True
    b.listener.take()
    b.turn()
    c.settle()
    c.advance(7_000)
    assert c.stable() and b.listener.take()[0] == ("lost", "orders-2 orders-3")


def test_growth_reaches_everybody_through_the_leader() -> None:
    """CLI-19."""
    c = Crowd({"orders": 2})
    for name in "ab":
        c.add(name, assignors=COOPERATIVE, metadata_max_age_ms=30_000)
        c.advance(7_000)
    c.cluster["orders"] = 6
    c.advance(60_000)
    assert c.stable() and [len(share.split()) for share in c.owned().values()] == [3, 3]


def test_a_leader_whose_assignor_fails_does_not_hang_the_group() -> None:
    """It reports at every try; once it leaves, another leads, and the group goes on."""

    class Failing(Eager):
        name = "range"
        answer: ClassVar[Any] = ValueError("out of luck")

    c = Crowd({"orders": 4})
    a = c.add("a", assignors=(Failing,))
    c.advance(0)
    b = c.add("b", assignors=EAGER)
    c.advance(1_000)
    assert all(isinstance(fault, AssignorFault) for fault in a.faults) and len(a.faults) > 1
    assert not b.member.settled
    c.leave("a")
    c.advance(4_000)
    assert c.stable() and c.owned() == {"b": "orders-0 orders-1 orders-2 orders-3"}


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("assignors", [EAGER, COOPERATIVE, STICKY, ("range", "cooperative-sticky")])
def test_churn_ends_in_peace(assignors: tuple[str, ...], seed: int) -> None:
    """Whoever comes, goes, dies, stalls or changes its mind: no partition is ever owned twice by
    those in the same generation, and in the end every partition has one owner."""
    random = Random(seed)
    c = Crowd({"orders": 5, "pay": 3})
    names = iter(range(1_000))
    for _ in range(30):
        action = random.choice(
            ["add", "add", "leave", "crash", "stall", "wake", "subscribe", "grow", "wait"]
        )
        name = random.choice(list(c.hosts)) if c.hosts else None
        if action == "add" or name is None:
            topics = random.choice([["orders"], ["orders", "pay"]])
            c.add(
                f"m{next(names)}",
                topics,
                assignors=assignors,
                metadata_max_age_ms=20_000,
                enable_auto_commit=random.random() < 0.5,
            )
        elif action == "leave":
            c.leave(name)
        elif action == "crash":
            c.crash(name)
        elif action in ("stall", "wake"):
            c.hosts[name].polling = action == "wake"
            c.hosts[name].turn()
        elif action == "subscribe":
            c.hosts[name].member.subscribe(
                random.choice([["orders"], ["pay"], ["orders", "pay"]]), c.now
            )
            c.hosts[name].turn()
        elif action == "grow":
            c.cluster["orders"] += 1
        c.settle()
        c.advance(random.choice([0, 10, 1_000, 5_000]))
        alive = [h for h in c.hosts.values() if h.member.settled]
        for generation in {h.member.generation.generation_id for h in alive}:
            owned = [
                p
                for h in alive
                if h.member.generation.generation_id == generation
                for p in h.member.owned
            ]
            assert len(owned) == len(set(owned))
    for host in c.hosts.values():
        host.polling = True
        host.turn()
    c.add("last", ["orders", "pay"], assignors=assignors)
    c.advance(400_000)
    assert c.stable()
    everything = " ".join(c.owned().values()).split()
    assert len(everything) == c.cluster["orders"] + c.cluster["pay"]
    assert [fault for host in c.hosts.values() for fault in host.faults] == []
