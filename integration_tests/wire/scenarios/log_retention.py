"""Segments, and what retention deletes of them (SEG-*, RET-*): what readers, writers and look-ups
see of it."""

from __future__ import annotations

import time
from functools import partial

from integration_tests.wire.batches import TIMESTAMP_MS, Producer, batch
from integration_tests.wire.log_people import (
    CHECKS_MS,
    DELETED_AT_ONCE,
    PROFILE,
    SINCE,
    SIZE,
    VALUE,
    configure,
    delete_records,
    log,
    start_of,
    tell,
    until_size,
    until_start,
    write,
)
from integration_tests.wire.people import topic, topic_id
from integration_tests.wire.raw import Plain
from integration_tests.wire.recorder import Link, Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.scenarios.fetch import fetch, fill, wanted
from integration_tests.wire.scenarios.produce import request
from integration_tests.wire.transacting import Transactor

SECOND_MS = 1_000
READ_COMMITTED = 1
of_logs = partial(scenario, PROFILE, since=SINCE)


@of_logs()
def segments_have_a_size(s: Session) -> None:
    """A fetch ends where a segment does; a batch that does not fit begins one; the log's size is
    that of all."""
    a, name = s.connect(), log(s)
    write(s, name, 3)
    fill(s, name, batch(VALUE * 2), batch(b"y"), batch(b"z"))
    for offset in range(6):
        fetch(a, wanted(name, offset))
    tell(s, a, name)


@of_logs()
def a_batch_that_is_larger_than_a_segment(s: Session) -> None:
    """RECORD_LIST_TOO_LARGE, also with a size below 0; the largest that fits is taken."""
    a, name = s.connect(), log(s, each=1)
    a.ask("Produce", 9, **request(name, batch(VALUE + b"x")))
    a.ask("Produce", 9, **request(name, batch(VALUE)))
    odd = topic(s, "odd", 1, internal_segment_bytes="-5")
    a.ask("Produce", 9, **request(odd, batch(VALUE)))


@of_logs()
def all_of_it_is_too_old(s: Session) -> None:
    """The active segment is rolled and goes, too: the log is empty at its end, and goes on there."""
    a, name = s.connect(), log(s)
    write(s, name, 5)
    configure(s, name, **DELETED_AT_ONCE)
    until_start(s, name, 5)
    tell(s, a, name, TIMESTAMP_MS, 0)
    for offset in (0, 4, 5, 6):
        fetch(a, wanted(name, offset))
    a.ask("Produce", 9, **request(name, batch(VALUE, timestamp_ms=now())))
    fetch(a, wanted(name, 5))


@of_logs()
def a_young_segment_keeps_those_behind_it(s: Session) -> None:
    """Segments go from the oldest on, up to the first that stays; a time that is still to come is
    young, too."""
    a, name = s.connect(), log(s)
    write(s, name, 2)
    write(s, name, 1, timestamp_ms=now() + 600 * SECOND_MS)
    write(s, name, 4)
    configure(s, name, retention_ms=str(3_600 * SECOND_MS))
    until_start(s, name, 2)
    s.wait(CHECKS_MS)
    tell(s, a, name)


@of_logs()
def the_largest_time_of_a_segment_counts(s: Session) -> None:
    """Not that of its first or last batch."""
    a, name = s.connect(), log(s, each=3)
    for at in (TIMESTAMP_MS, now(), TIMESTAMP_MS, TIMESTAMP_MS):
        write(s, name, 1, timestamp_ms=at)
    old = log(s, "old", each=3)
    write(s, old, 4)
    for each in (name, old):
        configure(s, each, retention_ms=str(3_600 * SECOND_MS))
    until_start(s, old, 4)
    s.say("starts", [start_of(s, name), start_of(s, old)])
    tell(s, a, name)


