"""The garbage collector's thresholds: changed for a while where there are any."""

from __future__ import annotations

import gc

import pytest

from coordinator.base.collector import collecting_seldom
from coordinator.cli.serving.serve import collect_rarely


def test_the_thresholds_are_as_before_afterwards() -> None:
    before = gc.get_threshold()
    with pytest.raises(KeyError), collecting_seldom(before[0] + 1, 3, 4):
        assert gc.get_threshold() == (before[0] + 1, 3, 4)
        raise KeyError
    assert gc.get_threshold() == before


def test_who_looks_seldom_already_is_left_alone() -> None:
    before = gc.get_threshold()
    with collecting_seldom(before[0]):
        assert gc.get_threshold() == before


def test_a_python_without_thresholds_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """PyPy."""
    monkeypatch.delattr(gc, "get_threshold")
    monkeypatch.delattr(gc, "set_threshold")
    monkeypatch.setattr(gc, "freeze", lambda: pytest.fail("there is nothing to freeze"))
    with collecting_seldom(5):
        pass
    collect_rarely()
    assert gc.isenabled()
