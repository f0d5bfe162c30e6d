"""Variants of a scenario side by side: what runs cost their groups, as numbers and as a picture."""

from __future__ import annotations
