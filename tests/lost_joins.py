"""A defect of kafka-python 3.0.12, and how a test goes on nevertheless.

A leader that joins again because its metadata changed forgets this wish when it has assigned; if
its poll ends before the join does, or the join fails, nobody takes the result. Its heartbeats stay
off, and it never joins again.
"""

from __future__ import annotations

from typing import Any


def join_again_if_lost(consumer: Any) -> None:
    """Ask a consumer to join once more whose join is over without a result. To be called before
    each poll."""
    coordinator = consumer._coordinator
    task = coordinator._join_task
    if coordinator.rejoining and (task is None or task.is_done) and not coordinator.need_rejoin():
        coordinator.request_rejoin()
