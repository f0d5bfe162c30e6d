"""A topic on a broker, by one request: for what needs no client library beside it."""

from __future__ import annotations

from integration_tests.wire.codec import TableCodec
from integration_tests.wire.raw import RawConnection


def create_topic(address: str, name: str, partitions: int) -> None:
    """Create a topic as soon as the broker will."""
    connection = RawConnection(address, TableCodec())
    wanted = {
        "name": name,
        "num_partitions": partitions,
        "replication_factor": 1,
        "assignments": [],
        "configs": [],
    }
    connection.send(
        "CreateTopics", 7, {"topics": [wanted], "timeout_ms": 30_000, "validate_only": False}
    )
    created = connection.receive()[1]["topics"][0]
    connection.close()
    assert created["error_code"] in (0, 36), created
