"""What librdkafka does on one injected error in a group of the consumer protocol (KIP-848), the
only one of the three that speaks it.

The table of the classic protocol is `test_error_table`. `rejoins`: a ConsumerGroupHeartbeat with
epoch 0 and the same member id follows; `goes on`: none is needed; `ends`: a fatal error.
"""

from __future__ import annotations

import time

import pytest

from coordinator import Emulator
from coordinator.kit.journal import Journal
from tests.testing.applications import application_class

REJOINS, GOES_ON, ENDS = "rejoins", "goes on", "ends"
TABLE = {
    ("ConsumerGroupHeartbeat", "FENCED_MEMBER_EPOCH"): REJOINS,
    ("ConsumerGroupHeartbeat", "UNKNOWN_MEMBER_ID"): REJOINS,
    ("ConsumerGroupHeartbeat", "COORDINATOR_LOAD_IN_PROGRESS"): GOES_ON,
    ("ConsumerGroupHeartbeat", "COORDINATOR_NOT_AVAILABLE"): GOES_ON,
    ("ConsumerGroupHeartbeat", "NOT_COORDINATOR"): GOES_ON,
    ("ConsumerGroupHeartbeat", "UNRELEASED_INSTANCE_ID"): ENDS,
    ("ConsumerGroupHeartbeat", "UNSUPPORTED_ASSIGNOR"): ENDS,
    ("ConsumerGroupHeartbeat", "STALE_MEMBER_EPOCH"): ENDS,
    ("ConsumerGroupHeartbeat", "GROUP_MAX_SIZE_REACHED"): ENDS,
    ("ConsumerGroupHeartbeat", "GROUP_AUTHORIZATION_FAILED"): ENDS,
    ("ConsumerGroupHeartbeat", "INVALID_GROUP_ID"): ENDS,
    ("ConsumerGroupHeartbeat", "INVALID_REQUEST"): ENDS,
    ("OffsetCommit", "STALE_MEMBER_EPOCH"): GOES_ON,
    ("OffsetCommit", "UNKNOWN_MEMBER_ID"): GOES_ON,
}
WAIT_S = 180


def joined(journal: Journal) -> set[str]:
    """The member ids that were sent with epoch 0."""
    asked = [row.request for row in journal.requests("ConsumerGroupHeartbeat")]
    return {request.member_id for request in asked if request.member_epoch == 0}


@pytest.mark.kafka(
    config={
        "group.consumer.min.heartbeat.interval.ms": 100,
        "group.consumer.heartbeat.interval.ms": 100,
    }
)
@pytest.mark.parametrize(
    ("api", "error", "expected"), [(*row, expected) for row, expected in TABLE.items()]
)
def test_one_injected_error_in_a_consumer_group(
    kafka: Emulator, api: str, error: str, expected: str
) -> None:
    kafka.create_topic("orders", 6)
    group = kafka.group("billing")
    application = application_class("confluent-kafka")(settings={"group.protocol": "consumer"})
    application.start(kafka.bootstrap_servers)
    try:
        kafka.produce("orders", ["before"] * 6)
        before = group.wait(
            state="Stable", members=1, assigned="all", lag=0, acted=True, timeout=WAIT_S
        )
        journal = kafka.journal()
        # librdkafka gives a heartbeat up that is not answered within a second or so, and would not
        # hear of the error: it is told until it has done what it does then
        times = 1 if expected == GOES_ON else None
        fault = kafka.fail(api, error, group="billing", times=times, any_error=True)
        kafka.produce("orders", ["meanwhile"] * 6)
        fault.wait_hit(timeout=WAIT_S)
        if expected == ENDS:
            assert application.ended(WAIT_S), "the application has not ended"
            assert application.error is not None
            return
        until = time.monotonic() + (WAIT_S if expected == REJOINS else 0)
        while not joined(journal) and time.monotonic() < until:
            time.sleep(0.01)
        fault.remove()
        kafka.produce("orders", ["after"] * 6)
        ends = {("orders", index): end for index, end in kafka.end_offsets("orders").items()}
        after = group.wait(
            state="Stable", members=1, assigned="all", committed=ends, timeout=WAIT_S
        )
        assert application.error is None
        assert after.members[0].member_id == before.members[0].member_id
        rejoined = {before.members[0].member_id} if expected == REJOINS else set()
        assert joined(journal) == rejoined
    finally:
        application.stop()
