"""The report of a failed test tells the end of a group's story, not all of it."""

from __future__ import annotations

from coordinator.kit.failure_report import _last_entries
from tests.events.kit import LoggedWorld, a_long_story


def test_only_the_last_rebalances_are_told() -> None:
    view = a_long_story().view()
    whole = len(view.rebalances)
    assert whole > 3
    view.entries = _last_entries(view)
    assert len(view.rebalances) == 3
    assert view.rebalances[-1].generation == 6
    assert view.entries[-1].seq > view.rebalances[-1].seq  # and what came after


def test_all_of_a_short_story_is_told() -> None:
    w = LoggedWorld()
    w.enter("a")
    w.tick()
    view = w.view()
    assert _last_entries(view) == view.entries
