"""A phase's deadline is in force until its phase is extended, has ended, or the group has gone."""

from __future__ import annotations

from dataclasses import astuple
from typing import Any

from coordinator.history.world.groups.phase_deadlines import PhaseDeadlines
from tests.lines import line_from


def followed(*lines: tuple[int, str, int | None]) -> list[tuple[Any, ...]]:
    deadlines = PhaseDeadlines()
    for at_ms, kind, due_ms in lines:
        due = {} if due_ms is None else {"deadline_ms": due_ms}
        deadlines.see(line_from({"type": kind, "at_ms": at_ms, "seq": at_ms, **due}))
    return [astuple(each) for each in deadlines.all]


def test_each_phase_has_its_deadline_and_its_end() -> None:
    assert followed(
        (1, "RebalanceStarted", 50),
        (2, "MemberRejoined", None),
        (3, "JoinPhaseExtended", 60),
        (4, "GenerationStarted", 70),
        (5, "GenerationStored", None),
        (6, "RebalanceStarted", 80),
    ) == [
        ("join", 1, 50, 3, 1),
        ("join", 3, 60, 4, 3),
        ("sync", 4, 70, 5, 4),
        ("join", 6, 80, None, 6),
    ]


def test_a_group_that_goes_has_none() -> None:
    for end in ("GroupEmptied", "GroupUnloaded", "GroupDeleted"):
        assert followed((1, "RebalanceStarted", 50), (2, end, None)) == [("join", 1, 50, 2, 1)]
