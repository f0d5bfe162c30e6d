"""The leader: whom it assigns to, what it watches, and what it does when an assignor breaks a
rule."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from coordinator.base.errors import ErrorCode
from coordinator.members.classic.leading import UnreadableSubscription
from coordinator.members.faults import AssignorFault
from coordinator.wire.consumer_protocol import Assignment, Subscription
from coordinator.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from coordinator.wire.messages.join_group import JoinGroupRequest
from coordinator.wire.messages.sync_group import SyncGroupRequest
from tests.members.kit import Cooperative, Eager, Solo, tps, view, wish

E = ErrorCode


def shares(s: Solo) -> dict[str, str]:
    """What the leader hands in."""
    return {
        row.member_id: " ".join(
            f"{topic}-{n}"
            for topic, numbers in Assignment.decode(row.assignment).partitions
            for n in numbers
        )
        for row in s.sent(SyncGroupRequest).assignments
    }


def lead(s: Solo, **members: bytes) -> Solo:
    """Up to the election."""
    s.start()
    s.joined(1, member="m1", members=members or {"m1": wish(), "m2": wish()})
    return s


def test_the_leader_assigns_to_all() -> None:
    """CLI-8: by its own id in the leader field."""
    s = lead(Solo())
    assert shares(s) == {"m1": "orders-0 orders-1", "m2": "orders-2 orders-3"}
    s.synced("orders-0 orders-1")
    assert s.member.is_leader and s.member.settled


def test_the_leader_runs_the_assignor_that_was_voted_for() -> None:
    """CLI-8: any of the list."""
    s = Solo(assignors=("range", "roundrobin"))
    s.start()
    s.joined(1, member="m1", protocol="roundrobin", members={"m1": wish(), "m2": wish()})
    assert shares(s) == {"m1": "orders-0 orders-2", "m2": "orders-1 orders-3"}


def test_a_static_leader_that_came_back_may_skip_the_assignment() -> None:
    """CLI-8 (STA-4): an empty SyncGroup, but it watches the group's topics from now on."""
    s = Solo(group_instance_id="i1", metadata_max_age_ms=1_000)
    s.start()
    s.joined(1, member="m1", members={"m1": wish(), "m2": wish()}, skip_assignment=True)
    assert shares(s) == {}
    s.synced("orders-0 orders-1")
    assert s.member.is_leader
    s.cluster["orders"] = 5
    s.advance(1_000)
    s.tell()
    assert "metadata" in s.sent(JoinGroupRequest).reason


def test_the_leader_learns_of_the_whole_groups_topics_before_it_assigns() -> None:
    """CLI-8: others' topics are asked for; SyncGroup waits for the answer, heartbeats do not."""
    s = Solo(cluster={"orders": 1, "pay": 2})
    lead(s, m1=wish(), m2=wish(("pay",)))
    assert s.waiting(SyncGroupRequest) is None
    s.advance(3_000)
    assert s.waiting(HeartbeatRequest)
    s.gather()
    assert s.questions[-1].topics == {"orders", "pay"}
    s.tell()
    assert shares(s) == {"m1": "orders-0", "m2": "pay-0 pay-1"}


def test_a_topic_that_does_not_exist_holds_nobody_up() -> None:
    """CLI-8: asked once, then assigned without it."""
    s = lead(Solo(), m1=wish(), m2=wish(("gone",)))
    s.tell({"gone": E.UNKNOWN_TOPIC_OR_PARTITION})
    assert shares(s) == {"m1": "orders-0 orders-1 orders-2 orders-3", "m2": ""}


def test_growth_makes_only_the_leader_join_again() -> None:
    """CLI-18, CLI-19, CLI-21."""
    for leads in (True, False):
        s = Solo(metadata_max_age_ms=2_000)
        s.start()
        s.joined(1, member="m1", leader="m1" if leads else "x")
        s.synced("orders-0")
        s.offsets()
        s.cluster["orders"] = 5
        s.advance(2_000)
        s.tell()
        assert (s.waiting(JoinGroupRequest) is not None) is leads


@pytest.mark.parametrize("what", ["grown", "deleted", "created", "same"])
def test_what_the_leader_watches(what: str) -> None:
    """CLI-19: partitions of each topic of the group; also topics that come and go."""
    s = Solo(("orders", "later"), metadata_max_age_ms=2_000)
    s.start()
    s.joined(1, member="m1", members={"m1": wish(("orders", "later"))})
    s.synced("orders-0")
    s.offsets()
    missing = {"later": E.UNKNOWN_TOPIC_OR_PARTITION}
    if what == "grown":
        s.cluster["orders"] = 9
    elif what == "deleted":
        s.cluster, missing = {}, {**missing, "orders": E.UNKNOWN_TOPIC_OR_PARTITION}
    elif what == "created":
        s.cluster["later"], missing = 1, {}
    s.advance(2_000)
    s.tell(missing)
    assert (s.waiting(JoinGroupRequest) is not None) is (what != "same")


