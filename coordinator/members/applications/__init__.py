"""Applications as pure machines: one that consumes and processes, one that produces at a steady rate."""

from __future__ import annotations
