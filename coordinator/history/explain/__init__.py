"""A log in sentences: why each rebalance happened, which members took part, which stood still.
Begin with `narrator.py` (text) and `output.py` (text and JSON). Facts come from
`coordinator/history/world/`."""

from __future__ import annotations
