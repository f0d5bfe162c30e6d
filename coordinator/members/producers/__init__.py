"""A producer and its transactions, as pure state machines. `producer.py` is the entry point. Knows
no clock or socket.
"""

from __future__ import annotations
