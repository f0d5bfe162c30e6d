"""Scenario files: their keys (`schema.py`), how they are read (`reading.py`), composed
(`composing.py`) and checked (`*_checks.py`), and their contents as values (`model.py`)."""

from __future__ import annotations
