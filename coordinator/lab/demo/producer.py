"""The demo's producer (kafka-python): numbered records to all partitions in turn, until SIGTERM;
reports what was acknowledged."""

from __future__ import annotations

import signal
from threading import Event

from kafka import KafkaProducer

from .report import METADATA_MAX_AGE_MS, options, tell

_PAUSE_S = 0.1
_RECORDS_A_TURN = 20


def main() -> None:
    """Produce until SIGTERM."""
    args = options()
    stop = Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    producer = KafkaProducer(
        bootstrap_servers=args.bootstrap,
        client_id="producer",
        acks="all",
        metadata_max_age_ms=METADATA_MAX_AGE_MS,
        linger_ms=5,
    )
    number = 0
    while not stop.wait(_PAUSE_S):
        partitions = sorted(producer.partitions_for(args.topic))
        sent = []
        for _ in range(_RECORDS_A_TURN):
            value = f"record {number}".encode()
            sent.append(
                producer.send(
                    args.topic, value=value, partition=partitions[number % len(partitions)]
                )
            )
            number += 1
        spans: dict[str, list[int]] = {}
        for future in sent:
            placed = future.get(timeout=10)
            span = spans.setdefault(str(placed.partition), [placed.offset, placed.offset])
            span[1] = placed.offset
        tell("produced", spans=spans)
    producer.close()
    tell("stopped", records=number)


if __name__ == "__main__":
    main()
