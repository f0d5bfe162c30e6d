"""Random groups for the client-side assignors, from a seed: single assignments, and lives of twenty
assignments.

Nothing is made to be sensible: members claim partitions that do not exist, generations that never
were, topics twice, and user data cut short or filled with noise. A life goes on from what the
assignor under test gave.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from assignors import AssignorError, Subscription, TopicPartition, by_name
from assignors.user_data import encode_cooperative, encode_sticky

ASSIGNORS = ("range", "roundrobin", "sticky", "cooperative-sticky")
LIFE_STEPS = 20
GENERATION_BYTES = 4
"""Form V0 of sticky user data, as clients older than 2.3 write it, is V1 without them (UD-2)."""
NAMES = (
    "orders",
    "t1",
    "t2",
    "t3",
    "Aa",
    "BB",
    "C#",
    "topic-21",
    "a.b",
    "zz",
    "\ue000x",
    "\U0001f600",
    "é",
)
INSTANCES = ("i1", "i2", "\ue000", "\U0001f601")
NOISE = (b"", b"\0", b"\0\0\0\1\0\2t1\0\0\0\1\0\0\0\0\0\0", b"\x7f\xff\xff\xff" * 3)
ALIKE = ["".join("AaBB"[2 * (i >> bit & 1) :][:2] for bit in range(5)) for i in range(32)]
RACKS = ("a", "b", "c", "", None)


@dataclass(frozen=True)
class Step:
    """One question: the topics, the members in JoinGroup's order, the replicas' racks."""

    partitions: dict[str, int]
    members: dict[str, Subscription]
    racks: dict[str, list[list[str | None]]] | None = None


@dataclass(frozen=True)
class Case:
    """Questions to one instance of an assignor, in order."""

    assignor: str
    steps: tuple[Step, ...] = field(repr=False)


def make_case(assignor: str, seed: int, number: int) -> Case:
    """The case of this number; one in fifty is a life, one in fifty is about members set aside."""
    random = Random(f"{assignor}/{seed}/{number}")
    if number % 50 == 24:
        return Case(assignor, (_set_aside(random),))
    if number % 50 == 49:
        return Case(assignor, tuple(_life(assignor, random)))
    return Case(assignor, (_step(assignor, random),))


def _step(assignor: str, random: Random) -> Step:
    topics = _topics(random, random.choice((1, 2, 2, 3, 4, 6)), random.choice((1, 3, 4, 7, 12)))
    partitions = {
        topic: random.randint(0, 2) if random.random() < 0.05 else count
        for topic, count in topics.items()
    }
    ids = _ids(random, random.choice((0, 1, 2, 2, 3, 3, 4, 5, 6, 8, 11, 12, 13, 20, 24, 25)))
    generations = random.choice(((5,), (5, 5, 4), (5, 4, 3, -1), (5, 4, 3, None, 0, -1, -7)))
    same = _wanted(random, topics) if random.random() < 0.5 else None
    messy = random.random() < 0.3
    with_racks = random.random() < 0.4
    deal = _Deal(random, partitions, ids, messy)
    members = {}
    for member in ids:
        wanted = same if same is not None and random.random() < 0.97 else _wanted(random, topics)
        generation = random.choice(generations)
        owned = deal.owned(member)
        members[member] = Subscription(
            topics=wanted if random.random() < 0.9 else tuple(random.sample(wanted, len(wanted))),
            user_data=_user_data(assignor, random, owned, generation, messy),
            owned_partitions=owned if assignor != "sticky" or random.random() < 0.3 else (),
            generation=generation if random.random() < 0.7 else None,
            group_instance_id=random.choice((*INSTANCES, f"i{random.randrange(99)}"))
            if random.random() < 0.2
            else None,
            rack=random.choice(RACKS) if with_racks else None,
        )
    return Step(
        partitions,
        members,
        _racks(random, partitions) if with_racks and random.random() < 0.9 else None,
    )


def _set_aside(random: Random) -> Step:
    """Members with a topic of their own, who claim more of it than there is, beside a topic that
    several share (STK-19, STK-25)."""
    partitions = {
        "own": random.randint(1, 3),
        "shared": random.randint(1, 8),
        "also": random.randint(1, 4),
    }
    members: dict[str, Subscription] = {}
    for i in range(random.randint(2, 5)):
        topics = (
            ("own", "shared")
            if i == 0
            else random.choice((("shared",), ("shared", "also"), ("also",)))
        )
        claims = (
            [TopicPartition("own", p) for p in random.sample(range(12), random.randint(0, 8))]
            if i == 0
            else []
        )
        chance = 0.6 if i else 0.1
        claims += [
            TopicPartition(topics[-1], p)
            for p in range(partitions[topics[-1]])
            if random.random() < chance
        ]
        by_topic: dict[str, list[int]] = {}
        for topic, partition in claims:
            by_topic.setdefault(topic, []).append(partition)
        generation = random.choice((3, 3, 3, 2))
        rack = random.choice(RACKS) if random.random() < 0.2 else None
        data = encode_sticky(by_topic, generation)
        members[f"c{random.randrange(9)}{i}"] = Subscription(
            topics, data, tuple(claims), generation, None, rack
        )
    return Step(partitions, members, _racks(random, partitions) if random.random() < 0.3 else None)


class _Deal:
    """Who claims what: everything once at most, and then some."""

    def __init__(
        self, random: Random, partitions: dict[str, int], ids: list[str], messy: bool
    ) -> None:
        self._random, self._messy, self._partitions = random, messy, partitions
        all_of_them = [
            TopicPartition(topic, p) for topic, count in partitions.items() for p in range(count)
        ]
        random.shuffle(all_of_them)
        share = random.choice((0, 0.3, 0.8, 1, 1))
        skew = random.choice((1, 1, 2, 4))
        self._owned: dict[str, list[TopicPartition]] = {member: [] for member in ids}
        for partition in all_of_them:
            if ids and random.random() < share:
                self._owned[ids[int(len(ids) * random.random() ** skew)]].append(partition)
        if random.random() < 0.5:
            for owned in self._owned.values():
                owned.sort()
        self._all = all_of_them

    def owned(self, member: str) -> tuple[TopicPartition, ...]:
        """What this one claims."""
        random, owned = self._random, list(self._owned[member])
        if self._messy and self._all:
            for _ in range(random.choice((0, 0, 1, 1, 3))):
                owned.insert(random.randint(0, len(owned)), random.choice(self._all))
            if random.random() < 0.15:
                owned.insert(
                    random.randint(0, len(owned)),
                    TopicPartition(random.choice(NAMES), random.choice((0, 5, 9, 13, -1))),
                )
        return tuple(owned)


def _topics(random: Random, many: int, most: int) -> dict[str, int]:
    return {topic: random.randint(1, most) for topic in random.sample(NAMES, many)}


def _wanted(random: Random, topics: dict[str, int]) -> tuple[str, ...]:
    wanted = [topic for topic in topics if random.random() < 0.7]
    if random.random() < 0.05:
        wanted.append(random.choice(NAMES))
    if wanted and random.random() < 0.03:
        wanted.append(random.choice(wanted))
    return tuple(wanted)


def _ids(random: Random, many: int) -> list[str]:
    if random.random() < 0.04:  # all of one hash: deep buckets
        return random.sample(ALIKE, min(many, len(ALIKE)))
    shape = random.choice(
        ("c{}", "consumer-{}", "client-{}-{:08x}", "{:016x}", "m{:05}", "\U0001f600{}", "\ue000{}")
    )
    numbered = "c" not in shape
    ids = dict.fromkeys(
        shape.format(i if numbered else random.randrange(30), random.getrandbits(32))
        for i in range(many)
    )
    result = list(ids)
    random.shuffle(result)
    return result


def _user_data(
    assignor: str,
    random: Random,
    owned: tuple[TopicPartition, ...],
    generation: int | None,
    messy: bool,
) -> bytes | None:
    if messy and random.random() < 0.1:
        return random.choice((*NOISE, random.randbytes(random.randint(1, 12))))
    if assignor == "cooperative-sticky":
        return None if generation is None else encode_cooperative(generation)
    if not owned and random.random() < 0.5:
        return None
    by_topic: dict[str, list[int]] = {}
    for topic, partition in owned:
        by_topic.setdefault(topic, []).append(partition)
    data = encode_sticky(by_topic, generation or 0)
    data = data[:-GENERATION_BYTES] if generation is None else data
    if messy and random.random() < 0.1:
        data = (
            data[: random.randrange(len(data) + 1)]
            if random.random() < 0.5
            else data + random.randbytes(random.randint(1, 5))
        )
    return data


def _racks(random: Random, partitions: dict[str, int]) -> dict[str, list[list[str | None]]]:
    kind = random.choice(("ring", "random", "everywhere", "one"))
    racks: dict[str, list[list[str | None]]] = {}
    for topic, count in partitions.items():
        if random.random() < 0.05:
            continue
        if kind == "ring":
            racks[topic] = [["abcd"[p % 3], "abcd"[(p + 1) % 3]] for p in range(count)]
        elif kind == "everywhere":
            racks[topic] = [["a", "b", "c"] for _ in range(count)]
        elif kind == "one":
            racks[topic] = [["abc"[p % 3]] for p in range(count)]
        else:
            racks[topic] = [
                [random.choice(("a", "b", "c", "x", None)) for _ in range(random.randint(0, 3))]
                for _ in range(count)
            ]
    return racks


def _life(assignor: str, random: Random) -> list[Step]:
    """Twenty generations of one group, led by one instance; members come, go, want other topics,
    miss generations."""
    leader = by_name(assignor)
    topics = _topics(random, random.randint(1, 5), random.choice((2, 5, 9)))
    with_racks = random.random() < 0.3
    equal = random.random() < 0.5
    racks = _racks(random, topics) if with_racks else None
    members: dict[str, Subscription] = {}
    memories = {}
    steps: list[Step] = []
    for generation in range(1, LIFE_STEPS + 1):
        if random.random() < 0.2:
            topics = {**topics, **_topics(random, 1, 6)}
            racks = _racks(random, topics) if with_racks else None
        if random.random() < 0.1 and len(topics) > 1:
            topics.pop(random.choice(list(topics)))
        if members and random.random() < 0.4:
            members.pop(random.choice(list(members)))
        for _ in range(random.randint(0, 2) if members else 3):
            member = f"m-{random.getrandbits(32):08x}"
            rack = random.choice(RACKS) if with_racks else None
            members[member] = Subscription(
                tuple(topics) if equal else _wanted(random, topics), rack=rack
            )
            memories[member] = by_name(assignor)
        for member, before in members.items():
            wanted = before.topics
            if equal and random.random() < 0.97:
                wanted = tuple(topics)
            elif random.random() < 0.1:
                wanted = _wanted(random, topics)
            members[member] = before._replace(
                topics=wanted, user_data=memories[member].subscription_user_data(wanted)
            )
        asked = dict(members) if random.random() < 0.9 else dict(sorted(members.items()))
        steps.append(Step(dict(topics), asked, racks))
        try:
            plan = leader.assign(topics, asked, racks)
        except AssignorError:
            continue
        for member, assignment in plan.items():
            if random.random() < 0.9:  # the others never hear of it
                memories[member].on_assignment(assignment, generation)
                owned = assignment.partitions if assignor == "cooperative-sticky" else ()
                members[member] = members[member]._replace(
                    owned_partitions=owned, generation=generation if random.random() < 0.8 else None
                )
    return steps
