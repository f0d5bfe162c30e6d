"""The emulator as an object of a Python program. `embedded.py` has the object, `options.py` its
options, `session.py` what the testing kit knows of it, `log_publisher.py` its event log as a
topic."""

from __future__ import annotations

from .embedded import Emulator

__all__ = ["Emulator"]
