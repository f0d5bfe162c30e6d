"""Facts about share groups (KIP-932): their members (`groups.py`), and which member held which
records until when (`deliveries.py`, `record_states.py`, `records.py`)."""

from __future__ import annotations
