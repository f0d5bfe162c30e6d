"""What is asked of each client library: a small fixed set of behaviours, judged by what the
coordinator saw, never by what the library says of itself.

Members have a session timeout of minutes: whoever is gone sooner has left by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from coordinator import Emulator
from integration_tests.matrix.playing import Call, Cast

PATIENCE_S: Final = 60.0
SETTLING_S = PATIENCE_S
"""How long what a member did by itself may take to be seen."""
CONFIG: Final = {
    "group.consumer.heartbeat.interval.ms": 200,
    "group.consumer.min.heartbeat.interval.ms": 10,
    "group.consumer.session.timeout.ms": 300_000,
    "group.consumer.max.session.timeout.ms": 300_000,
    "group.share.heartbeat.interval.ms": 200,
    "group.share.min.heartbeat.interval.ms": 10,
    "group.share.session.timeout.ms": 300_000,
    "group.share.max.session.timeout.ms": 300_000,
    "group.share.assignment.interval.ms": 0,
    "group.initial.rebalance.delay.ms": 0,
}
"""Of the emulator that all play on."""
PARTITIONS: Final = 4
MEMBERS: Final = ("join", "second member", "leave")
Act = Callable[[Emulator, Cast], Iterator[str]]
"""A story that names each behaviour as soon as it is shown."""


def members(kafka: Emulator, cast: Cast) -> Iterator[str]:
    """One member has all partitions, two share them, and who leaves is gone at once."""
    group = kafka.group(cast.group)
    cast.enters()
    alone = group.wait(state="Stable", members=1, assigned="all", timeout=PATIENCE_S)
    assert alone.type == cast.protocol, f"the group is of type {alone.type}"
    yield "join"
    second = cast.enters()
    both = group.wait(members=2, assigned="all", acted=True, timeout=PATIENCE_S)
    assert all(member.assignment for member in both.members), "one member has nothing"
    if cast.protocol != "share":
        group.verify().single_owner()
    yield "second member"
    second.leaves()
    group.wait(members=1, assigned="all", timeout=SETTLING_S)
    yield "leave"


def commits(kafka: Emulator, cast: Cast) -> Iterator[str]:
    """Who comes next goes on where the other committed."""
    first = produced(kafka, cast.topic, "first", 8)
    a = cast.enters()
    a.reads(first)
    a.told("commit")
    committed(kafka, cast)
    a.leaves()
    then = produced(kafka, cast.topic, "then", 4)
    cast.enters().reads(then)
    yield "commit and resume"


def static(kafka: Emulator, cast: Cast) -> Iterator[str]:
    """A static member that comes back has what it had, and nobody else hears of it.

    In the classic protocol its process is killed: what a library sends as it closes differs. In the
    other one it closes, for its name is free only then.
    """
    group = kafka.group(cast.group)
    cast.enters(instance="one")
    group.wait(state="Stable", members=1, assigned="all", timeout=PATIENCE_S)
    two = cast.enters(instance="two")
    before = group.wait(state="Stable", members=2, assigned="all", acted=True, timeout=PATIENCE_S)
    theirs = before.member("two").assignment
    assert theirs, "the second member has nothing"
    if cast.protocol == "classic":
        two.dies()
    else:
        two.leaves()
    values = [f"kept {topic} {index}" for topic, index in theirs]
    for value, (topic, index) in zip(values, theirs, strict=True):
        kafka.produce(topic, [value], partition=index)
    cast.enters(instance="two").reads(values)
    after = group.snapshot()
    assert after.generation == before.generation, f"{before.generation} became {after.generation}"
    assert after.member("two").assignment == theirs, "it has other partitions"
    yield "static member"


def transactions(kafka: Emulator, cast: Cast) -> Iterator[str]:
    """What it writes and commits in a transaction is there once; what it aborts, not at all."""
    out = f"{cast.topic}-out"
    kafka.create_topic(out, partitions=1)
    values = produced(kafka, cast.topic, "order", 4)
    a = cast.enters()
    a.reads(values)
    a.told(f"transact {out} abort")
    assert not kafka.group(cast.group).snapshot().committed, "an aborted offset is there"
    a.told(f"transact {out} commit")
    committed(kafka, cast)
    a.leaves()
    reader = cast.enters(topic=out, group=f"{cast.group}-out")
    reader.reads(values)
    assert min(reader.offsets) > len(values) - 1, "nothing was aborted"
    yield "transactions"


def work(kafka: Emulator, cast: Cast) -> Iterator[str]:
    """Of a share group: what is given back comes again, what is acknowledged does not."""
    group = kafka.share_group(cast.group)
    group.configure({"share.auto.offset.reset": "earliest"})
    first = produced(kafka, cast.topic, "first", 4, partition=0)
    a = cast.enters()
    a.reads(first)
    a.told("release")
    a.reads(first * 2)
    a.told("commit")
    group.wait(lag=0, acquired=0, timeout=PATIENCE_S)
    a.leaves()
    then = produced(kafka, cast.topic, "then", 2, partition=0)
    cast.enters().reads(then)
    yield "commit and resume"


ACTS: Final[Mapping[Act, tuple[str, ...]]] = {
    members: MEMBERS,
    commits: ("commit and resume",),
    static: ("static member",),
    transactions: ("transactions",),
    work: ("commit and resume",),
}
"""With the behaviours that each shows."""
BEHAVIOURS: Final = (*MEMBERS, "commit and resume", "static member", "transactions")


def acts_of(protocol: str, lacks: tuple[str, ...]) -> list[Act]:
    """What is played in a group of this protocol, with a library that lacks some behaviours."""
    if protocol == "share":
        return [members, work]
    return [act for act, shown in ACTS.items() if act is not work and not {*shown} & {*lacks}]


def play(kafka: Emulator, act: Act, name: str, protocol: str, call: Call) -> dict[str, str]:
    """Why each behaviour of an act was not shown; empty texts: it was."""
    kafka.create_topic(name, partitions=PARTITIONS)
    found = dict.fromkeys(ACTS[act], "not reached")
    cast = Cast(kafka.bootstrap_servers, name, name, protocol, call)
    try:
        for shown in act(kafka, cast):
            found[shown] = ""
    except Exception as error:
        missing = next(shown for shown, why in found.items() if why)
        found[missing] = cast.told_of(error)
    finally:
        cast.ends()
    return found


def produced(
    kafka: Emulator, topic: str, word: str, count: int, partition: int | None = None
) -> list[str]:
    """Produce so many values, to one partition or to all in turn."""
    values = [f"{word} {number}" for number in range(count)]
    for number, value in enumerate(values):
        kafka.produce(
            topic, [value], partition=number % PARTITIONS if partition is None else partition
        )
    return values


def committed(kafka: Emulator, cast: Cast) -> None:
    """Everything is committed."""
    group = kafka.group(cast.group)
    group.wait(lag=0, timeout=SETTLING_S)
    seen = group.snapshot().committed
    assert len(seen) == PARTITIONS, f"offsets of {len(seen)} partitions are committed"
