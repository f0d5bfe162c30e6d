"""The outcome of clients' processes, beside their memberships: when they lived, how late they came
back to a rebalance, and what each may still have had in hand."""

from __future__ import annotations
