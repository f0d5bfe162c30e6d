"""Reconstruction of broker state from an event log: of one broker (`one_broker`) or of several
(`several_brokers`).
"""

from __future__ import annotations
