"""Errors of assignors."""

from __future__ import annotations


class AssignorError(Exception):
    """An assignor that cannot be had, or an assignment that cannot be made; the text names the
    rule, and what would be right.

    Where Java's class throws, the text names the rule that says so (spec part E).
    """
