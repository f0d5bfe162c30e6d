"""Requests that wait for other replicas: Produce with acks=all, DeleteRecords."""

from __future__ import annotations
