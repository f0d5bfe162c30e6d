"""Members and producers in a simulated or live world: their hosts (`client_hosts.py`),
connections (`client_side.py`) and applications (`member.py`, `producer.py`, `share_member.py`)."""

from __future__ import annotations
