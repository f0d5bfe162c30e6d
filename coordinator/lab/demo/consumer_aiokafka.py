"""The demo's consumer written with aiokafka. Consumes, reports, commits; SIGTERM makes it leave the
group."""

from __future__ import annotations

import asyncio
import signal
from typing import Any

from aiokafka import AIOKafkaConsumer
from aiokafka.abc import ConsumerRebalanceListener
from aiokafka.coordinator.assignors.range import RangePartitionAssignor
from aiokafka.errors import KafkaError

from .report import (
    HEARTBEAT_INTERVAL_MS,
    METADATA_MAX_AGE_MS,
    SESSION_TIMEOUT_MS,
    options,
    tell,
    tell_committed,
    tell_consumed,
    tell_partitions,
)


class Listener(ConsumerRebalanceListener):  # type: ignore[misc]
    """Reports the partitions that are assigned and revoked."""

    def on_partitions_assigned(self, assigned: Any) -> None:
        """Called when the sync phase has ended."""
        tell_partitions("assigned", [tp.partition for tp in assigned])

    def on_partitions_revoked(self, revoked: Any) -> None:
        """Called when a rebalance has begun."""
        tell_partitions("revoked", [tp.partition for tp in revoked])


async def main() -> None:
    """Consume until SIGTERM, then leave the group."""
    args = options()
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    consumer = AIOKafkaConsumer(
        bootstrap_servers=args.bootstrap,
        group_id=args.group,
        client_id="aiokafka",
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        session_timeout_ms=SESSION_TIMEOUT_MS,
        heartbeat_interval_ms=HEARTBEAT_INTERVAL_MS,
        metadata_max_age_ms=METADATA_MAX_AGE_MS,
        partition_assignment_strategy=[RangePartitionAssignor],
    )
    consumer.subscribe([args.topic], listener=Listener())
    await consumer.start()
    while not stop.is_set():
        batch = await consumer.getmany(timeout_ms=200)
        if not batch:
            continue
        tell_consumed(
            {tp.partition: (records[0].offset, records[-1].offset) for tp, records in batch.items()}
        )
        offsets = {tp: records[-1].offset + 1 for tp, records in batch.items()}
        try:
            await consumer.commit(offsets)
        # a rebalance came first: whoever has the partition next reads these records again
        except KafkaError as error:
            tell("commit refused", error=repr(error))
        else:
            tell_committed({tp.partition: offset for tp, offset in offsets.items()})
    tell("leaving")
    await consumer.stop()
    tell("stopped")


if __name__ == "__main__":
    asyncio.run(main())
