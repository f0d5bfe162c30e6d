"""Which lessons `make test` makes files and tests of; `make fuzz` has the others.

The chosen ones have every action and every setting that a lesson or something to try in it has.
"""

from __future__ import annotations

from typing import Final

import pytest

from coordinator.lab.page.lessons import slugs

CHOSEN: Final = frozenset(
    {
        "03_when_does_a_know",
        "05_three_clocks",
        "06_frozen_wakes",
        "07_commit_in_each_half",
        "09_cooperative_one_more",
        "12_rolling_switch",
        "14_coordinator_moves",
        "15_migration_in_place",
        "16_broker_crashes",
        "17_queue_on_a_log",
        "18_zombie_in_a_transaction",
        "19_right_taken_away",
        "20_poll_too_much",
    }
)
ONE_BY_ONE: Final = [
    slug if slug in CHOSEN else pytest.param(slug, marks=pytest.mark.thorough) for slug in slugs()
]
"""Parameters of a test of one lesson."""
