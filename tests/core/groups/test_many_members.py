"""Large groups: the work of a change grows with the group, not with its square."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from coordinator.core.groups.classic import model
from coordinator.core.groups.classic.model import Members
from tests.core.groups.kit import World

pytestmark = pytest.mark.unmeasured

SIZES = 100, 400


@pytest.fixture
def looked_at(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """How many members were sorted, gone through or hashed so far."""
    counted = [0]
    order, spread = Members.in_java_order, model.spread

    def in_java_order(self: Members) -> Any:
        counted[0] += 0 if self._ordered is not None and not self._gaps else len(self)
        return order(self)

    def one(h: int) -> int:
        counted[0] += 1
        return spread(h)

    def members(self: Any) -> Iterator[Any]:
        for member in self.members.in_java_order():
            counted[0] += 1
            yield member

    monkeypatch.setattr(Members, "in_java_order", in_java_order)
    monkeypatch.setattr(model, "spread", one)
    monkeypatch.setattr(model.ClassicGroup, "__iter__", members)
    return lambda: counted[0]


def large(size: int) -> World:
    w = World()
    for n in range(size):
        w.enter(f"m{n}", session_ms=10_000, instance=f"i{n}" if n % 10 == 0 else None)
    w.settle()
    return w


def per_member(looked_at: Callable[[], int], story: Callable[[World], object]) -> list[float]:
    costs = []
    for size in SIZES:
        w = large(size)
        before = looked_at()
        story(w)
        costs.append((looked_at() - before) / size)
    return costs


def test_all_members_expire_at_once(looked_at: Callable[[], int]) -> None:
    """SES-2, LEAD-2: four times the members, four times the work."""

    def silence(w: World) -> None:
        w.advance(10_000)
        assert w.state == "Empty" or not [m for m in w.group if m.group_instance_id is None]

    small, big = per_member(looked_at, silence)
    assert big < 2 * small + 5


def test_all_members_leave_in_one_request(looked_at: Callable[[], int]) -> None:
    """LV-2, LEAD-2."""
    small, big = per_member(
        looked_at,
        lambda w: w.leave("x", *((m.member_id, m.group_instance_id) for m in list(w.group))),
    )
    assert big < 2 * small + 5


def test_a_static_member_restarts(looked_at: Callable[[], int]) -> None:
    """STA-2, STA-3: nobody's hash is computed anew but that of the new id."""
    small, big = per_member(
        looked_at,
        lambda w: w.join(
            "again", instance="i0", session_ms=10_000, protocols=w.member("m0").protocols
        ),
    )
    assert big < 2 * small + 5
