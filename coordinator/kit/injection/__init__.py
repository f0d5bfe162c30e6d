"""Injected faults of requests: which request meets which fault, and the response. The faults
themselves, as data, are in `coordinator/kit/faults.py`; begin with `engine.py`."""

from __future__ import annotations
