"""The judge, proved by planted bugs: every verdict must fall when, and only when, its rule is
broken."""

from __future__ import annotations

import random
import re
from collections import Counter
from itertools import product
from pathlib import Path

import pytest

from assignors import Assignment, Subscription, TopicPartition
from assignors.judge import Fault, balance_score, verdict
from assignors.least_moves import least_moves

ORDERS = {"orders": 6}
Plan = dict[str, list[tuple[str, int]]]


def group(**owned: list[int]) -> dict[str, Subscription]:
    """Members that subscribe to orders and own partitions of it."""
    return {
        member: Subscription(
            ("orders",),
            owned_partitions=[TopicPartition("orders", n) for n in numbers],
            generation=1,
        )
        for member, numbers in owned.items()
    }


def plan(**numbers: list[int]) -> Plan:
    return {member: [("orders", n) for n in listed] for member, listed in numbers.items()}


MEMBERS = group(a=[0, 1, 2, 3, 4, 5], b=[])
GOOD = plan(a=[0, 1, 2], b=[3, 4, 5])


def test_a_good_plan_passes_every_question() -> None:
    found = verdict(ORDERS, MEMBERS, GOOD)
    assert found.is_valid
    assert found.is_balanced
    assert found.balance_score == 0
    assert found.is_sticky
    assert found.least == (3, True)
    assert [str(move) for move in found.moves] == [
        "orders-3: a -> b",
        "orders-4: a -> b",
        "orders-5: a -> b",
    ]


def test_assignments_are_judged_as_well_as_bare_lists() -> None:
    whole = {m: Assignment(tuple(TopicPartition(*p) for p in part)) for m, part in GOOD.items()}
    assert verdict(ORDERS, MEMBERS, whole) == verdict(ORDERS, MEMBERS, GOOD)


@pytest.mark.parametrize(
    ("bug", "fault", "place"),
    [
        (plan(a=[0, 1, 2], b=[3, 4]), Fault.UNASSIGNED, ("orders", 5)),
        (plan(a=[0, 1, 2, 3], b=[3, 4, 5]), Fault.TWICE, ("orders", 3)),
        (plan(a=[0, 1, 2, 2], b=[3, 4, 5]), Fault.TWICE, ("orders", 2)),
        (plan(a=[0, 1, 2], b=[3, 4, 5, 6]), Fault.NO_SUCH_PARTITION, ("orders", 6)),
        (plan(a=[0, 1, 2, -1], b=[3, 4, 5]), Fault.NO_SUCH_PARTITION, ("orders", -1)),
        (plan(a=[0, 1, 2], c=[3, 4, 5], b=[]), Fault.NO_SUCH_MEMBER, ("orders", 3)),
        ({**GOOD, "b": [*GOOD["b"], ("payments", 0)]}, Fault.NOT_SUBSCRIBED, ("payments", 0)),
        (plan(a=[0, 1, 2, 3, 4, 5]), Fault.NO_ANSWER, None),
    ],
)
def test_planted_faults_are_found_and_placed(
    bug: Plan, fault: Fault, place: tuple[str, int] | None
) -> None:
    found = verdict({**ORDERS, "payments": 1}, MEMBERS, bug)
    assert not found.is_valid
    assert (fault, place) in [(finding.fault, finding.partition) for finding in found.findings]
    assert {finding.fault for finding in found.findings} == {fault}
    assert str(fault) in str(found)


def test_a_topic_that_nobody_subscribes_to_need_not_be_given() -> None:
    assert verdict({**ORDERS, "payments": 3}, MEMBERS, GOOD).is_valid


def test_a_topic_that_does_not_exist_need_not_be_given() -> None:
    assert verdict({}, MEMBERS, {"a": [], "b": []}).is_valid


def test_stk_22_balance_at_both_sides_of_its_boundary() -> None:
    """STK-22, STK-24."""
    members = group(a=[], b=[], c=[])
    even = verdict({"orders": 5}, members, plan(a=[0, 1], b=[2, 3], c=[4]))
    assert even.is_balanced
    assert even.balance_score == 2
    uneven = verdict({"orders": 5}, members, plan(a=[0, 1, 2], b=[3], c=[4]))
    assert not uneven.is_balanced
    assert uneven.imbalance is not None
    assert (uneven.imbalance.member, uneven.imbalance.owner) == ("b", "a")
    assert uneven.balance_score == 4
    assert "b could take orders-0 from a" in str(uneven)


def test_stk_22_a_member_that_cannot_read_the_topic_relieves_nobody() -> None:
    members = {**group(a=[]), "b": Subscription(("payments",))}
    assert verdict(
        {**ORDERS, "payments": 1}, members, {**plan(a=[0, 1, 2, 3, 4, 5]), "b": [("payments", 0)]}
    ).is_balanced


def test_needless_moves_are_counted() -> None:
    found = verdict(ORDERS, group(a=[0, 1, 2], b=[3, 4, 5]), plan(a=[0, 1, 3], b=[2, 4, 5]))
    assert found.is_valid
    assert found.is_balanced
    assert len(found.moves) == 2
    assert found.least == (0, True)
    assert not found.is_sticky


def test_partitions_of_a_member_that_left_had_to_move() -> None:
    found = verdict(
        ORDERS,
        group(b=[3, 4, 5]),
        plan(b=[0, 1, 2, 3, 4, 5]),
        previous=plan(a=[0, 1, 2], b=[3, 4, 5]),
    )
    assert len(found.moves) == 3
    assert found.least == (3, True)


