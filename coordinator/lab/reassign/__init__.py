"""Moving partitions between brokers, as `kafka-reassign-partitions` does it, on any cluster.

`files` reads and writes the tool's JSON, `admin` asks brokers, `tool` does what the tool does and
says what it says.
"""

from __future__ import annotations
