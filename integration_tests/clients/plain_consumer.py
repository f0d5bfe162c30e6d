"""A consumer written with confluent-kafka, as a process of its own: it polls until it is ended, and
commits. Arguments: bootstrap servers, group protocol, session timeout in ms, client id."""

from __future__ import annotations

import sys

from confluent_kafka import Consumer


def main() -> None:
    """Consume until the process is ended."""
    bootstrap, protocol, session_ms, name = sys.argv[1:]
    config = {
        "bootstrap.servers": bootstrap,
        "group.id": "billing",
        "client.id": name,
        "group.protocol": protocol,
        "auto.offset.reset": "earliest",
        "auto.commit.interval.ms": 500,
    }
    if protocol == "classic":
        config |= {"session.timeout.ms": int(session_ms), "heartbeat.interval.ms": 1000}
    consumer = Consumer(config)
    consumer.subscribe(["orders"])
    while True:
        consumer.poll(0.2)


if __name__ == "__main__":
    main()
