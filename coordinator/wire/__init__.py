"""Bytes to values and back: what Kafka says on the wire. Has never heard of groups, sockets or
clocks."""

from __future__ import annotations
