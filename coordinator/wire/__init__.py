"""Kafka's wire format: primitives, one readable table for each message, framing, the embedded
consumer protocol, SASL's computations.

Begin with `messages/join_group.py`, then `schema.py` (how a table becomes code). Knows no group,
socket or clock; imports base alone.
"""

from __future__ import annotations
