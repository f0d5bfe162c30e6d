"""The stories, one module a tool."""

from __future__ import annotations
