"""`coordinator explain`: who stood still from when to when, what had no owner, what a join phase
waited for, who is a zombie."""

from __future__ import annotations

from typing import Any

from assignors.user_data import encode_cooperative, encode_sticky
from coordinator.history.world.views import Note
from coordinator.wire.consumer_protocol import Subscription, TopicPartitions
from tests.events.kit import LoggedWorld, Owned, wants
from tests.lines import write

EAGER: dict[str, Any] = {"session_ms": 6000, "rebalance_ms": 10_000, "protocols": wants("orders")}
A, B, C = "a-9e37", "b-3c6e", "c-daa6"


def cooperative(owned: Owned | None = None, generation: int = -1) -> dict[str, Any]:
    """A JoinGroup as a cooperative member sends it."""
    held = tuple(TopicPartitions(topic, tuple(numbers)) for topic, numbers in (owned or {}).items())
    metadata = Subscription(("orders",), encode_cooperative(generation), held).encode(1)
    return {**EAGER, "protocols": {"cooperative-sticky": metadata}}


def sticky(owned: Owned | None = None, generation: int = -1) -> dict[str, Any]:
    """A JoinGroup as a member with the eager sticky assignor sends it."""
    data = encode_sticky(owned, generation) if owned else None
    return {**EAGER, "protocols": {"sticky": Subscription(("orders",), data).encode(1)}}


def two(how: dict[str, Any] = EAGER) -> LoggedWorld:
    """Members a (leader, orders 0-1) and b (orders 2), Stable in generation 2 at 1 s."""
    w = LoggedWorld()
    w.enter("a", **how)
    w.share(a={"orders": (0, 1, 2)})
    w.enter("b", **how)
    w.join("a", **how)
    w.share(a={"orders": (0, 1)}, b={"orders": (2,)})
    w.advance(1000)
    return w


def refuse_as_the_wire_does(w: LoggedWorld, name: str, api: str, error: str, **more: Any) -> None:
    """The line that a refused request leaves: the virtual world has no broker that would write
    it."""
    write(
        w.log_file,
        "wire",
        "RequestRefused",
        at_ms=w.now,
        group="g",
        member=w.id(name),
        api=api,
        errors=[error],
        **more,
    )


# -- eager
# -------------------------------------------------------------------------------------------------------------


def test_an_eager_member_stands_still_though_it_keeps_its_partitions() -> None:
    """From its JoinGroup until its SyncGroup is answered: 4.7 s here, because another one was slow
    to join again."""
    w = two()
    w.enter("c", **EAGER)
    w.advance(197)
    w.join("a", **EAGER)
    w.advance(4700)
    w.join("b", **EAGER)
    w.share(a={"orders": (0, 1)}, b={"orders": (2,)})
    text = w.text(3)
    assert f"{A}  orders 0-1   (stood still for 4.7 s, from 1.197 s to 5.897 s)" in text
    assert f"{B}  orders 2   (stood still for 0 ms, from 5.897 s to 5.897 s)" in text
    assert f"{C}  nothing\n" in text + "\n", "who had nothing cannot stop"
    assert "assignor range (eager)" in text
    assert "cost: orders 0-1 not consumed for 4.7 s, 9.400 partition-seconds in all" in text
    assert (
        f"members {A} and {B} rejoined within 4.9 s ({B} was awaited last, 4.7 s after the one before)"
        in text
    )
    assert "1.000 s  generation 3: Stable from 5.897 s on, with members" in text


def test_standing_still_lasts_through_an_interrupted_rebalance() -> None:
    w = two()
    w.join("a", **EAGER)
    w.advance(1000)
    w.join("b", **EAGER)
    w.advance(500)
    w.join("a", **{**EAGER, "protocols": wants("orders", "more")})  # in the sync phase
    w.advance(250)
    w.join("b", **EAGER)
    w.share(a={"orders": (0, 1)}, b={"orders": (2,)})
    text = w.text(4)
    assert f"{A}  orders 0-1   (stood still for 1.75 s, from 1.000 s to 2.750 s)" in text
    assert f"{B}  orders 2   (stood still for 750 ms, from 2.000 s to 2.750 s)" in text
    interrupted = next(part for part in w.text().split("\n\n") if "interrupted" in part)
    assert "cost: orders 0-2 not consumed for 1.5 s at most, 3.500 partition-seconds" in interrupted
    assert "cost: orders 0-2 not consumed for 250 ms, 0.750 partition-seconds in all" in text