@of_logs()
def as_far_as_the_rest_is_large_enough(s: Session) -> None:
    """retention.bytes: whole segments go while what is left is not below it."""
    a, name = s.connect(), log(s)
    write(s, name, 7)
    for batches, start in ((7, 0), (6, 0), (5, 2), (4, 2), (3, 4), (1, 6), (0, 7)):
        configure(s, name, retention_bytes=str(batches * SIZE))
        until_start(s, name, start)
        s.wait(CHECKS_MS // 2)
        tell(s, a, name)
    write(s, name, 1)
    until_start(s, name, 8)
    tell(s, a, name)


@of_logs()
def any_size_below_zero(s: Session) -> None:
    """retention.bytes has no lower bound: below 0 nothing goes by size."""
    a, name = s.connect(), log(s, retention_bytes="-7")
    write(s, name, 5)
    s.wait(CHECKS_MS)
    tell(s, a, name)


@of_logs()
def no_policy_at_all(s: Session) -> None:
    """An empty cleanup.policy deletes nothing, however old; records without a key are taken, and
    may be deleted by hand. Given one, the log is cleaned."""
    a, name = s.connect(), log(s, cleanup_policy="", retention_bytes="0", retention_ms="1")
    write(s, name, 5)
    s.wait(CHECKS_MS)
    tell(s, a, name)
    delete_records(a, name, 3)
    s.wait(CHECKS_MS)
    tell(s, a, name)
    configure(s, name, cleanup_policy="delete")
    until_start(s, name, 5)


@of_logs()
def a_compacted_log_has_no_age(s: Session) -> None:
    """With compact alone segments do not go by age or size; with both policies they do."""
    a, name = s.connect(), log(s, cleanup_policy="compact", retention_bytes="0", retention_ms="1")
    fill(s, name, *(batch(VALUE, key=str(i).encode()) for i in range(5)))
    s.wait(CHECKS_MS)
    s.say("start", start_of(s, name))
    configure(s, name, cleanup_policy="compact,delete")
    until_start(s, name, 5)
    tell(s, a, name)


@of_logs()
def below_the_log_start(s: Session) -> None:
    """DeleteRecords moves the start: segments wholly below it go with the next check, the active one
    stays, and counts."""
    a, name = s.connect(), log(s)
    write(s, name, 5)
    delete_records(a, name, 3)
    until_size(s, name, 3 * SIZE)
    tell(s, a, name, TIMESTAMP_MS)
    fetch(a, wanted(name, 2))
    fetch(a, wanted(name, 3))
    delete_records(a, name, -1)
    until_size(s, name, SIZE)
    s.wait(CHECKS_MS)
    tell(s, a, name, TIMESTAMP_MS)
    fetch(a, wanted(name, 5))


@of_logs()
def one_segment_below_the_log_start(s: Session) -> None:
    """The only segment keeps its size, and its highest time, though nothing in it can be read."""
    a, name = s.connect(), log(s, each=0)
    write(s, name, 3)
    delete_records(a, name, -1)
    s.wait(CHECKS_MS)
    tell(s, a, name, TIMESTAMP_MS)


@of_logs()
def by_time_below_the_log_start(s: Session) -> None:
    """A look-up by time searches the first segment that is not too old, and no other."""
    a, name = s.connect(), log(s)
    for delta in (0, 40, 10, 20, 30):
        write(s, name, 1, timestamp_ms=TIMESTAMP_MS + delta)
    tell(s, a, name, *(TIMESTAMP_MS + delta for delta in (0, 15, 40, 41)))
    delete_records(a, name, 2)
    until_size(s, name, 3 * SIZE)
    tell(s, a, name, *(TIMESTAMP_MS + delta for delta in (0, 15, 25, 40)))


@of_logs()
def a_segment_of_which_a_part_is_deleted(s: Session) -> None:
    """Its records below the log start are not found by time any more."""
    a, name = s.connect(), log(s, each=4)
    for delta in (0, 40, 10, 20, 30):
        write(s, name, 1, timestamp_ms=TIMESTAMP_MS + delta)
    delete_records(a, name, 2)
    s.wait(CHECKS_MS)
    tell(s, a, name, *(TIMESTAMP_MS + delta for delta in (0, 15, 25, 40)))


@of_logs(lasts_s=4)
def a_fetch_that_waits_on_deleted_ground(s: Session) -> None:
    """It is not answered by the deletion, but when its time is over: OFFSET_OUT_OF_RANGE."""
    a, b, name = s.connect("a"), s.connect("b"), log(s, each=0)
    write(s, name, 5)
    wait_for(a, name, 1)
    wait_for(b, name, 5)
    configure(s, name, **DELETED_AT_ONCE)
    until_start(s, name, 5)
    a.silent(500)
    a.expect()
    b.expect()


@of_logs()
def a_fetch_in_an_older_segment_does_not_wait(s: Session) -> None:
    """It is answered with what there is; one in the active segment waits for more, and is answered
    when another segment begins."""
    a, b, name = s.connect("a"), s.connect("b"), log(s)
    write(s, name, 3)
    wait_for(a, name, 1)
    a.expect()
    wait_for(a, name, 2)
    wait_for(b, name, 3)
    a.silent()
    write(s, name, 1)
    a.silent()
    b.silent()
    write(s, name, 1)
    a.expect()
    b.expect()


@of_logs()
def a_session_on_deleted_ground(s: Session) -> None:
    """An incremental fetch tells of the error, and of the new log start."""
    a, name = s.connect(), log(s)
    write(s, name, 5)
    first = fetch(a, wanted(name, 1), session_epoch=0)
    session = first["session_id"]
    configure(s, name, **DELETED_AT_ONCE)
    until_start(s, name, 5)
    fetch(a, session_id=session, session_epoch=1)
    fetch(a, session_id=session, session_epoch=2)
    fetch(a, wanted(name, 5), session_id=session, session_epoch=3)
    fetch(a, session_id=session, session_epoch=4)


@of_logs()
def an_open_transaction_on_deleted_ground(s: Session) -> None:
    """Retention does not wait for the end of a transaction: its records go, and it can be
    committed."""
    a, name = s.connect(), log(s)
    tx = Transactor(s, a)
    tx.init(5)
    tx.produce(name, VALUE, timestamp_ms=TIMESTAMP_MS)
    write(s, name, 3)
    fetch(a, wanted(name, 0), isolation_level=READ_COMMITTED)
    configure(s, name, **DELETED_AT_ONCE)
    until_start(s, name, 4)
    fetch(a, wanted(name, 0), isolation_level=READ_COMMITTED)
    fetch(a, wanted(name, 4), isolation_level=READ_COMMITTED)
    configure(s, name, retention_ms="-1")
    tx.end(commit=True)
    fetch(a, wanted(name, 4), isolation_level=READ_COMMITTED)
    tell(s, a, name)


@of_logs()
def aborted_transactions_go_with_their_segments(s: Session) -> None:
    """What a reader of committed records is told ends with the segment that it reads."""
    a, name = s.connect(), log(s, each=3)
    tx = Transactor(s, a)
    tx.init(5)
    for _ in range(4):
        tx.produce(name, VALUE, timestamp_ms=now() - SECOND_MS)
        tx.end(commit=False)
    for offset in range(8):
        fetch(a, wanted(name, offset), isolation_level=READ_COMMITTED)
    delete_records(a, name, 5)
    until_start(s, name, 5)
    s.wait(CHECKS_MS)
    for offset in range(5, 8):
        fetch(a, wanted(name, offset), isolation_level=READ_COMMITTED)
    tell(s, a, name)


@of_logs()
def a_producer_whose_batches_are_deleted(s: Session) -> None:
    """Its sequence goes on, and what it sends again is known: producers are not forgotten with their
    records."""
    a, name = s.connect(), log(s)
    tx = a.ask_quietly("InitProducerId", 4, transactional_id=None, transaction_timeout_ms=1)
    producer = partial(Producer, tx["producer_id"], tx["producer_epoch"])
    for sequence in range(3):
        fill(s, name, batch(VALUE, producer=producer(sequence)))
    configure(s, name, **DELETED_AT_ONCE)
    until_start(s, name, 3)
    for sequence in (2, 4, 3):
        a.ask("Produce", 9, **request(name, batch(VALUE, producer=producer(sequence))))


@of_logs()
def without_a_time_the_last_change_counts(s: Session) -> None:
    """Records without a timestamp are as old as the last change of their segment."""
    a, name = s.connect(), log(s, retention_ms="3600000")
    write(s, name, 3, timestamp_ms=-1)
    s.wait(CHECKS_MS)
    tell(s, a, name, 0)
    configure(s, name, retention_ms="1")
    until_start(s, name, 3)
    tell(s, a, name, 0)


@of_logs()
def an_index_that_is_full(s: Session) -> None:
    """A segment ends where one of its indexes does: that of times has an entry less, and only where
    the time rose."""
    a = s.connect()
    small = {"index_interval_bytes": "0", "segment_index_bytes": "48"}
    rising, same = log(s, "rising", each=0, **small), log(s, "same", each=0, **small)
    for delta in range(10):
        write(s, rising, 1, timestamp_ms=TIMESTAMP_MS + delta)
        write(s, same, 1)
    for name in (rising, same):
        for offset in (0, 3, 4, 5, 6, 7, 8):
            fetch(a, wanted(name, offset))


@of_logs()
def limits_that_change(s: Session) -> None:
    """The next batch is held to the new size."""
    a, name = s.connect(), log(s, each=3)
    write(s, name, 2)
    configure(s, name, internal_segment_bytes=str(SIZE))
    write(s, name, 2)
    configure(s, name, internal_segment_bytes=str(4 * SIZE))
    write(s, name, 4)
    for offset in range(8):
        fetch(a, wanted(name, offset))


@of_logs()
def the_internal_setting_is_shown_where_it_is_given(s: Session) -> None:
    """internal.segment.bytes takes any whole number; of other topics nothing is said of it."""
    a = s.connect()
    with_it, without = log(s, "with"), topic(s, "without")
    for name in (with_it, without):
        a.ask(
            "DescribeConfigs",
            4,
            resources=[
                {
                    "resource_type": 2,
                    "resource_name": name,
                    "configuration_keys": ["internal.segment.bytes", "segment.bytes"],
                }
            ],
            include_synonyms=True,
            include_documentation=False,
        )
    for name, value in (
        ("internal.segment.bytes", "x"),
        ("internal.segment.bytes", "0"),
        ("segment.bytes", "1048575"),
        ("retention.ms", "-2"),
        ("retention.bytes", "x"),
        ("segment.ms", "0"),
        ("segment.jitter.ms", "-1"),
        ("segment.index.bytes", "3"),
        ("cleanup.policy", "compact,,delete"),
        ("cleanup.policy", "keep"),
        ("file.delete.delay.ms", "-1"),
    ):
        change = {"name": name, "config_operation": 0, "value": value}
        a.ask(
            "IncrementalAlterConfigs",
            1,
            resources=[{"resource_type": 2, "resource_name": without, "configs": [change]}],
            validate_only=False,
        )


@of_logs()
def leader_epochs_after_a_deletion(s: Session) -> None:
    """What OffsetForLeaderEpoch and a fetch with a last fetched epoch are told."""
    a, name = s.connect(), log(s)
    write(s, name, 4)
    configure(s, name, retention_bytes=str(2 * SIZE))
    until_start(s, name, 2)
    asked = {"partition": 0, "current_leader_epoch": -1, "leader_epoch": 0}
    a.ask("OffsetForLeaderEpoch", 4, replica_id=-1, topics=[{"topic": name, "partitions": [asked]}])
    for offset in (1, 2, 4):
        fetch(a, wanted(name, offset, last_fetched_epoch=0))


@of_logs()
def offsets_of_a_group_in_deleted_ground(s: Session) -> None:
    """What a group committed stays; it may commit below the log start."""
    a, name = s.connect(), log(s)
    write(s, name, 5)
    group = s.name("g")
    part = {
        "partition_index": 0,
        "committed_offset": 1,
        "committed_leader_epoch": -1,
        "committed_metadata": "",
    }
    commit: Plain = {
        "group_id": group,
        "generation_id_or_member_epoch": -1,
        "member_id": "",
        "group_instance_id": None,
        "topics": [{"name": name, "partitions": [part]}],
    }
    a.ask_until(
        lambda answer: not answer["topics"][0]["partitions"][0]["error_code"],
        "OffsetCommit",
        9,
        **commit,
    )
    configure(s, name, **DELETED_AT_ONCE)
    until_start(s, name, 5)
    groups = [{"group_id": group, "member_id": None, "member_epoch": -1, "topics": None}]
    a.ask("OffsetFetch", 9, groups=groups, require_stable=False)
    a.ask("OffsetCommit", 9, **commit)
    a.ask("OffsetFetch", 9, groups=groups, require_stable=False)


@of_logs()
def by_ids_of_topics(s: Session) -> None:
    """The newest version of Fetch tells the same."""
    a, name = s.connect(), log(s)
    write(s, name, 5)
    configure(s, name, **DELETED_AT_ONCE)
    until_start(s, name, 5)
    for offset in (0, 5):
        fetch(a, wanted(topic_id(s, name), offset, version=18), version=18)


@of_logs()
def several_records_a_batch(s: Session) -> None:
    """A log start within a batch; segments are counted in offsets."""
    a, name = s.connect(), topic(s, "t", 1, internal_segment_bytes="200", retention_ms="-1")
    fill(s, name, *(batch(b"a" * 20, b"b" * 20, b"c" * 20) for _ in range(4)))
    delete_records(a, name, 4)
    s.wait(CHECKS_MS)
    tell(s, a, name, TIMESTAMP_MS)
    for offset in range(3, 13):
        fetch(a, wanted(name, offset))


def wait_for(link: Link, name: str, offset: int) -> None:
    """Fetch from an offset on, and wait for more than there is."""
    link.send(
        "Fetch",
        12,
        replica_id=-1,
        max_wait_ms=2_500,
        min_bytes=100_000,
        max_bytes=1 << 20,
        isolation_level=0,
        session_id=0,
        session_epoch=-1,
        topics=[wanted(name, offset)],
        forgotten_topics_data=[],
    )


def now() -> int:
    """The time of day in milliseconds."""
    return int(time.time() * 1000)
