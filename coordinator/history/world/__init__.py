"""The facts of a log: the one reader. Lines in, facts out."""

from __future__ import annotations