def test_cooperative_plan_withholds_until_revoked() -> None:
    """STK-27."""
    first_round = plan(a=[0, 1, 2], b=[])
    found = verdict(ORDERS, MEMBERS, first_round, cooperative=True)
    assert found.is_valid
    assert found.is_safe
    assert found.withheld == (("orders", 3), ("orders", 4), ("orders", 5))
    assert not verdict(ORDERS, MEMBERS, first_round).is_valid, "to an eager member it would be lost"


def test_cooperative_plan_that_gives_too_early_is_unsafe() -> None:
    found = verdict(ORDERS, MEMBERS, GOOD, cooperative=True)
    assert found.is_valid
    assert not found.is_safe
    assert [(unsafe.member, unsafe.holders) for unsafe in found.unsafe] == [("b", ("a",))] * 3
    assert "orders-3 is given to b while a still holds it" in str(found)


def test_what_nobody_held_may_not_be_withheld() -> None:
    found = verdict(ORDERS, group(a=[0, 1, 2], b=[]), plan(a=[0, 1, 2], b=[3, 4]), cooperative=True)
    assert [finding.partition for finding in found.findings] == [("orders", 5)]


def test_a_claim_of_an_older_generation_is_stale() -> None:
    members = group(a=[0], b=[0])
    members["b"] = members["b"]._replace(generation=2)
    assert verdict({"orders": 1}, members, plan(a=[], b=[0]), cooperative=True).is_safe
    assert not verdict({"orders": 1}, members, plan(a=[0], b=[]), cooperative=True).is_safe


def test_a_partition_claimed_twice_is_safe_only_with_nobody() -> None:
    """STK-5, STK-13."""
    members = group(a=[0], b=[0])
    assert not verdict({"orders": 1}, members, plan(a=[0], b=[]), cooperative=True).is_safe
    assert not verdict({"orders": 1}, members, plan(a=[], b=[0]), cooperative=True).is_safe
    nobody = verdict({"orders": 1}, members, plan(a=[], b=[]), cooperative=True)
    assert nobody.is_safe
    assert nobody.is_valid


def test_a_holder_that_left_needs_not_be_waited_for() -> None:
    assert verdict(
        {"orders": 1}, group(b=[]), plan(b=[0]), previous=plan(a=[0]), cooperative=True
    ).is_safe


def test_the_example_of_the_documentation_prints_what_it_says(
    project_root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (example,) = re.findall(
        r"```python\n(.*?)```", (project_root / "docs" / "judging.md").read_text(), re.DOTALL
    )
    exec(compile(example, "docs/judging.md", "exec"), {})
    assert capsys.readouterr().out.splitlines() == re.findall(r"^# (.*)$", example, re.MULTILINE)


def test_balance_score_is_the_sum_over_all_pairs() -> None:
    """STK-24."""
    draw = random.Random(1)
    for _ in range(50):
        counts = [draw.randint(0, 9) for _ in range(draw.randint(0, 8))]
        assert balance_score(counts) == sum(
            abs(x - y) for i, x in enumerate(counts) for y in counts[:i]
        )


@pytest.mark.parametrize("seed", range(150))
def test_least_moves_against_every_assignment_there_is(seed: int) -> None:
    """STK-22: the exact answers, held against trying everything."""
    draw = random.Random(seed)
    sizes = {topic: draw.randint(0, 3) for topic in "xyz"[: draw.randint(1, 3)]}
    members = "abcd"[: draw.randint(1, 4 if sum(sizes.values()) < 6 else 3)]
    topics = {m: frozenset(t for t in sizes if draw.random() < 0.7) for m in members}
    everything = [
        (t, n)
        for t, size in sizes.items()
        for n in range(size)
        if any(t in own for own in topics.values())
    ]
    owners = {
        (t, n): draw.choice("abcdgone")
        for t, size in sizes.items()
        for n in range(size + 1)
        if draw.random() < 0.8
    }
    existing = {p: owner for p, owner in owners.items() if p[1] < sizes[p[0]]}
    best = min(
        sum(owner != given.get(p) for p, owner in existing.items())
        for given in _assignments(everything, topics)
        if _balanced(given, topics)
    )
    assert least_moves(sizes, topics, owners) == (best, True)


def _assignments(
    partitions: list[tuple[str, int]], topics: dict[str, frozenset[str]]
) -> list[dict[tuple[str, int], str]]:
    readers = [[m for m in topics if topic in topics[m]] for topic, _ in partitions]
    return [dict(zip(partitions, choice, strict=True)) for choice in product(*readers)]


def _balanced(given: dict[tuple[str, int], str], topics: dict[str, frozenset[str]]) -> bool:
    load = Counter(given.values())
    return not any(
        load[m] + 1 < load[owner]
        for (topic, _), owner in given.items()
        for m in topics
        if topic in topics[m]
    )


def test_too_many_possible_loads_give_a_lower_bound_and_say_so() -> None:
    topics = {f"m{i}": frozenset({"t", f"u{i % 2}"}) for i in range(20)}
    sizes = {"t": 100, "u0": 50, "u1": 50}
    owners = {("t", n): "m0" if n < 90 else "gone" for n in range(100)}
    least = least_moves(sizes, topics, owners)
    assert least == (10, False)
    assert "at least 10 had to" in str(
        verdict(
            sizes,
            {m: Subscription(tuple(own)) for m, own in topics.items()},
            dict.fromkeys(topics, ()),
            previous={
                "m0": [("t", n) for n in range(90)],
                "gone": [("t", n) for n in range(90, 100)],
            },
        )
    )
