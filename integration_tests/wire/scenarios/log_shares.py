"""Share groups over deleted and compacted records (SH-*): where they start again, and what they are
given across gaps."""

from __future__ import annotations

from functools import partial

from integration_tests.wire.batches import batch
from integration_tests.wire.log_people import (
    ALL_KEPT,
    CLEANED,
    DELETED_AT_ONCE,
    PROFILE,
    SINCE,
    configure,
    size_of,
    until_settled,
    until_start,
)
from integration_tests.wire.recorder import Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.scenarios.fetch import fill
from integration_tests.wire.scenarios.log_retention import now
from integration_tests.wire.sharing import ACCEPT, Shared

of_logs = partial(scenario, PROFILE, since=SINCE, lasts_s=10)


@of_logs()
def records_that_retention_deleted(s: Session) -> None:
    """What nobody holds is not delivered any more; the group goes on where the log starts."""
    shared = Shared(s)
    configure(s, shared.topic, **ALL_KEPT)
    shared.produce(2, 2, 2, timestamp_ms=now())
    a = shared.sharer()
    a.begin(0, max_records=2)
    a.acknowledge((0, 1, ACCEPT))
    configure(s, shared.topic, **DELETED_AT_ONCE)
    until_start(s, shared.topic, 6)
    configure(s, shared.topic, **ALL_KEPT)
    shared.produce(2, timestamp_ms=now())
    a.fetch(max_records=2)
    a.acknowledge((6, 7, ACCEPT))
    shared.state()


@of_logs()
def records_that_compaction_took(s: Session) -> None:
    """Offsets without a record lie within what is acquired, and are acknowledged as gaps are."""
    shared = Shared(s)
    configure(
        s,
        shared.topic,
        **ALL_KEPT,
        cleanup_policy="compact",
        internal_segment_bytes="300",
        min_cleanable_dirty_ratio="1.0",
    )
    for key in "aabbaacd":
        fill(s, shared.topic, batch(b"v" * 60, key=key.encode(), timestamp_ms=now()))
    size = size_of(s, shared.topic)
    configure(s, shared.topic, **CLEANED)
    until_settled(s, shared.topic, size)
    a = shared.sharer()
    first = a.begin(0, max_records=20)
    held = first["responses"][0]["partitions"][0]["acquired_records"]
    s.say("acquired", [[each["first_offset"], each["last_offset"]] for each in held])
    a.acknowledge(*((each["first_offset"], each["last_offset"], ACCEPT) for each in held))
    shared.state()
