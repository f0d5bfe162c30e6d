"""Judging of lines that a test gives as dictionaries, with the fields that matter to it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from coordinator.events.line import Line
from coordinator.history import judges
from coordinator.history.judges import Verdict
from tests.lines import line_from


def judge(lines: Iterable[Line | dict[str, Any]], *args: Any, **kwargs: Any) -> list[Verdict]:
    """As `coordinator.history.judges.judge`."""
    whole = [line if isinstance(line, Line) else line_from(line) for line in lines]
    return judges.judge(whole, *args, **kwargs)
