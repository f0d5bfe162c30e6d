"""Disturbances of TLS handshakes by a test. Does not depend on TLS."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class Disturbance(Enum):
    """The outcome of a handshake. The value says it of one."""

    REFUSE = "refused"
    """The server answers with an alert."""
    CUT = "cut in the middle"
    """Half of the server's answer comes, and the connection ends."""
    DELAY = "delayed"
    """The server takes its time."""


class Handshake(NamedTuple):
    """One that is disturbed."""

    how: Disturbance
    delay_ms: int = 0
