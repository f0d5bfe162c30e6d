"""The documentation as a site: `make docs`."""

from __future__ import annotations
