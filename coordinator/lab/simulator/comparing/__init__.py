"""Variants of a scenario side by side: the costs of runs to their groups, as numbers
(`measures.py`) and as a picture (`drawing.py`)."""

from __future__ import annotations
