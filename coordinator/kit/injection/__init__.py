"""Injected faults of requests: which request meets which fault, and what it is answered."""

from __future__ import annotations
