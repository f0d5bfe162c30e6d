"""Injected faults of TLS handshakes, as values. `net.tls` applies them."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class Disturbance(Enum):
    """Kind of a handshake fault. The value says what happened to a handshake."""

    REFUSE = "refused"
    """The server answers with an alert."""
    CUT = "cut in the middle"
    """The connection ends after half of the server's answer."""
    DELAY = "delayed"
    """The server takes its time."""


class Handshake(NamedTuple):
    """A faulty handshake."""

    how: Disturbance
    delay_ms: int = 0