def test_a_follower_that_is_slow_to_sync_stands_still_longer() -> None:
    """SYNC-2: the group is Stable, it is not."""
    w = two()
    w.join("a", **EAGER)
    w.join("b", **EAGER)
    w.sync("a", {"a": b"", "b": b""})
    w.advance(3000)
    assert f"{B}  nothing   (- orders 2, stands still since 1.000 s)" in w.text(3)
    w.sync("b")
    assert f"{B}  nothing   (- orders 2, stood still for 3 s, from 1.000 s to 4.000 s)" in w.text(3)


def test_what_a_removed_member_had_is_not_consumed_from_then_on() -> None:
    """SES-2"""
    w = two()
    w.advance(4000)
    w.heartbeat("a")
    w.advance(1000)
    w.advance(700)
    w.join("a", **EAGER)
    w.share(a={"orders": (0, 1, 2)})
    text = w.text(3)
    assert f"{B} was removed; it owned orders 2; last sign of life at 0.000 s" in text
    assert (
        "cost: orders 2 not consumed for 700 ms, 0.700 partition-seconds in all; up to 6.7" in text
    )


def test_an_eager_member_that_joins_again_without_a_rebalance_stops_too() -> None:
    """JOIN-4: an unchanged follower gets its generation again, at once. What it says in between is
    on the wire only."""
    w = two()
    log = w.log_file
    seen = write(
        log,
        "wire",
        "RequestSeen",
        at_ms=w.now,
        group="g",
        member=w.id("b"),
        api="join_group",
        version=9,
        client="b",
        peer="-",
    )
    write(
        log,
        "wire",
        "RequestAnswered",
        at_ms=w.now,
        cause=seen,
        group="g",
        member=w.id("b"),
        api="join_group",
        waited_ms=0,
    )
    w.advance(40)
    write(
        log,
        "wire",
        "RequestAnswered",
        at_ms=w.now,
        group="g",
        member=w.id("b"),
        api="sync_group",
        waited_ms=0,
    )
    cost = w.cost()
    assert (cost.lost.least_ms, cost.partitions) == (40, {"orders": {2}})


def test_when_it_had_learned_of_the_rebalance_is_told() -> None:
    """HB-1: an eager application may stop as soon as its heartbeat was answered."""
    w = two()
    w.enter("c", **EAGER)
    refuse_as_the_wire_does(w, "a", "heartbeat", "REBALANCE_IN_PROGRESS")
    w.advance(2500)
    w.join("a", **EAGER)
    w.join("b", **EAGER)
    w.share(a={"orders": (0, 1, 2)})
    assert (
        f"{A}  orders 0-2   (+ orders 2, stood still for 0 ms, from 3.500 s to 3.500 s at least: "
        "it had learned of the rebalance 2.5 s before its JoinGroup)"
    ) in w.text(3)


# -- cooperative
# -------------------------------------------------------------------------------------------------------


def test_cooperative_members_go_on_with_what_they_keep() -> None:
    """KIP-429: the join phase is no downtime; what moves has no owner from the first SyncGroup to
    the second."""
    w = LoggedWorld()
    w.enter("a", **cooperative())
    w.share(a={"orders": (0, 1, 2)})
    w.enter("b", **cooperative())
    w.advance(4700)
    w.join("a", **cooperative({"orders": (0, 1, 2)}, 1))
    w.share(a={"orders": (0, 1)})
    text = w.text(2)
    assert "assignor cooperative-sticky (cooperative)" in text
    assert f"{A}  orders 0-1   (- orders 2, never stopped with orders 0-1)" in text
    assert "cost:" not in text
    w.advance(10)
    w.join("a", **cooperative({"orders": (0, 1)}, 2))
    w.advance(290)
    w.join("b", **cooperative(generation=2))
    w.share(a={"orders": (0, 1)}, b={"orders": (2,)})
    text = w.text(3)
    assert f"{A}  orders 0-1   (never stopped)" in text
    assert "cost: orders 2 not consumed for 300 ms, 0.300 partition-seconds in all" in text
    assert w.text().count("The times at which members stood still are inferred") == 0, "nobody did"


def test_a_member_is_cooperative_if_all_its_assignors_are() -> None:
    """Java's default, range before cooperative-sticky, is eager."""
    mixed = {**EAGER, "protocols": {**wants("orders"), **cooperative()["protocols"]}}
    w = two(mixed)
    w.join("a", **mixed)
    w.advance(100)
    w.join("b", **mixed)
    w.share(a={"orders": (0, 1)}, b={"orders": (2,)})
    text = w.text(3)
    assert "(eager)" in text and f"{A}  orders 0-1   (stood still for 100 ms" in text


