"""One member has a group instance id at a time, across loads of the group too; and what Kafka
allows."""

from __future__ import annotations

from typing import Any

from coordinator.history.judges import Judgement
from coordinator.history.judges.generations import StaticIdentity
from tests.history.judges.crafted import judge

Line = dict[str, Any]


def of_group(at_ms: int, kind: str, **fields: Any) -> Line:
    return {
        "seq": at_ms,
        "at_ms": at_ms,
        "run": "1",
        "stream": "group",
        "type": kind,
        "cause": None,
        "group": "g",
        **fields,
    }


def stored(at_ms: int, generation: int, **members: str) -> Line:
    rows = [
        {"member_id": member, "group_instance_id": instance} for instance, member in members.items()
    ]
    return of_group(at_ms, "GenerationStored", generation=generation, members=rows)


def joined(at_ms: int, member: str, kind: str = "MemberJoined") -> Line:
    return of_group(at_ms, kind, member=member, group_instance_id="i")


def replaced(at_ms: int, old: str, new: str) -> Line:
    return of_group(at_ms, "MemberReplaced", member=new, replaced=old, group_instance_id="i")


def unloaded(at_ms: int) -> Line:
    return of_group(at_ms, "GroupUnloaded")


def loaded(at_ms: int, generation: int) -> Line:
    return of_group(at_ms, "GroupLoaded", generation=generation, state="Stable")


def broken(*lines: Line) -> bool:
    (verdict,) = judge(lines, [StaticIdentity])
    return verdict.judgement is Judgement.BROKEN


def test_a_loaded_generation_has_its_static_members() -> None:
    """ERR-7: a coordinator that forgets them lets a second one in."""
    before = [stored(1, 1, i="a"), unloaded(2)]
    assert broken(*before, loaded(3, 1), joined(4, "b"))
    assert not broken(*before, loaded(3, 1), replaced(4, "a", "b"), stored(5, 2, i="b"))
    assert not broken(
        *before, loaded(3, 1), of_group(4, "MemberRemoved", member="a"), joined(5, "b")
    )
    assert not broken(
        *before, loaded(3, 2), joined(4, "b")
    )  # it is not known what that generation had


def test_what_was_not_stored_is_not_loaded() -> None:
    """A member that joined, or was removed, since the generation was stored; a generation that only
    the former coordinator had."""
    assert not broken(stored(1, 1), joined(2, "a"), unloaded(3), loaded(4, 1), joined(5, "b"))
    assert not broken(
        stored(1, 1, i="a"),
        replaced(2, "a", "b"),
        unloaded(3),
        loaded(4, 1),
        replaced(5, "a", "c"),
        stored(6, 2, i="c"),
    )
    assert not broken(
        stored(1, 1, i="a"), replaced(2, "a", "b"), unloaded(3), loaded(4, 1), stored(6, 2, i="a")
    )
    assert not broken(
        stored(1, 1, i="a"), stored(2, 2), unloaded(3), loaded(4, 1), stored(5, 2, i="a")
    )
    assert broken(
        stored(1, 1, i="a"), stored(2, 2, j="b"), unloaded(3), loaded(4, 1), joined(5, "b")
    )


def test_members_of_consumer_groups_outlive_a_load() -> None:
    """Each is durable; but what a coordinator wrote just before it crashed its followers may not
    have."""
    began, first = (
        of_group(0, "ConsumerGroupCreated"),
        joined(1_000, "a", "ConsumerMemberSubscribed"),
    )
    second = joined(100_000, "b", "ConsumerMemberSubscribed")
    assert broken(began, first, second)
    assert broken(began, first, unloaded(70_000), loaded(90_000, 3), second)
    assert not broken(began, first | {"at_ms": 60_000}, unloaded(70_000), loaded(90_000, 3), second)
    gone = of_group(60_000, "ConsumerMemberRemoved", member="a")
    assert not broken(began, first, gone, unloaded(70_000), loaded(90_000, 3), second)
    for other in ("MembershipReset", "GroupDeleted", "ConsumerGroupDowngraded"):
        assert not broken(began, first, of_group(80_000, other), second)


def test_an_unclean_leader_may_lack_anything() -> None:
    unclean = {
        "seq": 2,
        "at_ms": 2,
        "run": "1",
        "stream": "cluster",
        "type": "LeaderElected",
        "cause": None,
        "partition": 0,
        "topic": "__consumer_offsets",
        "reason": "unclean election",
    }
    assert not broken(stored(1, 1, i="a"), unclean, loaded(3, 1), joined(4, "b"))
    assert broken(stored(1, 1, i="a"), unclean | {"topic": "t"}, loaded(3, 1), joined(4, "b"))
