"""What the application is told in a rebalance, and when: eager, cooperative, lost; and what makes a
member join again."""

from __future__ import annotations

import pytest

from coordinator.base.errors import ErrorCode
from coordinator.members import Member, MemberConfig, MemberConfigError
from coordinator.members.faults import AssignorFault, BadAssignment, ListenerFault
from coordinator.wire.consumer_protocol import Subscription
from coordinator.wire.messages.heartbeat import HeartbeatResponse
from coordinator.wire.messages.join_group import JoinGroupRequest
from coordinator.wire.messages.offset_commit import (
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from coordinator.wire.messages.sync_group import SyncGroupResponse
from tests.members.kit import Cooperative, Eager, Solo, given, tps

E = ErrorCode
COOPERATIVE = ("cooperative-sticky",)


def owned_in(join: object) -> str:
    """What a JoinGroup says is owned."""
    subscription = Subscription.decode(join.protocols[0].metadata)  # type: ignore[attr-defined]
    return " ".join(
        f"{topic}-{n}" for topic, numbers in subscription.owned_partitions for n in numbers
    )


@pytest.mark.parametrize(
    ("assignors", "cooperative"),
    [
        (("range",), False),
        (("roundrobin", "sticky"), False),
        (("cooperative-sticky",), True),
        (("range", "cooperative-sticky"), False),
        (("cooperative-sticky", Cooperative), True),
        (("cooperative-sticky", Eager), False),
    ],
)
def test_the_rebalance_protocol_is_the_highest_that_all_assignors_support(
    assignors: tuple[object, ...], cooperative: bool
) -> None:
    """CLI-22."""
    member = Member(MemberConfig(group_id="g", assignors=assignors))  # type: ignore[arg-type]
    assert member.cooperative is cooperative


def test_assignors_without_a_common_protocol_are_refused() -> None:
    """CLI-22."""

    class Only(Cooperative):
        rebalance_protocols = (Cooperative.rebalance_protocols[0],)

    with pytest.raises(MemberConfigError, match="common"):
        Member(MemberConfig(group_id="g", assignors=("range", Only)))


def test_eager_gives_up_everything_before_joining() -> None:
    """CLI-23 (b): revoked before JoinGroup, which then says that nothing is owned; all is assigned
    anew."""
    s = Solo()
    s.enter("orders-0 orders-1")
    s.listener.take()
    s.member.enforce_rebalance()
    s.poll()
    assert s.listener.take() == [("revoked", "orders-0 orders-1")]
    assert owned_in(s.sent(JoinGroupRequest)) == ""
    s.rejoined("orders-1 orders-2")
    assert s.listener.take() == [("assigned", "orders-1 orders-2")]


def test_what_is_about_to_be_given_up_is_not_handed_out_any_more() -> None:
    """CLI-23 (a), KAFKA-14196: while the auto-commit is under way; cooperative: only what is not
    subscribed any more."""
    s = Solo(enable_auto_commit=True, auto_commit_interval_ms=600_000)
    s.enter("orders-0 orders-1", orders_0=5, orders_1=5)
    assert s.member.going == ()
    s.member.enforce_rebalance()
    s.poll()
    assert s.member.going == s.member.owned == tps("orders-0 orders-1")
    rows = [OffsetCommitResponsePartition(partition_index=number) for number in (0, 1)]
    s.answer(
        OffsetCommitResponse(topics=[OffsetCommitResponseTopic(name="orders", partitions=rows)])
    )
    s.poll()
    assert s.member.going == s.member.owned == ()
    c = Solo(
        ("orders", "other"),
        assignors=("cooperative-sticky",),
        enable_auto_commit=True,
        auto_commit_interval_ms=600_000,
    )
    c.enter("orders-0 other-0", orders_0=5, other_0=5)
    c.member.subscribe(["orders"], c.now)
    c.poll()
    assert c.member.going == tps("other-0")


def test_eager_revokes_even_nothing() -> None:
    """CLI-23 (b): the callback comes without partitions too; but not before the very first join."""
    s = Solo()
    s.enter("")
    assert s.listener.take() == [("assigned", "")]
    s.member.enforce_rebalance()
    s.poll()
    assert s.listener.take() == [("revoked", "")]


def test_cooperative_keeps_what_stays_and_revokes_after_the_leader_said_so() -> None:
    """CLI-23, CLI-24, CLI-28: revoke, join once more, then assigned; owned partitions are told to
    the leader."""
    s = Solo(assignors=COOPERATIVE)
    s.enter("orders-0 orders-1")
    s.listener.take()
    s.member.enforce_rebalance()
    s.poll()
    assert s.listener.take() == []
    assert owned_in(s.sent(JoinGroupRequest)) == "orders-0 orders-1"
    s.joined(2, leader="x")
    s.synced("orders-1")
    assert s.listener.take() == [("revoked", "orders-0"), ("assigned", "")]
    join = s.sent(JoinGroupRequest)
    assert owned_in(join) == "orders-1" and "orders-0" in join.reason
    s.rejoined("orders-1 orders-3", 3)
    assert s.listener.take() == [("assigned", "orders-3")]
    assert s.member.owned == tps("orders-1 orders-3")


def test_cooperative_revokes_at_once_what_is_no_longer_subscribed() -> None:
    """CLI-23: only partitions of dropped topics, before JoinGroup."""
    s = Solo(("orders", "pay"), cluster={"orders": 2, "pay": 2}, assignors=COOPERATIVE)
    s.enter("orders-0 pay-0")
    s.listener.take()
    s.member.subscribe(["orders"], s.now)
    s.poll()
    assert s.listener.take() == [("revoked", "pay-0")]
    assert owned_in(s.sent(JoinGroupRequest)) == "orders-0"


@pytest.mark.parametrize("assignors", [("range",), COOPERATIVE])
def test_what_was_owned_in_a_lost_generation_is_lost(assignors: tuple[str, ...]) -> None:
    """CLI-23: generation or member id unset; whatever the protocol."""
    s = Solo(assignors=assignors)
    s.enter("orders-0 orders-1")
    s.listener.take()
    s.advance(3_000)
    s.answer(HeartbeatResponse(error_code=E.ILLEGAL_GENERATION))
    assert s.listener.take() == [("lost", "orders-0 orders-1")]
    assert owned_in(s.sent(JoinGroupRequest)) == ""


def test_an_assignment_that_was_not_asked_for_is_not_taken() -> None:
    """CLI-24: a topic outside the subscription; the member joins again."""
    s = Solo()
    s.start()
    s.joined(1, leader="x")
    s.synced("orders-0 pay-0")
    assert s.listener.calls == [("revoked", "")] and s.member.owned == ()
    assert "not subscribed" in s.sent(JoinGroupRequest).reason


@pytest.mark.parametrize("data", [b"", b"\x00", b"\x00\x00\x00\x00\x00\x05"])
def test_bytes_that_are_no_assignment(data: bytes) -> None:
    """CLI-24, CPB-3: fewer than two bytes, or cut off."""
    s = Solo()
    s.start()
    s.joined(1, leader="x")
    s.answer(SyncGroupResponse(protocol_type="consumer", protocol_name="range", assignment=data))
    assert [type(fault) for fault in s.faults] == [BadAssignment]


def test_a_protocol_that_is_not_configured() -> None:
    """CLI-24: the coordinator chose what this member does not have."""
    s = Solo()
    s.start()
    s.joined(1, leader="x", protocol="foreign")
    s.synced("orders-0", protocol_name=None)
    assert "foreign" in str(s.faults[0])


def test_the_first_exception_of_callbacks_is_raised_when_all_is_done() -> None:
    """CLI-24: revoked raises, the assignment is installed all the same, assigned is called."""
    s = Solo(assignors=COOPERATIVE)
    s.enter("orders-0 orders-1")
    s.listener.take()
    s.listener.fail = "revoked"
    s.member.enforce_rebalance()
    s.poll()
    s.joined(2, leader="x")
    s.synced("orders-1 orders-2")
    assert s.listener.take() == [("revoked", "orders-0"), ("assigned", "orders-2")]
    (fault,) = s.faults
    assert isinstance(fault, ListenerFault) and "no revoked" in str(fault)
    assert s.member.owned == tps("orders-1 orders-2")


def test_a_listener_that_raises_before_joining() -> None:
    """CLI-23: told, and the next poll joins; nothing is revoked twice."""
    s = Solo()
    s.enter("orders-0")
    s.listener.take()
    s.listener.fail = "revoked"
    s.member.enforce_rebalance()
    s.poll()
    assert s.waiting(JoinGroupRequest) is None and len(s.faults) == 1
    s.poll()
    assert s.waiting(JoinGroupRequest)
    assert s.listener.take() == [("revoked", "orders-0")]


def test_an_assignor_that_does_not_take_its_assignment() -> None:
    """CLI-24: on_assignment raises; the member goes on with what it was given."""

    class Deaf(Eager):
        def on_assignment(self, assignment: object, generation: int) -> None:
            raise ValueError("not mine")

    s = Solo(assignors=(Deaf,))
    s.start()
    s.joined(1, leader="x")
    s.synced("orders-0")
    assert s.listener.calls == [("assigned", "orders-0")]
    assert isinstance(s.faults[0], AssignorFault) and s.faults[0].rule == "takes an assignment"


def test_the_assignor_hears_of_its_assignment_before_the_application() -> None:
    """CLI-24: onAssignment, with the generation, before the next subscription carries its bytes
    (UD-1)."""
    s = Solo(assignors=("sticky",))
    s.enter("orders-1", generation=5)
    s.member.enforce_rebalance()
    s.poll()
    data = Subscription.decode(s.sent(JoinGroupRequest).protocols[0].metadata).user_data
    assert data == bytes.fromhex("00000001 0006") + b"orders" + bytes.fromhex(
        "00000001 00000001 00000005"
    )


def test_a_changed_subscription_is_joined_anew() -> None:
    """CLI-18."""
    s = Solo(cluster={"orders": 2, "pay": 2})
    s.enter("orders-0")
    s.member.subscribe(["orders", "pay"], s.now)
    s.poll()
    join = s.sent(JoinGroupRequest)
    assert Subscription.decode(join.protocols[0].metadata).topics == ("orders", "pay")
    assert "subscription has changed" in join.reason


def test_a_rejoin_is_not_repeated_without_reason() -> None:
    """CLI-18: settled is settled."""
    s = Solo()
    s.enter()
    for _ in range(5):
        s.poll()
    assert s.todo == [] and s.member.rejoin_reason == ""


def test_bytes_of_an_assignment_of_the_future_are_read() -> None:
    """CPB-3: a version above 3 reads as 3."""
    s = Solo()
    s.start()
    s.joined(1, leader="x")
    s.answer(
        SyncGroupResponse(
            protocol_type="consumer",
            protocol_name="range",
            assignment=b"\x00\x09" + given("orders-3")[2:] + b"more",
        )
    )
    assert s.member.owned == tps("orders-3")
