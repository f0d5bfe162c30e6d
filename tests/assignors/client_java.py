"""Cases in the words of tests/java/ClientAssignors.java, Java's answers and ours in the same words,
and the smallest case that differs.

A question is one line of words: texts as hexadecimal UTF-16 behind "s", bytes in hexadecimal behind
"b", "-" for null, lists behind their length. "release" asks for Java's; "new <assignor>" begins a
case; "assign" tells topics (name, partitions, 0 or 1 for racks and then for each partition its
racks) and members (id, topics, user data, owned partitions, generation, instance id, rack).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from assignors import Assignor, AssignorError, Subscription, TopicPartition, by_name, java_hashing
from tests.assignors.client_cases import Case, Step
from tests.java_jars import JavaProgram

PROGRAM = "ClientAssignors"


def mean_the_same_java(java: JavaProgram) -> None:
    """From here on ours answers as the release does that runs the program."""
    java_hashing.java_release = int(java.ask(["release"])[0])


def question(step: Step) -> str:
    """One assignment as a line."""
    words: list[object] = ["assign", len(step.partitions)]
    for topic, count in step.partitions.items():
        racks = None if step.racks is None else step.racks.get(topic)
        words += [_text(topic), count, 0 if racks is None else 1]
        if racks is not None:
            for replicas in [*racks, *[[]] * count][:count]:
                words += [len(replicas), *map(_text, replicas)]
    words.append(len(step.members))
    for member, subscription in step.members.items():
        words += [_text(member), *_subscription(subscription)]
    return " ".join(map(str, words))


def _subscription(told: Subscription) -> Iterator[object]:
    yield len(told.topics)
    yield from map(_text, told.topics)
    yield "-" if told.user_data is None else "b" + told.user_data.hex()
    yield from _partitions(told.owned_partitions)
    yield -1 if told.generation is None else told.generation
    yield _text(told.group_instance_id)
    yield _text(told.rack)


def remember_question(partitions: Sequence[TopicPartition], generation: int) -> str:
    """An assignment that the member under test got: what does it send the next time?"""
    return " ".join(map(str, ["remember", *_partitions(partitions), generation]))


def our_answer(assignor: Assignor, step: Step) -> str:
    """What ours answers, in Java's words."""
    try:
        plan = assignor.assign(step.partitions, step.members, step.racks)
    except AssignorError:
        return "threw"
    words: list[object] = ["gave"]
    for member, assignment in plan.items():
        data = assignment.user_data
        words += [
            _text(member),
            "-" if data is None else data.hex(),
            *_partitions(assignment.partitions),
        ]
    return " ".join(map(str, words))


def disagreements(java: JavaProgram, cases: Iterable[Case]) -> Iterator[tuple[Case, int, str, str]]:
    """The cases where Java answers otherwise: the case, the number of its first such step, Java's
    answer, ours."""
    asked = list(cases)
    answers = iter(
        java.ask(
            line for case in asked for line in (f"new {case.assignor}", *map(question, case.steps))
        )
    )
    for case in asked:
        next(answers)
        ours, found = by_name(case.assignor), None
        for i, step in enumerate(case.steps):
            theirs, mine = next(answers).split(" ", 1), our_answer(ours, step).split(" ", 1)
            if found is None and (theirs[0] != mine[0] or (theirs[0] == "gave" and theirs != mine)):
                found = case, i, " ".join(theirs), " ".join(mine)
        if found:
            yield found


def shrink(java: JavaProgram, case: Case) -> Case:
    """A smaller case that still differs; the case itself if none does."""

    def differs(smaller: Case) -> bool:
        return any(True for _ in disagreements(java, [smaller]))

    changed = True
    while changed:
        changed = False
        for smaller in _smaller(case):
            if differs(smaller):
                case, changed = smaller, True
                break
    return case


def _smaller(case: Case) -> Iterator[Case]:
    for i in range(len(case.steps)):
        if len(case.steps) > 1:
            yield replace(case, steps=case.steps[:i] + case.steps[i + 1 :])
    for i, step in enumerate(case.steps):
        for smaller in _smaller_steps(step):
            yield replace(case, steps=(*case.steps[:i], smaller, *case.steps[i + 1 :]))


def _smaller_steps(step: Step) -> Iterator[Step]:
    if step.racks is not None:
        yield replace(step, racks=None)
    for member in step.members:
        yield replace(step, members={m: s for m, s in step.members.items() if m != member})
    for topic, count in step.partitions.items():
        yield replace(step, partitions={t: n for t, n in step.partitions.items() if t != topic})
        if count > 1:
            yield replace(step, partitions={**step.partitions, topic: count - 1})
    plain = Subscription(())
    for member, told in step.members.items():
        for changed in _smaller_subscriptions(told, plain):
            yield replace(step, members={**step.members, member: changed})


def _smaller_subscriptions(told: Subscription, plain: Subscription) -> Iterator[Subscription]:
    for name in ("user_data", "owned_partitions", "generation", "group_instance_id", "rack"):
        if getattr(told, name) != getattr(plain, name):
            yield told._replace(**{name: getattr(plain, name)})
    for i in range(len(told.topics)):
        yield told._replace(topics=(*told.topics[:i], *told.topics[i + 1 :]))
    for i in range(len(told.owned_partitions)):
        yield told._replace(
            owned_partitions=(*told.owned_partitions[:i], *told.owned_partitions[i + 1 :])
        )


def readable(answer: str) -> str:
    """An answer for people: texts decoded."""
    return " ".join(
        bytes.fromhex(w[1:]).decode("utf-16-be", "replace") if w.startswith("s") else w
        for w in answer.split(" ")
    )


def _text(text: str | None) -> str:
    return "-" if text is None else "s" + text.encode("utf-16-be", "surrogatepass").hex()


def _partitions(partitions: Sequence[TopicPartition]) -> Iterator[object]:
    yield len(partitions)
    for topic, partition in partitions:
        yield _text(topic)
        yield partition
