"""Storage of partitions: batches, records, compression, logs with their markers and indexes, and
the state of their producers. Does not depend on topics, brokers or groups."""

from __future__ import annotations
