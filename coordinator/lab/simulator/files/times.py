"""Reads lengths of time: one, a shortest and a longest, or a table of them. None for a value
that is no length of time."""

from __future__ import annotations

from typing import Any, Final

from ..work import QUANTILES
from .schema import duration_ms

KINDS: Final = frozenset({"duration", "range", "durations", "work"})
"""The kinds of keys that take such."""


def times(kind: str, value: Any) -> Any:
    """Return the value of a key of this kind, in milliseconds."""
    if kind == "duration":
        return duration_ms(value)
    if kind == "range":
        return _ends(value if isinstance(value, list) else [value, value])
    if isinstance(value, dict):
        return _table(value, kind)
    if kind == "durations":
        return None
    return _ends(value) if isinstance(value, list) else duration_ms(value)


def _ends(value: list[Any]) -> tuple[int, int] | None:
    ends = [duration_ms(each) for each in value]
    if len(ends) != 2 or ends[0] is None or ends[1] is None or ends[0] > ends[1]:
        return None
    return ends[0], ends[1]


def _table(value: dict[str, Any], kind: str) -> dict[str, int] | None:
    """Read a table of times. One for work has at least one quantile, and no other key."""
    if kind == "work" and (not value or not set(value) <= set(QUANTILES)):
        return None
    found = {key: duration_ms(each) for key, each in value.items()}
    known = {key: each for key, each in found.items() if each is not None}
    return known if len(known) == len(found) else None
