"""A log in sentences: why each rebalance happened, who took part, what stood still meanwhile."""

from __future__ import annotations