def test_of_an_unknown_assignor_the_owned_partitions_tell() -> None:
    mine = {
        **EAGER,
        "protocols": {
            "mine": Subscription(("orders",), None, (TopicPartitions("orders", (0, 1, 2)),)).encode(
                1
            )
        },
    }
    w = LoggedWorld()
    w.enter("a", **mine)
    w.share(a={"orders": (0, 1, 2)})
    w.join("a", **mine)
    w.share(a={"orders": (0, 1, 2)})
    assert f"{A}  orders 0-2   (never stopped)" in w.text(2)


# -- a member's own word
# -----------------------------------------------------------------------------------------------


def tell(w: LoggedWorld, kind: str, name: str, *numbers: int) -> None:
    rows = [{"topic": "orders", "partition": number} for number in numbers]
    write(
        w.log_file,
        "member",
        kind,
        at_ms=w.now,
        group="g",
        member=w.id(name),
        client=name,
        generation=w.group.generation,
        partitions=rows,
    )


def test_a_members_own_word_wins_over_what_its_requests_suggest() -> None:
    w = LoggedWorld()
    w.enter("a", **EAGER)
    w.share(a={"orders": (0, 1, 2)})
    tell(w, "PartitionsAssigned", "a", 0, 1, 2)
    w.advance(1000)
    tell(w, "PartitionsRevoked", "a", 0, 1, 2)
    w.advance(300)
    w.join("a", **EAGER)
    w.share(a={"orders": (0, 1, 2)})
    w.advance(50)
    tell(w, "PartitionsAssigned", "a", 0, 1, 2)
    text = w.text(2)
    assert (
        f"{A}  orders 0-2   (stood still for 350 ms, from 1.000 s to 1.350 s, as the member logged)"
        in text
    )
    assert "cost: orders 0-2 not consumed for 350 ms, 1.050 partition-seconds in all" in text


def test_a_members_own_word_when_it_gives_up_a_part() -> None:
    w = LoggedWorld()
    w.enter("a", **cooperative())
    w.share(a={"orders": (0, 1)})
    tell(w, "PartitionsAssigned", "a", 0, 1)
    tell(w, "PartitionsLost", "a", 1)
    w.advance(70)
    tell(w, "PartitionsAssigned", "a", 1)
    assert (w.cost().lost.least_ms, w.view().members[w.id("a")].held) == (
        70,
        {"orders": (0, 1)},
    )


def test_a_process_that_was_killed_has_nothing_any_more_although_it_is_a_member_still() -> None:
    w = two()
    tell(w, "PartitionsAssigned", "a", 0, 1)
    tell(w, "PartitionsAssigned", "b", 2)
    write(
        w.log_file, "member", "MemberCrashed", at_ms=w.now, group="g", member=w.id("b"), client="b"
    )
    w.advance(3000)
    tell(w, "PartitionsRevoked", "a", 0, 1)
    w.join("a", **EAGER)
    w.advance(3000)  # b's session ends
    w.share(a={"orders": (0, 1, 2)})
    w.advance(20)
    tell(w, "PartitionsAssigned", "a", 0, 1, 2)
    cost = w.cost()
    assert (cost.longest_ms, cost.lost.least_ms) == (6020, 6020 + 2 * 3020)
    assert f"{B} was removed; it owned orders 2" in w.text(3)


# -- what a join phase waited for
# --------------------------------------------------------------------------------------


def test_a_pending_id_that_never_came_back_holds_up_the_join_phase() -> None:
    """MID-6"""
    w = two()
    w.join("ghost", protocols=wants("orders"), session_ms=7000)
    w.join("a", **EAGER)
    w.join("b", **EAGER)
    for _ in range(2):
        w.advance(3500)
    assert (
        "the join phase waited 7 s for member id ghost-daa6, which was assigned and did not join (MID-6)"
        in w.text(3)
    )


def test_an_expiry_or_a_leave_that_ends_the_join_phase() -> None:
    """SES-2, LV-4"""
    w = two()
    w.join("a", **EAGER)
    w.advance(5000)
    assert f"the join phase waited 5 s, until the session of {B} expired" in w.text(3)
    w = two()
    w.join("a", **EAGER)
    w.advance(1500)
    w.leave("b")
    assert f"the join phase waited 1.5 s, until {B} left" in w.text(3)


def test_the_rebalance_timeout_that_ends_the_join_phase() -> None:
    """REB-4"""
    w = two()
    w.join("a", **EAGER)
    for _ in range(3):
        w.heartbeat("b")
        w.advance(4000)
    assert "the join phase lasted 10 s, the whole rebalance timeout (REB-4)" in w.text(3)


