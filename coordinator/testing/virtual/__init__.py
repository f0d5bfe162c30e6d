"""Unmodified asyncio applications against an emulator under virtual time: a minute of timeouts in
milliseconds.

    async with virtual_kafka({"orders": 4}) as kafka:
        consumer = AIOKafkaConsumer("orders", bootstrap_servers=kafka.bootstrap, group_id="app")
        await consumer.start()
        await asyncio.sleep(3600)          # an hour of heartbeats; returns as soon as there is nothing left to do in it

Within the block the running event loop has virtual time: when nothing is ready, its clock jumps to
the next timer. Connections to the emulator's brokers are in memory. The same seed and the same
PYTHONHASHSEED give the same event log. See docs/testing_time.md.
"""

from __future__ import annotations

from .kafka import VirtualKafka, VirtualKafkaWarning, virtual_kafka
from .time import VirtualTimeError

__all__ = ["VirtualKafka", "VirtualKafkaWarning", "VirtualTimeError", "virtual_kafka"]
