"""What a newcomer is told about a rebalance."""

from __future__ import annotations

from assignors import Subscription, TopicPartition
from assignors.explanation import explain


def member(*topics: str, owns: list[int] | None = None) -> Subscription:
    """A newcomer, unless it owns something."""
    return Subscription(
        topics,
        owned_partitions=[TopicPartition("orders", n) for n in owns or []],
        generation=1 if owns else None,
    )


def given(**numbers: list[int]) -> dict[str, list[tuple[str, int]]]:
    return {name: [("orders", n) for n in listed] for name, listed in numbers.items()}


TWELVE = {"orders": 12}


def test_a_member_joined_and_got_its_share() -> None:
    members = {
        "A": member("orders", owns=list(range(6))),
        "B": member("orders"),
        "C": member("orders", owns=list(range(6, 12))),
    }
    plan = given(A=[0, 1, 2, 3], B=[4, 5, 10, 11], C=[6, 7, 8, 9])
    assert explain(TWELVE, members, plan, partition=("orders", 4)) == (
        "orders-4 moved from A to B: B joined and had 0 of 12; a balanced plan gives each 4; A kept 4 of its 6."
    )
    assert (
        explain(TWELVE, members, plan, partition=("orders", 0))
        == "orders-0 stayed with A: A had it, and now has 4 of 12."
    )


def test_the_whole_story_lists_what_changed_and_counts_what_did_not() -> None:
    members = {"A": member("orders", owns=[0, 1, 2]), "B": member("orders")}
    assert explain({"orders": 3}, members, given(A=[0, 1], B=[2])).splitlines() == [
        "orders-2 moved from A to B: B joined and had 0 of 3; a balanced plan gives each 1 or 2; A kept 2 of its 3.",
        "2 of 3 partitions stayed where they were.",
    ]


def test_a_member_that_was_there_with_nothing_did_not_join() -> None:
    members = {"A": member("orders", owns=[0, 1]), "B": Subscription(("orders",), generation=1)}
    told = explain({"orders": 2}, members, given(A=[0], B=[1]), partition=("orders", 1))
    assert (
        told
        == "orders-1 moved from A to B: B had 0 of 2; a balanced plan gives each 1; A kept 1 of its 2."
    )


def test_the_owner_left() -> None:
    told = explain(
        {"orders": 2},
        {"B": member("orders")},
        given(B=[0, 1]),
        partition=("orders", 1),
        previous=given(A=[1], B=[0]),
    )
    assert told == "orders-1 moved from A to B: A is no longer in the group, and B now has 2 of 2."


def test_the_owner_no_longer_subscribes() -> None:
    members = {"A": member("payments", owns=[0]), "B": member("orders")}
    told = explain(
        {"orders": 1, "payments": 1},
        members,
        {**given(B=[0]), "A": [("payments", 0)]},
        partition=("orders", 0),
    )
    assert (
        told
        == "orders-0 moved from A to B: A no longer subscribes to orders, and B now has 1 of 2."
    )


def test_nobody_had_it() -> None:
    told = explain({"orders": 1}, {"A": member("orders")}, given(A=[0]), partition=("orders", 0))
    assert told == "orders-0 went to A: nobody had it, and A now has 1 of 1."


def test_two_claimed_it() -> None:
    members = {"A": member("orders", owns=[0]), "B": member("orders", owns=[0])}
    told = explain({"orders": 1}, members, given(A=[0], B=[]), partition=("orders", 0))
    assert (
        told
        == "orders-0 went to A: A and B claimed it in the same generation, so it counted as nobody's, and A now has 1 of 1."
    )
    waiting = explain({"orders": 1}, members, given(A=[], B=[]), partition=("orders", 0))
    assert (
        waiting
        == "orders-0 is given to nobody: A and B both claim it, so both must give it up first; the next round gives it away."
    )


def test_withheld_until_revoked() -> None:
    members = {"A": member("orders", owns=[0, 1]), "B": member("orders")}
    told = explain({"orders": 2}, members, given(A=[0], B=[])).splitlines()
    assert told == [
        "orders-1 is given to nobody: A still holds it and must revoke it first; when it has, the next round gives it away.",
        "B is in the group and got nothing: what it could get must be revoked by others first, or went to members that had less choice.",
        "1 of 2 partitions stayed where they were.",
    ]


def test_forgotten_and_unwanted_partitions() -> None:
    assert explain(
        {"orders": 1}, {"A": member("orders")}, given(A=[]), partition=("orders", 0)
    ).endswith("the plan has forgotten it.")
    assert explain(
        {"orders": 1}, {"A": member("x")}, given(A=[]), partition=("orders", 0)
    ).endswith("no member subscribes to orders.")


def test_a_partition_that_is_gone() -> None:
    members = {"A": member("orders", owns=[0, 1])}
    assert (
        explain({"orders": 1}, members, given(A=[0]), partition=("orders", 1))
        == "orders-1 does not exist any more; A had it."
    )
    assert (
        "orders-1 does not exist any more; A had it."
        in explain({"orders": 1}, members, given(A=[0])).splitlines()
    )
    assert (
        explain({"orders": 1}, members, given(A=[0]), partition=("orders", 7))
        == "orders-7 does not exist."
    )


def test_a_needless_move_is_called_so() -> None:
    members = {"A": member("orders", owns=[0]), "B": member("orders", owns=[1])}
    told = explain({"orders": 2}, members, given(A=[1], B=[0]), partition=("orders", 0))
    assert told.startswith(
        "orders-0 moved from A to B: no need is to be seen: A had 1 and now has 1, B had 1;"
    )


def test_unequal_subscriptions_speak_of_the_two_members() -> None:
    members = {"A": member("orders", "payments", owns=[0, 1, 2, 3]), "B": member("orders")}
    plan = {"A": [("payments", 0), ("orders", 0)], **given(B=[1, 2, 3])}
    told = explain({"orders": 4, "payments": 1}, members, plan, partition=("orders", 1))
    assert (
        told
        == "orders-1 moved from A to B: B joined and had 0 of 5; now A has 2 and B has 3; A kept 1 of its 4."
    )


def test_why_a_member_has_nothing() -> None:
    members = {"A": member("orders"), "B": member("orders"), "C": member("ghost"), "D": member()}
    told = explain({"orders": 1}, members, given(A=[0]))
    assert (
        "B is in the group and got nothing: 1 partition does not go round among 4 members." in told
    )
    assert "C is in the group and got nothing: none of the topics it subscribes to exists." in told
    assert "D is in the group and got nothing: it subscribes to nothing." in told
