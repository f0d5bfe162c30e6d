"""Clients' processes, beside their memberships: when they lived (`lives.py`), how late they came
back to a rebalance (`returns.py`), and which records each may still hold
(`possible_holders.py`)."""

from __future__ import annotations
