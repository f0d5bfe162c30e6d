"""The server-side `simple` assignor: even, sticky, several members of a partition only where members
outnumber partitions (SH-ASN-1, SH-ASN-2)."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence

import pytest

from assignors.errors import AssignorError
from assignors.java_order import table_order
from assignors.server_side import GroupSpec, Member, Plan, SimpleAssignor
from tests.assignors.server_cases import told
from tests.java_jars import NoJavaError, java_program

T, U = b"t" * 16, b"u" * 16


def spec(
    sizes: Mapping[bytes, int],
    members: Mapping[str, Sequence[bytes]],
    plan: Plan | None = None,
    **other: Mapping[bytes, frozenset[int]],
) -> GroupSpec:
    """A group whose members have what a plan gave them."""
    return GroupSpec(
        members={
            name: Member(topics=topics, assignment=(plan or {}).get(name, {}))
            for name, topics in members.items()
        },
        partitions=sizes,
        **other,
    )


def moves(old: Plan, new: Plan) -> int:
    """How many partitions members got that they did not have."""
    return sum(
        len(set(numbers) - set(old.get(name, {}).get(topic, ())))
        for name, topics in new.items()
        for topic, numbers in topics.items()
    )


def test_partitions_are_shared_evenly() -> None:
    """SH-ASN-1."""
    assert SimpleAssignor().assign(spec({T: 5}, {"a": [T], "b": [T]})) == {
        "a": {T: (0, 2, 4)},
        "b": {T: (1, 3)},
    }


def test_fewer_partitions_than_members() -> None:
    """SH-ASN-1: everybody has one, and one member has two here."""
    plan = SimpleAssignor().assign(spec({T: 2}, {key: [T] for key in "abc"}))
    assert sorted(len(of[T]) for of in plan.values()) == [1, 1, 2]
    assert Counter(number for of in plan.values() for number in of[T]) == {0: 2, 1: 2}


def test_only_what_must_move_moves() -> None:
    """SH-ASN-2."""
    alone = SimpleAssignor().assign(spec({T: 6}, {"a": [T]}))
    two = SimpleAssignor().assign(spec({T: 6}, {"a": [T], "b": [T]}, alone))
    assert moves(alone, two) == 3
    same = SimpleAssignor().assign(spec({T: 6}, {"a": [T], "b": [T]}, two))
    assert same == two
    three = SimpleAssignor().assign(spec({T: 6}, {"a": [T], "b": [T], "c": [T]}, two))
    assert moves(two, three) == 2
    left = SimpleAssignor().assign(spec({T: 6}, {"a": [T], "c": [T]}, three))
    assert moves(three, left) == 2


def test_what_is_not_assignable_is_given_to_nobody_new() -> None:
    """SH-HB-2: a partition that nobody had before."""
    before: Plan = {"a": {T: (1,)}}
    plan = SimpleAssignor().assign(
        spec({T: 3}, {"a": [T], "b": [T]}, before, assignable={T: frozenset({1})})
    )
    assert plan == {"a": {T: (1,)}, "b": {T: (1,)}}
    assert SimpleAssignor().assign(spec({T: 3}, {"a": [T]}, assignable={})) == {"a": {}}


def test_topics_that_nobody_knows_and_groups_without_members() -> None:
    """SRV-5."""
    assert SimpleAssignor().assign(spec({}, {})) == {}
    with pytest.raises(AssignorError, match="does not exist"):
        SimpleAssignor().assign(spec({}, {"a": [T]}))


def test_random_groups_are_even_complete_and_within_their_subscriptions() -> None:
    """SH-ASN-1: of groups that have nothing yet, every assignable partition has as many members as
    it needs, and no member two more than another."""
    rng = random.Random(36)
    for _ in range(600):
        sizes = {T: rng.randint(1, 6), U: rng.randint(1, 6)}
        alike = rng.random() < 0.6
        members: dict[str, list[bytes]] = {
            name: [T, U] if alike else rng.choice(([T], [U], [T, U], []))
            for name in rng.sample("abcdefgh", rng.randint(1, 8))
        }
        allowed = {
            topic: frozenset(n for n in range(size) if rng.random() < 0.9)
            for topic, size in sizes.items()
        }
        asked = spec(sizes, members, assignable=allowed)
        plan = SimpleAssignor().assign(asked)
        first = next(iter(members.values()))
        for topics in [first] if asked.is_homogeneous() else [[T], [U]]:
            _judge(topics, members, allowed, plan)


def _judge(
    topics: Sequence[bytes],
    members: Mapping[str, Sequence[bytes]],
    allowed: Mapping[bytes, frozenset[int]],
    plan: Plan,
) -> None:
    subscribers = [name for name, of in members.items() if topics and set(topics) <= set(of)]
    wanted = {(topic, number) for topic in topics for number in allowed[topic]}
    given = Counter(
        (topic, number)
        for name in members
        for topic in topics
        for number in plan.get(name, {}).get(topic, ())
    )
    if not subscribers or not wanted:
        assert not given
        return
    assert given == dict.fromkeys(wanted, -(-len(subscribers) // len(wanted)))
    loads = [sum(len(plan[name].get(topic, ())) for topic in topics) for name in subscribers]
    assert max(loads) - min(loads) <= 1 and min(loads) >= 1
    for name in set(members) - set(subscribers):
        assert not any(plan[name].get(topic) for topic in topics if topic not in members[name])


@pytest.mark.unmeasured
def test_plans_are_those_of_java() -> None:
    """SH-ASN-1, SH-ASN-2: which member has which partition, in which order, group after group."""
    rng = random.Random(5)
    specs, plans = [], []
    for _ in range(150):
        topics = [rng.randbytes(16) for _ in range(rng.randint(1, 3))]
        sizes = {topic: rng.choice((1, 2, 3, 5, 8, 40)) for topic in topics}
        plan: Plan = {}
        for _ in range(4):
            names = table_order([f"m{n}" for n in rng.sample(range(30), rng.randint(1, 12))])
            alike = rng.random() < 0.6
            wants = {
                name: topics if alike else [of for of in topics if rng.random() < 0.6]
                for name in names
            }
            specs.append(spec(sizes, wants, plan))
            plan = SimpleAssignor().assign(specs[-1])
            plans.append(plan)
    try:
        with java_program("ServerAssignors") as java:
            answers = java.ask([told(("simple", one, {})) for one in specs])
    except NoJavaError as missing:
        pytest.skip(str(missing))
    for mine, answer in zip(plans, answers, strict=True):
        theirs = _read(answer)
        assert {name: list(of.items()) for name, of in theirs.items()} == {
            name: list(of.items()) for name, of in mine.items()
        }


def _read(answer: str) -> Plan:
    """A plan as the harness writes one."""
    words = iter(answer.split())
    plan: Plan = {}
    for _ in range(int(next(words))):
        name, topics = next(words), int(next(words))
        plan[name] = {
            bytes.fromhex(next(words)): tuple(int(next(words)) for _ in range(int(next(words))))
            for _ in range(topics)
        }
    return plan
