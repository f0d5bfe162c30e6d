"""How many partitions move: as if every row of every generation were looked at, in its order."""

from __future__ import annotations

import random

import pytest

from coordinator.events.groups import GenerationStored, MemberReplaced, StoredMember
from coordinator.events.groups.consumer import Target, TargetAssigned, TopicPartitions
from coordinator.history.world.ownership.moves import GroupMoves, Moves
from coordinator.wire.consumer_protocol import Assignment
from tests.lines import event
from tests.shipped import lines_of, log_text


class OneByOne:
    """The rule, without thought for what it costs."""

    def __init__(self) -> None:
        self._owner: dict[tuple[str, int], str] = {}

    def stored(self, given: dict[str, tuple[tuple[str, tuple[int, ...]], ...]]) -> int:
        moved = 0
        for member, topics in given.items():
            for topic, numbers in topics:
                for number in numbers:
                    moved += self._owner.get((topic, number), member) != member
                    self._owner[topic, number] = member
        return moved

    def replaced(self, old: str, new: str) -> None:
        self._owner = {
            place: new if member == old else member for place, member in self._owner.items()
        }


def stored(
    given: dict[str, tuple[tuple[str, tuple[int, ...]], ...]],
    client: str | None = None,
    protocol_type: str = "consumer",
) -> GenerationStored:
    rows = [
        StoredMember(member, None, client or member, "", 0, 0, b"", Assignment(topics).encode())
        for member, topics in given.items()
    ]
    return GenerationStored(1, protocol_type, "range", None, tuple(rows))


def replaced(old: str, new: str) -> MemberReplaced:
    made: MemberReplaced = event(MemberReplaced, replaced=old, member_id=new)
    return made


@pytest.mark.parametrize("overlaps", [0.0, 0.2])
@pytest.mark.parametrize("seed", range(60))
def test_random_generations(seed: int, overlaps: float) -> None:
    """Members that stay as they are, lose partitions that nobody gets, come back under other ids;
    and two that have the same one."""
    chance = random.Random(seed)
    moves, rule = GroupMoves(), OneByOne()
    members = [f"m{number}" for number in range(5)]
    owner: dict[int, str | None] = dict.fromkeys(range(12))
    for _ in range(40):
        if chance.random() < 0.3:
            old, new = chance.choice(members), f"m{chance.randrange(12)}"
            if new not in members:
                members[members.index(old)] = new
                owner = {place: new if member == old else member for place, member in owner.items()}
                moves.replaced(replaced(old, new))
                rule.replaced(old, new)
        for place in chance.sample(range(12), chance.choice((0, 0, 1, 2, 12))):
            owner[place] = chance.choice([None, *members])
        twice = chance.randrange(12) if chance.random() < overlaps else None
        given = {
            member: (
                (
                    "t",
                    tuple(
                        place
                        for place in owner
                        if owner[place] == member or (place == twice and chance.random() < 0.5)
                    ),
                ),
            )
            for member in members
        }
        assert moves.stored(stored(given)).by_member == rule.stored(given)


def test_other_groups_have_no_partitions() -> None:
    other = stored({"a": (("t", (0,)),)}, protocol_type="connect")
    moves = GroupMoves()
    assert moves.stored(other) == moves.stored(stored({"b": (("t", (0,)),)})) == (0, 0)


def total(run: str) -> tuple[int, int]:
    moves, moved = Moves(), (0, 0)
    for line in lines_of(log_text(run)):
        if line.stream == "group":
            by_member, between = moves.see(line)
            moved = moved[0] + by_member, moved[1] + between
    return moved


def test_a_crash_loop_moves_partitions_of_member_ids_and_none_between_processes() -> None:
    """The process comes back under a new member id and gets what its last one had."""
    assert total("crash_loop") == (24, 0)


def test_a_static_member_that_comes_back_moves_nothing() -> None:
    assert total("rolling_deploy_static") == (0, 0)


def test_a_static_member_that_comes_back_as_another_process_moves_between_processes() -> None:
    moves = GroupMoves()
    assert moves.stored(stored({"a": (("t", (0, 1)),)}, client="one")) == (0, 0)
    moves.replaced(replaced("a", "b"))
    assert moves.stored(stored({"b": (("t", (0, 1)),)}, client="other")) == (0, 2)


def test_owners_are_kept_when_a_group_changes_its_protocol() -> None:
    moves = GroupMoves()
    moves.stored(stored({"a": (("t", (0, 1)),)}))
    target = Target("b", (TopicPartitions("t", b"", (1,)),))
    assert moves.assigned(TargetAssigned(2, "uniform", (target,))).by_member == 1
    assert moves.stored(stored({"a": (("t", (0, 1)),)})).by_member == 1