@pytest.mark.parametrize(("rack", "rejoins"), [("r1", True), ("", False)])
def test_racks_count_only_for_members_that_have_one(rack: str, rejoins: bool) -> None:
    """CLI-19: with client.rack set, other racks of the replicas are a change."""
    s = Solo(client_rack=rack, metadata_max_age_ms=2_000, cluster={"orders": 1})
    s.turn()
    s.tell(racks={"orders": [("r1",)]})
    s.find()
    s.joined(1, member="m1")
    s.synced("orders-0")
    s.offsets()
    s.advance(2_000)
    s.tell(racks={"orders": [("r1", "r2")]})
    assert (s.waiting(JoinGroupRequest) is not None) is rejoins


def test_the_racks_of_replicas_reach_the_assignor() -> None:
    """KIP-881: what Metadata says of racks; None where no broker has one."""
    seen: list[Any] = []

    class Curious(Eager):
        def assign(self, partitions: Any, members: Any, racks: Any = None) -> Any:
            seen.append((racks, members["m1"].rack))
            type(self).answer = {"m1": "orders-0"}
            return super().assign(partitions, members, racks)

    for racks in (("r1", None), (None,)):
        s = Solo(assignors=(Curious,), client_rack="r9", cluster={"orders": 1})
        s.turn()
        s.tell(racks={"orders": [racks]})
        s.find()
        s.joined(1, member="m1")
    assert seen == [({"orders": [["r1"]]}, "r9"), (None, "r9")]


# -- assignors that break a rule
# -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "rule", "partition"),
    [
        (ValueError("out of luck"), "assigns", None),
        ({"m1": "orders-0 orders-1 orders-2 orders-3"}, "every member has a part", None),
        (
            {"m1": "orders-0 orders-1", "m2": "orders-1 orders-2 orders-3"},
            "a partition has one owner",
            "orders-1",
        ),
        (
            {"m1": "orders-0 orders-0 orders-1", "m2": "orders-2 orders-3"},
            "a partition has one owner",
            "orders-0",
        ),
        ({"m1": "orders-0 orders-1", "m2": "orders-3"}, "every partition has an owner", "orders-2"),
        (
            {"m1": "orders-0 orders-1", "m2": "orders-2", "m3": "orders-3"},
            "only members have a part",
            "orders-3",
        ),
        (
            {"m1": "orders-0 orders-1", "m2": "orders-2 orders-3 orders-4"},
            "the partition exists",
            "orders-4",
        ),
    ],
)
def test_a_broken_rule_is_named_and_the_group_goes_on(
    answer: Any, rule: str, partition: str | None
) -> None:
    """Which rule, which partition; nothing is handed in, and the next poll joins again, so that
    nobody waits for ever."""

    class Broken(Eager):
        pass

    Broken.answer = answer
    s = lead(Solo(assignors=(Broken,)))
    assert s.waiting(SyncGroupRequest) is None
    (fault,) = s.faults
    assert isinstance(fault, AssignorFault)
    assert (fault.assignor, fault.rule, fault.partition) == ("mine", rule, partition)
    assert rule in str(fault) and (partition or "") in str(fault)
    s.poll()
    assert "AssignorFault" in s.sent(JoinGroupRequest).reason


def test_an_answer_that_is_no_plan() -> None:
    class Odd(Eager):
        def assign(self, partitions: Any, members: Any, racks: Any = None) -> Any:
            return ["m1"]

    s = lead(Solo(assignors=(Odd,)))
    assert isinstance(s.faults[0], AssignorFault) and "list" in str(s.faults[0])


def test_user_data_that_cannot_be_made() -> None:
    class Mute(Eager):
        def subscription_user_data(self, topics: Any) -> bytes | None:
            raise ValueError("no words")

    s = Solo(assignors=(Mute,))
    s.turn()
    s.tell()
    s.find()
    assert isinstance(s.faults[0], AssignorFault) and s.waiting(JoinGroupRequest) is None


