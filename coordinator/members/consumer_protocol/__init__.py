"""Member of the consumer protocol (KIP-848), whose heartbeats bring the assignment. `member.py` is
the entry point; `heartbeats` and `reconciling` have the parts. Knows only responses, never a
group.
"""

from __future__ import annotations
