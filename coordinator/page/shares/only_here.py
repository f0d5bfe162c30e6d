"""What a run has that no test can have."""

from __future__ import annotations


class OnlyHereError(ValueError):
    """What no test can do."""
