"""The emulator as an object of a Python program: its options, its session of the testing kit, its log as a topic."""

from __future__ import annotations

from .embedded import Emulator

__all__ = ["Emulator"]
