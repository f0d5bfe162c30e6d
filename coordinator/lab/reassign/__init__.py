"""Moves partitions between brokers, as `kafka-reassign-partitions` does, on any cluster.

`files.py` reads and writes the tool's JSON, `coordinator/kit/admin.py` sends requests to
brokers, `tool.py` has the actions and their output.
"""

from __future__ import annotations
