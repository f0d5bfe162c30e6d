"""Bounds of jumps of the wall clocks of brokers' and members' hosts: a clock shows a time between
1970 and the year 9999.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

LATEST_MS: Final = 253_402_300_799_999
"""The last millisecond of the year 9999, since 1970."""


def jump_refusal(by_ms: int, told_ms: int) -> str:
    """Return the reason why a clock cannot jump by `by_ms`, or "" if it can. `told_ms`: the time
    after the jump in milliseconds since 1970.
    """
    if not by_ms:
        return "by_ms=0: the clock would not jump; give milliseconds, negative ones to go back"
    if 0 <= told_ms <= LATEST_MS:
        return ""
    now = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=told_ms - by_ms)
    return f"by_ms={by_ms}: the clock shows {now:%Y-%m-%d}; it can go back to 1970 and forward to the end of 9999"
