"""What each client library does on one injected error: the facts that an application's author
meets, and the kit's tests stand on.

The applications are the examples'. `keeps`: it joins again with its member id; `new`: with another
one; `goes on`: no join is needed; `ends`: the library raises what the application does not get
over.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from coordinator import Emulator
from tests.testing.applications import INSTANCE_ID, LIBRARIES, application_class

KEEPS, NEW, GOES_ON, ENDS, RECOVERS = "keeps", "new", "goes on", "ends", "recovers"
TABLE: dict[tuple[str, str], tuple[str, str, str]] = {
    ("Heartbeat", "REBALANCE_IN_PROGRESS"): (KEEPS, KEEPS, KEEPS),
    ("Heartbeat", "ILLEGAL_GENERATION"): (KEEPS, NEW, KEEPS),
    ("Heartbeat", "UNKNOWN_MEMBER_ID"): (NEW, NEW, NEW),
    ("Heartbeat", "COORDINATOR_NOT_AVAILABLE"): (GOES_ON, GOES_ON, GOES_ON),
    ("Heartbeat", "NOT_COORDINATOR"): (GOES_ON, GOES_ON, GOES_ON),
    ("Heartbeat", "COORDINATOR_LOAD_IN_PROGRESS"): (GOES_ON, ENDS, GOES_ON),
    ("Heartbeat", "FENCED_INSTANCE_ID"): (GOES_ON, ENDS, ENDS),
    ("Heartbeat", "GROUP_AUTHORIZATION_FAILED"): (GOES_ON, ENDS, GOES_ON),
    ("JoinGroup", "UNKNOWN_MEMBER_ID"): (RECOVERS, RECOVERS, RECOVERS),
    ("JoinGroup", "NOT_COORDINATOR"): (RECOVERS, RECOVERS, RECOVERS),
    ("JoinGroup", "COORDINATOR_LOAD_IN_PROGRESS"): (RECOVERS, RECOVERS, RECOVERS),
    ("JoinGroup", "REBALANCE_IN_PROGRESS"): (RECOVERS, ENDS, RECOVERS),
    ("JoinGroup", "INCONSISTENT_GROUP_PROTOCOL"): (ENDS, ENDS, ENDS),
    ("JoinGroup", "INVALID_SESSION_TIMEOUT"): (ENDS, ENDS, RECOVERS),
    ("JoinGroup", "GROUP_MAX_SIZE_REACHED"): (ENDS, ENDS, RECOVERS),
    ("JoinGroup", "FENCED_INSTANCE_ID"): (ENDS, ENDS, ENDS),
    ("SyncGroup", "REBALANCE_IN_PROGRESS"): (RECOVERS, RECOVERS, RECOVERS),
    ("SyncGroup", "ILLEGAL_GENERATION"): (RECOVERS, RECOVERS, RECOVERS),
    ("SyncGroup", "NOT_COORDINATOR"): (RECOVERS, RECOVERS, RECOVERS),
    ("SyncGroup", "UNKNOWN_MEMBER_ID"): (RECOVERS, RECOVERS, RECOVERS),
    ("OffsetCommit", "REBALANCE_IN_PROGRESS"): (KEEPS, KEEPS, GOES_ON),
    ("OffsetCommit", "ILLEGAL_GENERATION"): (KEEPS, NEW, RECOVERS),
    ("OffsetCommit", "UNKNOWN_MEMBER_ID"): (NEW, NEW, RECOVERS),
    ("OffsetCommit", "COORDINATOR_LOAD_IN_PROGRESS"): (GOES_ON, GOES_ON, GOES_ON),
    ("OffsetCommit", "NOT_COORDINATOR"): (GOES_ON, GOES_ON, GOES_ON),
}
"""(API, error) -> kafka-python 3.0.12, aiokafka 0.14, confluent-kafka 2.16 (classic protocol).

