"""One consumer in a process of its own: `python -m tools.recording.client ADDRESS GROUP TOPIC ID KIND`.

It reads until its standard input ends, and then closes. A line of input `busy 25` makes it work for
so many seconds without polling. KIND is `python` (kafka-python, range), `cooperative` or
`consumer` (librdkafka: cooperative-sticky, or KIP-848).
"""

from __future__ import annotations

import select
import sys
import time
from typing import Any

SESSION_MS = 10_000
HEARTBEAT_MS = 3_000
POLL_INTERVAL_MS = 60_000


def _python(address: str, group: str, topic: str, client: str) -> Any:
    from kafka import KafkaConsumer
    from kafka.coordinator.assignors.range import RangePartitionAssignor

    return KafkaConsumer(
        topic,
        bootstrap_servers=address,
        group_id=group,
        client_id=client,
        session_timeout_ms=SESSION_MS,
        heartbeat_interval_ms=HEARTBEAT_MS,
        max_poll_interval_ms=POLL_INTERVAL_MS,
        partition_assignment_strategy=[RangePartitionAssignor],
    )


def _librdkafka(address: str, group: str, topic: str, client: str, kind: str) -> Any:
    from confluent_kafka import Consumer

    settings: dict[str, Any] = {
        "bootstrap.servers": address,
        "group.id": group,
        "client.id": client,
    }
    if kind == "consumer":
        settings["group.protocol"] = "consumer"
    else:
        settings |= {
            "partition.assignment.strategy": "cooperative-sticky",
            "session.timeout.ms": SESSION_MS,
            "heartbeat.interval.ms": HEARTBEAT_MS,
        }
    consumer = Consumer(settings)
    consumer.subscribe([topic])
    return consumer


def main() -> None:
    """Run it."""
    address, group, topic, client, kind = sys.argv[1:]
    if kind == "python":
        consumer = _python(address, group, topic, client)
        poll = lambda: consumer.poll(timeout_ms=200, max_records=20)  # noqa: E731
    else:
        consumer = _librdkafka(address, group, topic, client, kind)
        poll = lambda: consumer.poll(0.2)  # noqa: E731
    while True:
        poll()
        if select.select([sys.stdin], [], [], 0)[0]:
            asked = sys.stdin.readline().split()
            if not asked:
                break
            time.sleep(float(asked[1]))
    consumer.close()


if __name__ == "__main__":
    main()
