"""The operations of the control port, one module for each part of the kit. Each entry has its
route, its summary and its function; `coordinator/kit/http/operation.py` explains them."""

from __future__ import annotations