FENCED_INSTANCE_ID meets static members, the only ones whom a coordinator tells it: librdkafka's
close() of others hangs after it. A row in which a join or a commit of confluent-kafka meets
UNKNOWN_MEMBER_ID may take as long as the session of the member that the coordinator still has,
45 s."""
WAIT_S = 180


@contextmanager
def running(
    kafka: Emulator, library: str, instance_id: str | None = None, *, poll_ms: int | None = None
) -> Iterator[Any]:
    application = application_class(library)(
        settings={INSTANCE_ID[library]: instance_id} if instance_id else {}
    )
    if poll_ms is not None:
        application.poll_ms = poll_ms
    application.start(kafka.bootstrap_servers)
    try:
        yield application
    finally:
        application.stop()


def rows() -> Iterator[Any]:
    for number, ((api, error), expected) in enumerate(TABLE.items()):
        for column, library in enumerate(LIBRARIES):
            quick = (
                number % len(LIBRARIES) == column
                and api in ("Heartbeat", "OffsetCommit")
                and number < 6
            )
            marks = () if quick else pytest.mark.thorough
            yield pytest.param(
                library, api, error, expected[column], id=f"{api}-{error}-{library}", marks=marks
            )


@pytest.mark.parametrize(("library", "api", "error", "expected"), list(rows()))
def test_one_injected_error(
    kafka: Emulator, library: str, api: str, error: str, expected: str
) -> None:
    kafka.create_topic("orders", 6)
    group = kafka.group("billing")
    instance_id = "billing-1" if error == "FENCED_INSTANCE_ID" else None
    if api in ("JoinGroup", "SyncGroup"):
        fault = kafka.fail(api, error, group="billing", times=1)
        in_one_poll = (
            10_000 if expected == ENDS else None
        )  # kafka-python 3.0.12 forgets an error that comes between two polls
        with running(kafka, library, instance_id, poll_ms=in_one_poll) as application:
            fault.wait_hit(timeout=WAIT_S)
            check(kafka, application, expected)
        return
    with running(kafka, library, instance_id) as application:
        kafka.produce("orders", ["before"] * 6)
        before = group.wait(
            state="Stable", members=1, assigned="all", lag=0, acted=True, timeout=WAIT_S
        )
        fault = kafka.fail(api, error, group="billing", times=1)
        kafka.produce("orders", ["meanwhile"] * 6)
        fault.wait_hit(timeout=WAIT_S)
        if expected == NEW:
            # else the end of its session is awaited, up to 45 s; it may be over
            with suppress(LookupError):
                group.remove(before.members[0].member_id)
        if expected in (KEEPS, NEW):
            group.wait(
                state="Stable", members=1, generation_above=before.generation, timeout=WAIT_S
            )
        check(kafka, application, expected)
        if expected in (KEEPS, NEW, GOES_ON):
            after = group.member("billing")
            assert (after.member_id == before.members[0].member_id) is (expected != NEW)


def check(kafka: Emulator, application: Any, expected: str) -> None:
    """It ends, or processes and commits what is written from now on."""
    if expected == ENDS:
        assert application.ended(WAIT_S), "the application has not ended"
        assert application.error is not None
        return
    kafka.produce("orders", ["after"] * 6)
    kafka.group("billing").wait(state="Stable", members=1, assigned="all", lag=0, timeout=WAIT_S)
    assert application.error is None


def test_aiokafka_takes_a_refused_offset_fetch_for_no_offset(kafka: Emulator) -> None:
    """It asks in version 3, whose error stands above the topics, and looks for errors of partitions
    only."""
    kafka.create_topic("orders", 1)
    kafka.produce("orders", ["a", "b", "c"])
    group = kafka.group("billing")
    group.commit({("orders", 0): 3})
    mark = kafka.mark()
    kafka.fail("OffsetFetch", "NOT_COORDINATOR", group="billing", times=1)
    with running(kafka, "aiokafka") as application:
        kafka.wait_for("OffsetsCommitted", group="billing", since=mark)
        group.wait(lag=0)
        assert application.processed() == [("orders", 0, 0), ("orders", 0, 1), ("orders", 0, 2)]
