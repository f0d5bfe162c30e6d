"""Differential: 500 random cases for each assignor, answered by Kafka 4.4.0's own classes and by
ours. `make fuzz` asks 100,000."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from assignors import Assignment, TopicPartition, by_name, java_hashing
from tests.assignors.client_cases import ASSIGNORS, NAMES, Step, make_case
from tests.assignors.client_java import (
    PROGRAM,
    disagreements,
    mean_the_same_java,
    readable,
    remember_question,
    shrink,
)
from tests.java_jars import JavaProgram, NoJavaError, java_program

CASES = 500
SEED = 431


@pytest.fixture(scope="module")
def java() -> Iterator[JavaProgram]:
    before = java_hashing.java_release
    try:
        with java_program(PROGRAM) as program:
            mean_the_same_java(program)
            yield program
    except NoJavaError as missing:
        pytest.skip(f"not compared with Kafka's own assignors: {missing}")
    finally:
        java_hashing.java_release = before


@pytest.mark.parametrize("assignor", ASSIGNORS)
def test_same_answer_as_java(java: JavaProgram, assignor: str) -> None:
    """HM-1..6, APA-1..3, RNG-1..5, RR-1, STK-1..29: lists, their order, members' order, and where
    Java throws.

    A life of twenty generations is led by one instance on each side (STK-6).
    """
    cases = {number: make_case(assignor, SEED, number) for number in range(CASES)}
    for case, step, theirs, ours in disagreements(java, cases.values()):
        number = next(n for n, made in cases.items() if made is case)
        pytest.fail(
            f"{assignor}, step {step}\nJava: {readable(theirs)}\nours: {readable(ours)}\n"
            f"repeat and shrink: python -m tests.assignors.fuzz --assignor {assignor} --seed {SEED} --case {number}"
        )


@pytest.mark.parametrize("assignor", ASSIGNORS)
def test_same_user_data_as_java(java: JavaProgram, assignor: str) -> None:
    """UD-1, UD-3, UD-4: the bytes a member sends after an assignment."""
    random = Random(SEED)
    questions, ours = [f"new {assignor}"], ["ok"]
    member = by_name(assignor)
    for _ in range(300):
        topics = random.sample((*NAMES, *(f"topic-{i}" for i in range(30))), random.randint(0, 20))
        partitions = [
            TopicPartition(topic, p) for topic in topics for p in range(random.randint(1, 3))
        ]
        random.shuffle(partitions)
        generation = random.randint(-1, 1 << 20)
        questions.append(remember_question(partitions, generation))
        member.on_assignment(Assignment(tuple(partitions)), generation)
        data = member.subscription_user_data(())
        ours.append("-" if data is None else "b" + data.hex())
    assert java.ask(questions) == ours


def test_the_copy_of_a_map_by_release(monkeypatch: pytest.MonkeyPatch) -> None:
    """HM-4: rounded up once more than needed before Java 19."""
    sizes = (1, 3, 11, 12, 13, 24)
    assert [java_hashing.copy_capacity(size) for size in sizes] == [2, 8, 16, 32, 32, 64]
    monkeypatch.setattr(java_hashing, "java_release", 21)
    assert [java_hashing.copy_capacity(size) for size in sizes] == [2, 4, 16, 16, 32, 32]


def test_a_planted_difference_is_found_and_shrunk(
    java: JavaProgram, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The comparison itself: with the order of two members exchanged it speaks, and the case it is
    left with is small."""
    from assignors.range_assignor import RangeAssignor

    right = RangeAssignor.assign

    def wrong(
        self: RangeAssignor, partitions: dict[str, int], members: object, racks: object = None
    ) -> object:
        plan = right(self, partitions, members, racks)  # type: ignore[arg-type]
        return dict(reversed(plan.items()))

    monkeypatch.setattr(RangeAssignor, "assign", wrong)
    (case, *_), *_ = disagreements(java, [make_case("range", SEED, number) for number in range(20)])
    (step,) = shrink(java, case).steps
    assert isinstance(step, Step)
    assert len(step.members) == 2
    assert step.racks is None
    assert sum(step.partitions.values()) <= 1
