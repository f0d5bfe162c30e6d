"""A consumer: a member of a group that also reads what it owns."""

from __future__ import annotations
