"""Deadlines as data: one instant a key, moved and cancelled at will (META-3)."""

from __future__ import annotations

import random

from coordinator.base.deadlines import Deadlines


def test_a_key_set_again_keeps_only_the_new_instant() -> None:
    """META-3: scheduling with an existing key replaces the earlier timer, be it moved later or
    earlier."""
    deadlines: Deadlines[str] = Deadlines()
    deadlines.arm("a", 10)
    deadlines.arm("a", 20)
    assert deadlines.next() == 20
    assert list(deadlines.due(19)) == []
    deadlines.arm("a", 5)
    assert deadlines.next() == 5
    assert list(deadlines.due(30)) == ["a"]
    assert deadlines.next() is None


def test_a_cancelled_deadline_never_falls_due() -> None:
    """META-3."""
    deadlines: Deadlines[str] = Deadlines()
    deadlines.arm("a", 10)
    deadlines.cancel("a")
    deadlines.cancel("unknown")
    assert deadlines.get("a") is None
    assert deadlines.next() is None
    assert list(deadlines.due(100)) == []
    deadlines.arm("a", 50)
    assert (deadlines.next(), len(deadlines)) == (50, 1)


def test_keys_fall_due_by_instant_and_in_order_of_arming() -> None:
    deadlines: Deadlines[str] = Deadlines()
    for key, at in (("late", 30), ("first", 10), ("second", 10), ("third", 10)):
        deadlines.arm(key, at)
    assert list(deadlines.due(29)) == ["first", "second", "third"]
    assert deadlines.next() == 30


def test_what_is_armed_or_cancelled_while_others_fall_due_counts_at_once() -> None:
    deadlines: Deadlines[str] = Deadlines()
    deadlines.arm("a", 1)
    deadlines.arm("b", 2)
    seen = []
    for key in deadlines.due(5):
        seen.append(key)
        if key == "a":
            deadlines.cancel("b")
            deadlines.arm("c", 5)
            deadlines.arm("d", 6)
    assert seen == ["a", "c"]
    assert deadlines.next() == 6


def test_random_use_agrees_with_a_plain_dictionary() -> None:
    chance = random.Random(7)
    deadlines: Deadlines[int] = Deadlines()
    plain: dict[int, int] = {}
    now = 0
    for _ in range(3000):
        key = chance.randrange(12)
        match chance.randrange(4):
            case 0 | 1:
                plain[key] = now + chance.randrange(50)
                deadlines.arm(key, plain[key])
            case 2:
                plain.pop(key, None)
                deadlines.cancel(key)
            case _:
                now += chance.randrange(20)
                due = list(deadlines.due(now))
                assert sorted(due) == sorted(key for key, at in plain.items() if at <= now)
                assert [plain[key] for key in due] == sorted(plain[key] for key in due)
                for key in due:
                    del plain[key]
        assert deadlines.next() == min(plain.values(), default=None)
        assert len(deadlines) == len(plain)
        assert deadlines.get(key) == plain.get(key)
