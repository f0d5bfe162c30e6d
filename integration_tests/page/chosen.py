"""Which lessons are walked through in `make test`; `make fuzz` has the others.

All lessons are shown by the same scripts, and what each says is judged by tests/lab/page. The chosen
ones have what differs: the first picture, several ways to stop, a switch of assignors, a coordinator
that moves, a broker that crashes, a share group.
"""

from __future__ import annotations

from typing import Final

import pytest

from coordinator.lab.page.lessons import slugs

CHOSEN: Final = (
    "00_what_is_what",
    "05_three_clocks",
    "12_rolling_switch",
    "14_coordinator_moves",
    "16_broker_crashes",
    "17_queue_on_a_log",
)
_OTHERS: Final = tuple(slug for slug in slugs() if slug not in CHOSEN)
ONE_BY_ONE: Final = [
    *CHOSEN,
    *(pytest.param(slug, marks=pytest.mark.thorough) for slug in _OTHERS),
]
"""Parameters of a test of one lesson."""
TOGETHER: Final = [
    pytest.param(CHOSEN, id="chosen"),
    pytest.param(_OTHERS, id="others", marks=pytest.mark.thorough),
]
"""Parameters of a test of many lessons."""
