"""Requests that wait for other replicas: Produce with acks=all and DeleteRecords. Start with
`delayed.py`, the common part.
"""

from __future__ import annotations
