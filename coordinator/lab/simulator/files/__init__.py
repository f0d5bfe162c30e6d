"""Scenario files: their keys, how they are read, composed and checked, and what they say as values."""

from __future__ import annotations
