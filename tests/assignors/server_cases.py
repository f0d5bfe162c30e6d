"""Random cases for the server-side assignors, the words they are told to Java in, and how its
answers are read.

A line of a case: assignor, 1 if homogeneous; topics: how many, then id and partitions of each;
members: how many, then of each its id, instance id or -, rack or -, subscribed names, ids of
topics, owned partitions; then the partitions that count as assigned besides. Lists are preceded by
their length.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from assignors.errors import AssignorError
from assignors.java_hash_table import HashTable
from assignors.java_hashing import string_hash, uuid_hash
from assignors.server_side import GroupSpec, Member, Plan, RangeAssignor, UniformAssignor
from tests.java_jars import JavaProgram

ASSIGNORS = {"uniform": UniformAssignor(), "range": RangeAssignor()}
Case = tuple[str, GroupSpec, dict[bytes, list[int]]]
STEPS = 20
"""How often a group is assigned in one sequence."""


def told(case: Case) -> str:
    """The case as one line of words."""
    name, spec, others = case
    words: list[object] = [name, int(spec.is_homogeneous()), len(spec.partitions)]
    for topic, size in spec.partitions.items():
        words += (topic.hex(), size)
    words.append(len(spec.members))
    for member_id, member in spec.members.items():
        words += (
            member_id,
            member.instance_id or "-",
            member.rack or "-",
            len(member.topics) + member.unresolved,
            len(member.topics),
        )
        words += (topic.hex() for topic in member.topics)
        words += _owned(member.assignment)
    words += _owned(others)
    return " ".join(map(str, words))


def _owned(owned: Mapping[bytes, Sequence[int]]) -> list[object]:
    words: list[object] = [len(owned)]
    for topic, partitions in owned.items():
        words += (topic.hex(), len(partitions), *partitions)
    return words


def ours(case: Case) -> str:
    """Our answer, in Java's words."""
    name, spec, others = case
    assigned = {topic: set(partitions) for topic, partitions in others.items()}
    for member in spec.members.values():
        for topic, partitions in member.assignment.items():
            assigned.setdefault(topic, set()).update(partitions)
    try:
        plan = ASSIGNORS[name].assign(replace(spec, assigned=assigned))
    except AssignorError:
        return "!"
    return written(plan)


def written(plan: Plan) -> str:
    """A plan as the harness writes one."""
    words: list[object] = [len(plan)]
    for member_id, target in plan.items():
        words += (member_id, *_owned(target))
    return " ".join(map(str, words))


def sequence(name: str, seed: str, steps: int) -> list[Case]:
    """A group that is assigned again and again while members come and go and topics change; every
    plan is the next one's memory."""
    draw = random.Random(seed)
    topics = {
        draw.randbytes(16): _size(draw) for _ in range(draw.randint(0, draw.choice((2, 6, 30))))
    }
    equal = draw.random() < 0.5
    members: dict[str, Member] = {}
    shared = _some(draw, list(topics))
    cases: list[Case] = []
    for _ in range(steps):
        _churn(draw, members, topics, shared, equal)
        spec = GroupSpec(
            members=in_map_order(members),
            partitions=dict(topics),
            homogeneous=_homogeneous(members),
        )
        others = _foreign(draw, topics) if draw.random() < 0.1 else {}
        cases.append((name, spec, others))
        _remember(draw, members, name, spec)
        if draw.random() < 0.3 and topics:
            grown = draw.choice(list(topics))
            topics[grown] += draw.randint(0, 5)
        if draw.random() < 0.1 and topics:
            del topics[draw.choice(list(topics))]
    return cases


def in_map_order(members: Mapping[str, Member]) -> dict[str, Member]:
    """As the HashMap iterates that they are put into."""
    table = HashTable[str](string_hash)
    for member_id in members:
        table.put(member_id)
    return {member_id: members[member_id] for member_id in table}


def _size(draw: random.Random) -> int:
    return draw.choice(
        (
            0,
            1,
            2,
            3,
            draw.randint(0, 12),
            *(draw.randint(0, 100) for _ in range(10)),
            draw.randint(0, 3000),
        )
    )


def _some(draw: random.Random, topics: list[bytes]) -> list[bytes]:
    chosen = draw.sample(topics, draw.randint(0, len(topics)))
    return list(HashTable.copy_of(chosen, uuid_hash))


def _homogeneous(members: Mapping[str, Member]) -> bool:
    return len({(frozenset(member.topics), member.unresolved) for member in members.values()}) < 2


def _churn(
    draw: random.Random,
    members: dict[str, Member],
    topics: dict[bytes, int],
    shared: list[bytes],
    equal: bool,
) -> None:
    for _ in range(draw.choice((0, 1, 1, 2, draw.randint(0, 10), draw.choice((0, 16, 64, 128))))):
        wanted = shared if equal else _some(draw, list(topics))
        member_id = (
            draw.choice(("consumer-", "c-é", "𝄞-", ""))
            + f"{draw.getrandbits(64):016x}"[: draw.choice((2, 16))]
            + "m"
        )
        members[member_id] = Member(
            topics=wanted,
            instance_id=draw.choice((None, None, f"i{draw.randint(0, 99)}-{member_id}")),
            rack=draw.choice((None, "a", "b")),
            unresolved=draw.choice((0, 0, 0, 1, 20)) if not equal else 0,
        )
    for member_id in draw.sample(
        list(members), min(len(members), draw.choice((0, 0, 1, 1, 2, draw.randint(0, 64))))
    ):
        del members[member_id]
    for member_id, member in members.items():
        wanted = member.topics
        if not equal and draw.random() < 0.1:
            wanted = _some(draw, list(topics))
        if draw.random() < 0.99:
            wanted = [topic for topic in wanted if topic in topics]
        members[member_id] = replace(member, topics=wanted)


def _foreign(draw: random.Random, topics: dict[bytes, int]) -> dict[bytes, list[int]]:
    return {
        topic: draw.sample(range(size), draw.randint(0, min(size, 3)))
        for topic, size in topics.items()
        if draw.random() < 0.3
    }


def _remember(draw: random.Random, members: dict[str, Member], name: str, spec: GroupSpec) -> None:
    """What was assigned becomes the members' targets, now and then mixed up."""
    try:
        plan = ASSIGNORS[draw.choice((name, name, "range"))].assign(spec)
    except AssignorError:
        return
    mixed = list(plan.values())
    if draw.random() < 0.1:
        draw.shuffle(mixed)
    for member_id, target in zip(plan, mixed, strict=True):
        members[member_id] = replace(members[member_id], assignment=target)
    for member_id in members.keys() - plan.keys():
        members[member_id] = replace(members[member_id], assignment={})


def differences(java: JavaProgram, name: str, seed: int, numbers: Iterable[int]) -> Iterator[str]:
    """Ask Java the same; what differs, each with the command that asks again."""
    cases = [
        (number, step, case)
        for number in numbers
        for step, case in enumerate(sequence(name, f"{seed}-{number}", STEPS))
    ]
    for (number, step, case), theirs in zip(
        cases, java.ask(told(case) for _, _, case in cases), strict=True
    ):
        mine = ours(case)
        if not same(mine, theirs):
            again = f"python -m tests.assignors.server_fuzz --assignor {name} --seed {seed} --sequence {number} --step {step}"
            yield f"repeat: {again}\nours {mine}\nJava {theirs}"


def same(mine: str, theirs: str) -> bool:
    """Equal, or both refused."""
    return mine == theirs or (mine == "!" and theirs.startswith("!"))
