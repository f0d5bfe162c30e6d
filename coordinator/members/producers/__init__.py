"""A producer and its transactions."""

from __future__ import annotations
