"""The judge at work: every plan of our assignors in the lives of sensible groups, and explained
without a hitch."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from assignors import Assignment, Subscription, TopicPartition, Verdict, by_name, explain, verdict

pytestmark = pytest.mark.unmeasured

_STEPS = 12
Previous = dict[str, list[TopicPartition]]


def lives(assignor: str, seed: int, equal: bool) -> Iterator[tuple[Verdict, str]]:
    """Members come and go, topics come and grow; each plan is the next one's memory."""
    draw = Random(f"{assignor}/{seed}/{equal}")
    partitions = {f"t{n}": draw.randint(1, 9) for n in range(draw.randint(1, 4))}
    topics: dict[str, tuple[str, ...]] = {
        f"m{n}": _wanted(draw, partitions, equal) for n in range(draw.randint(1, 5))
    }
    given: dict[str, Assignment] = {}
    for generation in range(1, _STEPS):
        cooperative = assignor == "cooperative-sticky"
        members = {
            m: _subscription(assignor, wanted, given.get(m), generation - 1)
            for m, wanted in topics.items()
        }
        # A cooperative member revokes what it no longer wants before it joins: its claims are what
        # it holds.
        previous: Previous | None = (
            None if cooperative else {m: list(part.partitions) for m, part in given.items()}
        )
        plan = dict(by_name(assignor).assign(partitions, members))
        found = verdict(partitions, members, plan, previous=previous, cooperative=cooperative)
        yield found, explain(partitions, members, plan, previous=previous)
        given = plan
        if not found.withheld:
            _change(draw, partitions, topics, equal)
            given = {m: part for m, part in plan.items() if m in topics}


def _wanted(draw: Random, partitions: dict[str, int], equal: bool) -> tuple[str, ...]:
    """Never nothing: see the last test."""
    return (
        tuple(topic for topic in partitions if equal or draw.random() < 0.7)
        or tuple(partitions)[:1]
    )


def _subscription(
    assignor: str, wanted: tuple[str, ...], given: Assignment | None, generation: int
) -> Subscription:
    if given is None:
        return Subscription(wanted)
    own = by_name(assignor)
    own.on_assignment(given, generation)
    owned = tuple(partition for partition in given.partitions if partition.topic in wanted)
    return Subscription(wanted, own.subscription_user_data(wanted), owned, generation)


def _change(
    draw: Random, partitions: dict[str, int], topics: dict[str, tuple[str, ...]], equal: bool
) -> None:
    match draw.randrange(4):
        case 0:
            topics[f"m{draw.randint(5, 99)}"] = _wanted(draw, partitions, equal)
        case 1 if len(topics) > 1:
            del topics[draw.choice(list(topics))]
        case 2:
            partitions[draw.choice(list(partitions))] += draw.randint(1, 3)
        case _ if not equal:
            topics[draw.choice(list(topics))] = _wanted(draw, partitions, equal)


@pytest.mark.parametrize("equal", [True, False])
@pytest.mark.parametrize("assignor", ["range", "roundrobin", "sticky", "cooperative-sticky"])
def test_every_plan_is_valid(assignor: str, equal: bool) -> None:
    for seed in range(15):
        for found, told in lives(assignor, seed, equal):
            assert found.is_valid, found
            assert len(told.splitlines()) >= len(found.moves) + 1
            assert "forgotten" not in told


@pytest.mark.parametrize("assignor", ["sticky", "cooperative-sticky"])
def test_equal_subscriptions_are_balanced_and_nothing_moves_that_need_not(assignor: str) -> None:
    """STK-8: the constrained way is as sticky as can be."""
    for seed in range(20):
        for found, _ in lives(assignor, seed, True):
            assert found.withheld or found.is_balanced, found
            assert found.least.exact
            assert found.is_sticky, found


@pytest.mark.parametrize("equal", [True, False])
def test_cooperative_plans_are_safe(equal: bool) -> None:
    """STK-27."""
    for seed in range(20):
        assert all(found.is_safe for found, _ in lives("cooperative-sticky", seed, equal))


def test_unequal_sticky_plans_are_balanced() -> None:
    """STK-22."""
    for seed in range(20):
        for found, _ in lives("sticky", seed, False):
            assert found.is_balanced, found


def test_range_moves_more_than_it_must() -> None:
    """Nobody should think that the judge is always content."""
    assert not all(found.is_sticky for seed in range(20) for found, _ in lives("range", seed, True))


def test_the_judge_finds_a_fault_of_java() -> None:
    """STK-4: a first member without topics is overlooked, the others' subscriptions are equal, and
    it gets its share of them."""
    members = {"A": Subscription(()), "B": Subscription(("t",))}
    found = verdict({"t": 4}, members, by_name("sticky").assign({"t": 4}, members))
    assert [str(finding) for finding in found.findings] == [
        f"t-{n} is given to a member that does not subscribe to its topic (A)" for n in (0, 2)
    ]
