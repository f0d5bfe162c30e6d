"""Facts that a log shows: groups, owners, processes, shares, obstacles. One reader for
explanation, judges, tables and the page, so that they never differ. It has no sentences. Begin
with `world.py`."""

from __future__ import annotations
