"""Storage of partitions: record batches, compression, logs with their segments, indexes and
transaction markers, and the state of producers. Does not know topics, brokers or groups. Begin
with `records.py`, then `partition_log.py`.
"""

from __future__ import annotations
