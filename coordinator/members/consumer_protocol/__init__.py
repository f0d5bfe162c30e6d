"""A member of the consumer protocol (KIP-848): heartbeats that carry the assignment."""

from __future__ import annotations
