"""The marks of a lane, row by row."""

from __future__ import annotations

from typing import Any


def marks(lane: dict[str, Any]) -> list[tuple[int, str]]:
    """When, and what."""
    at_ms, kinds, kind = (lane["marks"][name] for name in ("at_ms", "kinds", "kind"))
    return [(ms, kinds[each]) for ms, each in zip(at_ms, kind, strict=True)]
