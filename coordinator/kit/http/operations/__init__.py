"""The operations of the control port, by what they are about."""

from __future__ import annotations
