"""A consumer: a group member that also fetches records. `consumer.py` is the entry point,
`fetching` reads records. Knows no clock or socket.
"""

from __future__ import annotations
