"""Conditions that a test can wait for: states of groups (`expectations.py`), and members' use of
their assignment (`activity.py`, `heartbeats.py`, `processing.py`)."""

from __future__ import annotations