def test_a_leader_that_is_slow_to_assign_makes_the_sync_phase_long() -> None:
    w = two()
    w.join("a", **EAGER)
    w.join("b", **EAGER)
    w.advance(2000)
    w.share(a={"orders": (0, 1, 2)})
    assert (
        f"the sync phase waited 2 s for the assignment, which leader {A} sends with its SyncGroup"
        in w.text(3)
    )


# -- claims
# ------------------------------------------------------------------------------------------------------------


def test_sticky_user_data_says_who_keeps_what() -> None:
    """UD-1, STK-1: without these bytes a member is as new as any other."""
    w = two(sticky())
    w.join("a", **sticky({"orders": (0, 1)}, 2))
    w.join("b", **sticky())
    w.share(a={"orders": (0, 1)}, b={"orders": (2,)})
    assert (
        f"sticky leaves in place what a JoinGroup's user data claim: {A} claimed orders 0-1 of generation 2, and keeps all of it; "
        f"{B} claimed nothing"
    ) in w.text(3)
    w.join("a", **sticky({"orders": (0, 1)}, 2))
    w.join("b", **sticky({"orders": (1, 2)}, 3))
    w.share(a={"orders": (0,)}, b={"orders": (1, 2)})
    assert (
        f"{A} claimed orders 0-1 of generation 2, older than another claim, and keeps orders 0"
        in w.text(4)
    )
    assert f"{B} claimed orders 1-2 of generation 3, and keeps all of it" in w.text(4)
    w.join("a", **sticky({"orders": (0,)}, 4))
    w.join("b", **sticky({"orders": (1, 2)}, 4))
    w.share(a={"orders": (1, 2)}, b={"orders": (0,)})
    assert f"{A} claimed orders 0 of generation 4, and keeps none of it" in w.text(5)


# -- zombies
# -----------------------------------------------------------------------------------------------------------


def test_a_zombie_is_told_with_the_rule_and_with_what_it_believes() -> None:
    """VAL-1"""
    w = two()
    w.advance(4000)
    w.heartbeat("a")
    w.advance(1000)  # b expires
    for _ in range(3):
        refuse_as_the_wire_does(w, "b", "offset_commit", "UNKNOWN_MEMBER_ID", generation=2)
        w.advance(10)
    refuse_as_the_wire_does(w, "b", "join_group", "UNKNOWN_MEMBER_ID")
    text = w.text()
    assert (
        f"Member {B} was refused OffsetCommit 3 times until 6.020 s: UNKNOWN_MEMBER_ID (VAL-1: the group has no member with this id). "
        "It is a zombie: "
        "removed at 6.000 s (session expired), it still believes that it owns orders 2 of generation 2."
    ) in text
    assert text.count("zombie") == 1
    assert f"Member {B} was refused JoinGroup: UNKNOWN_MEMBER_ID." in text


def test_a_fenced_instance_is_a_zombie_too() -> None:
    """STA-6"""
    w = LoggedWorld()
    w.enter("s", instance="box", **EAGER)
    w.share(s={"orders": (0, 1)})
    old = w.id("s")
    w.client("s").member_id = ""
    w.enter("s", **EAGER)
    write(
        w.log_file,
        "wire",
        "RequestRefused",
        at_ms=w.now,
        group="g",
        member=old,
        api="heartbeat",
        errors=["FENCED_INSTANCE_ID"],
    )
    note = w.view().entries[-1]
    assert isinstance(note, Note)
    assert (
        "Member box-9e37 was refused heartbeat: FENCED_INSTANCE_ID (STA-6: a newer instance has its group.instance.id). It is a zombie: "
        "replaced by a newer instance at 0.000 s, it still believes that it owns orders 0-1 of generation 1."
    ) in w.text()


def test_others_that_are_refused_are_no_zombies() -> None:
    w = two()
    w.leave("b")
    refuse_as_the_wire_does(w, "b", "heartbeat", "UNKNOWN_MEMBER_ID")
    refuse_as_the_wire_does(w, "a", "offset_commit", "ILLEGAL_GENERATION", generation=1)
    text = w.text()
    assert (
        f"Member {B} was refused heartbeat: UNKNOWN_MEMBER_ID (VAL-1: the group has no member with this id). It had left at 1.000 s."
        in text
    )
    assert f"Member {A} was refused OffsetCommit: ILLEGAL_GENERATION" in text
    assert "its request has generation 1. It still consumes orders 0-1." in text
    assert "zombie" not in text
