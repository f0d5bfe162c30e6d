"""Conditions that a test can wait for: of groups, and of what members have done with their
assignment."""

from __future__ import annotations
