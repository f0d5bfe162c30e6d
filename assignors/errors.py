"""The error of assignors."""

from __future__ import annotations


class AssignorError(Exception):
    """An assignor that cannot be loaded, or an assignment that cannot be made; the text names the
    rule, and what would be right.

    Where Java's class throws, the rule is one of spec part E.
    """
