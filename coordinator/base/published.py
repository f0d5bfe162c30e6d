"""What a release says of itself. Made from release.toml by `python -m tools.release write`; do not edit by hand."""

from __future__ import annotations

from typing import Final

PUBLISHED: Final[bool] = False
"""Whether the distribution's name alone can be installed."""
DOCUMENTATION: Final[str] = ""
"""Where the documentation is served; empty: it is in docs/ of a checkout."""
