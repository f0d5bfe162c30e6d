"""The Chromium of this machine that shows pages to tests and measurements."""

from __future__ import annotations

import os
import shutil
from typing import Final

_PROGRAMS: Final = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)
"""The first is Chromium without windows: the same pages for half of the processor time."""


def chromium() -> str | None:
    """Its path: `CHROMIUM` names it, else it is the first that is on the path; None without one."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, _PROGRAMS)), None)
