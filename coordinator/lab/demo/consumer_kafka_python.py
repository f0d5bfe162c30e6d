"""The demo's consumer written with kafka-python. Consumes, reports, commits; SIGTERM makes it leave
the group."""

from __future__ import annotations

import signal
from threading import Event
from typing import Any

from kafka import ConsumerRebalanceListener, KafkaConsumer, OffsetAndMetadata
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.errors import KafkaError

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


def main() -> None:
    """Consume until SIGTERM, then leave the group."""
    args = options()
    stop = Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    consumer = KafkaConsumer(
        bootstrap_servers=args.bootstrap,
        group_id=args.group,
        client_id="kafka-python",
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        session_timeout_ms=SESSION_TIMEOUT_MS,
        heartbeat_interval_ms=HEARTBEAT_INTERVAL_MS,
        metadata_max_age_ms=METADATA_MAX_AGE_MS,
        partition_assignment_strategy=[RangePartitionAssignor],
    )
    consumer.subscribe([args.topic], listener=Listener())
    consumer.partitions_for_topic(
        args.topic
    )  # else it may learn its topic while it joins, and lose that join
    while not stop.is_set():
        batch = consumer.poll(
            timeout_ms=2000
        )  # this library can lose a join (and fall silent) when a poll ends in the midst of it
        if not batch:
            continue
        tell_consumed(
            {tp.partition: (records[0].offset, records[-1].offset) for tp, records in batch.items()}
        )
        offsets = {
            tp: OffsetAndMetadata(records[-1].offset + 1, "", -1) for tp, records in batch.items()
        }
        try:
            consumer.commit(offsets)
        # a rebalance came first: whoever has the partition next reads these records again
        except KafkaError as error:
            tell("commit refused", error=repr(error))
        else:
            tell_committed({tp.partition: offset.offset for tp, offset in offsets.items()})
    tell("leaving")
    consumer.close(autocommit=False)
    tell("stopped")


if __name__ == "__main__":
    main()