def test_a_cooperative_assignor_must_not_give_away_what_is_still_owned() -> None:
    """CLI-26; the same plan is fine once the partition is left out, although somebody still owns
    it."""

    class Hasty(Cooperative):
        answer: ClassVar[Any] = {"m1": "orders-0 orders-1", "m2": "orders-2 orders-3"}

    members = {"m1": wish(owned="orders-0 orders-1 orders-2"), "m2": wish()}
    s = lead(Solo(assignors=(Hasty,)), **members)
    (fault,) = s.faults
    assert (
        isinstance(fault, AssignorFault)
        and fault.partition == "orders-2"
        and "m1 still owns it" in str(fault)
    )

    class Patient(Cooperative):
        answer: ClassVar[Any] = {"m1": "orders-0 orders-1", "m2": "orders-3"}

    s = lead(Solo(assignors=(Patient,)), **members)
    assert shares(s) == {"m1": "orders-0 orders-1", "m2": "orders-3"}


def test_the_built_in_cooperative_assignor_is_not_checked_so() -> None:
    """CLI-26: it weighs generations itself: a claim of an older generation is none."""
    s = Solo(assignors=("cooperative-sticky",))
    stale = wish(owned="orders-0 orders-1 orders-2 orders-3", generation=1, user_data=b"\0\0\0\1")
    fresh = wish(owned="orders-0 orders-1", generation=5, user_data=b"\0\0\0\5")
    lead(s, m1=stale, m2=fresh)
    assert s.faults == []
    assert shares(s)["m2"] == "orders-0 orders-1"


def test_topics_that_nobody_subscribes_to_may_be_assigned_and_are_watched() -> None:
    """CLI-27: the leader extends the group's subscription and asks for their metadata before it
    hands in."""

    class Wide(Eager):
        answer: ClassVar[Any] = {"m1": "orders-0 extra-0", "m2": "orders-1"}

    s = lead(Solo(assignors=(Wide,), cluster={"orders": 2, "extra": 1}))
    assert s.waiting(SyncGroupRequest) is None
    s.gather()
    assert s.questions[-1].topics == {"orders", "extra"}
    s.tell()
    assert shares(s) == {"m1": "orders-0 extra-0", "m2": "orders-1"}


def test_a_subscription_that_cannot_be_read() -> None:
    """CPB-3: the leader says so; a version above 3 is no reason."""
    s = lead(Solo(), m1=wish(), m2=b"\xff\xff")
    assert [type(fault) for fault in s.faults] == [UnreadableSubscription]
    s = lead(
        Solo(), m1=wish(), m2=b"\x00\x07" + Subscription(("orders",)).encode()[2:] + b"later fields"
    )
    assert set(shares(s)) == {"m1", "m2"}


def test_generation_and_rack_of_a_subscription() -> None:
    """CPB-4: -1 is no generation, an empty rack is none."""
    seen: list[Any] = []

    class Curious(Eager):
        def assign(self, partitions: Any, members: Any, racks: Any = None) -> Any:
            seen.extend(
                (wish.generation, wish.rack, tuple(wish.owned_partitions))
                for wish in members.values()
            )
            type(self).answer = {"m1": "orders-0 orders-1 orders-2 orders-3", "m2": ""}
            return super().assign(partitions, members, racks)

    data = Subscription(("orders",), None, (), 7, "").encode()
    lead(Solo(assignors=(Curious,)), m1=wish(owned="orders-3"), m2=data)
    assert seen == [(None, None, tps("orders-3")), (7, None, ())]


def test_assignments_keep_the_assignors_order() -> None:
    """CPB-2."""

    class Backwards(Eager):
        answer: ClassVar[Any] = {"m1": "orders-3 orders-1 orders-2 orders-0"}

    s = lead(Solo(assignors=(Backwards,)), m1=wish())
    assert shares(s) == {"m1": "orders-3 orders-1 orders-2 orders-0"}


def test_a_leader_that_was_expelled_while_waiting_for_metadata_joins_anew() -> None:
    """CLI-10: the generation is gone when the metadata come."""
    s = lead(Solo(cluster={"orders": 1, "pay": 1}), m1=wish(), m2=wish(("pay",)))
    s.advance(3_000)
    s.answer(HeartbeatResponse(error_code=E.UNKNOWN_MEMBER_ID))
    s.tell()
    assert s.member.generation.member_id == ""


def test_a_view_says_what_is_there() -> None:
    seen = view({"a": 2, "b": 1}, ["a", "b", "c"])
    assert (
        seen.partition_counts(["a", "c"]) == {"a": 2}
        and seen.covers(frozenset("a"))
        and not seen.covers(None)
    )
