"""Share groups whose log start passes records that members hold (SH-SPSO-2, SH-LOG-1): what becomes
of acknowledgements, releases, locks that end, renewals, and of the share partition's start.

A leader finds the new start when it reads from below it, which it does where a record is available
there; until then nothing changes.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from integration_tests.wire.log_people import delete_records
from integration_tests.wire.recorder import Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.sharing import (
    ACCEPT,
    PROFILE,
    REJECT,
    RELEASE,
    RENEW,
    Shared,
    Sharer,
)

_SHORT = {"share.record.lock.duration.ms": "1000"}
_RENEWS = {"share.renew.acknowledge.enable": "true"}
_LONG_ENOUGH_MS = 10_000
of_shares = partial(scenario, PROFILE, since="4.4")


def start_at(shared: Shared, offset: int) -> None:
    """Move the log's start."""
    delete_records(shared.s.connect("admin"), shared.topic, offset)


def passed(s: Session, start: int = 5, **other: Any) -> tuple[Shared, Sharer, Sharer]:
    """Four batches of two records: a has given back the second, and holds the others. The log
    starts behind it, and b's fetch has found that."""
    shared = Shared(s, 2, 2, 2, 2, **other)
    a, b = shared.sharer("a"), shared.sharer("b")
    a.begin(0)
    a.acknowledge((2, 3, RELEASE))
    start_at(shared, start)
    b.begin(0, max_wait_ms=500)
    return shared, a, b


@of_shares()
def before_it_is_found(s: Session) -> None:
    """All is held, so nobody reads below the new start: records are acknowledged as before."""
    shared = Shared(s, 2, 2, 2)
    a = shared.sharer()
    a.begin(0)
    start_at(shared, 4)
    a.acknowledge((0, 1, ACCEPT))
    shared.state()
    a.fetch()
    a.acknowledge((2, 3, ACCEPT))
    shared.state()
    a.acknowledge((4, 5, ACCEPT))
    shared.state()
    a.fetch()


@of_shares()
def accepted_below_the_start(s: Session) -> None:
    """It is 0 and changes nothing; what is acknowledged behind the start moves the share
    partition's as far as nothing older is held."""
    shared, a, b = passed(s)
    a.acknowledge((0, 1, ACCEPT))
    shared.state()
    a.acknowledge((5, 5, ACCEPT))
    shared.state()
    b.fetch()
    a.acknowledge((6, 7, ACCEPT))
    shared.state()
    shared.produce(1)
    b.fetch(max_wait_ms=_LONG_ENOUGH_MS)
    b.acknowledge((8, 8, ACCEPT))
    shared.state()


@of_shares()
def accepted_across_the_start(s: Session) -> None:
    """One range from below the start to behind it."""
    shared, a, b = passed(s)
    a.acknowledge((4, 7, ACCEPT))
    shared.state()
    a.acknowledge((0, 1, ACCEPT), (4, 7, ACCEPT))
    b.fetch()
    shared.state()


@of_shares()
def all_that_is_held_is_below_the_start(s: Session) -> None:
    """And so is all that the log had."""
    shared, a, b = passed(s, 8)
    a.acknowledge((0, 1, ACCEPT), (4, 7, ACCEPT))
    shared.state()
    a.acknowledge((8, 8, ACCEPT))
    shared.produce(2)
    b.fetch(max_wait_ms=_LONG_ENOUGH_MS)
    a.acknowledge((4, 7, ACCEPT))
    b.acknowledge((8, 9, ACCEPT))
    shared.state()
    a.acknowledge((4, 7, ACCEPT))
    a.acknowledge((0, 9, ACCEPT))


@of_shares()
def released_below_the_start(s: Session) -> None:
    """What is given back is available where the log has it."""
    shared, a, b = passed(s)
    a.acknowledge((0, 1, RELEASE), (4, 7, RELEASE))
    shared.state()
    b.fetch(max_wait_ms=_LONG_ENOUGH_MS)
    b.acknowledge((5, 7, ACCEPT))
    shared.state()
    b.fetch()


@of_shares()
def a_word_for_each_record(s: Session) -> None:
    """Some accepted, some rejected, some given back, on both sides of the start."""
    shared, a, b = passed(s)
    a.acknowledge((0, 1, ACCEPT, REJECT), (4, 7, RELEASE, REJECT, RELEASE, ACCEPT))
    shared.state()
    b.fetch(max_wait_ms=_LONG_ENOUGH_MS)
    b.acknowledge((6, 6, ACCEPT))
    shared.state()


@of_shares(lasts_s=5)
def locks_that_end(s: Session) -> None:
    """What left the log is archived, the rest is available again."""
    shared, a, b = passed(s, settings=_SHORT)
    s.until(lambda: shared.stored_ranges() == [(5, 7)], "the locks never ended")
    b.fetch(max_wait_ms=_LONG_ENOUGH_MS)
    shared.state()
    a.acknowledge((0, 1, ACCEPT))
    a.acknowledge((5, 7, ACCEPT))
    b.acknowledge((5, 7, ACCEPT))
    shared.state()


@of_shares(lasts_s=5)
def locks_that_end_with_nothing_left(s: Session) -> None:
    """All that was held has left the log."""
    shared, a, b = passed(s, 8, settings=_SHORT)
    b.fetch(max_wait_ms=2_500)
    shared.state()
    a.acknowledge((0, 1, ACCEPT), (4, 7, ACCEPT))
    shared.produce(1)
    b.fetch(max_wait_ms=_LONG_ENOUGH_MS)
    b.acknowledge((8, 8, ACCEPT))
    shared.state()


@of_shares(lasts_s=5)
def renewed_below_the_start(s: Session) -> None:
    """Locks on what has left the log, and on a batch that the start divides."""
    shared, a, b = passed(s, settings=_RENEWS)
    for first, last in ((0, 1), (4, 5), (5, 5), (6, 7)):
        a.acknowledge((first, last, RENEW), is_renew_ack=True)
    shared.state()
    a.acknowledge((0, 1, ACCEPT), (4, 7, ACCEPT))
    shared.state()
    b.fetch()


@of_shares(lasts_s=5)
def a_renewed_lock_ends(s: Session) -> None:
    """As those of the other records do; only what the log still has is available again."""
    shared, a, b = passed(s, settings=_RENEWS | _SHORT)
    a.acknowledge((0, 1, RENEW), (6, 7, RENEW), is_renew_ack=True)
    s.until(lambda: shared.stored_ranges() == [(5, 7)], "the locks never ended")
    shared.state()
    b.fetch(max_wait_ms=_LONG_ENOUGH_MS)


@of_shares()
def a_session_that_ends(s: Session) -> None:
    """What its member held is given back."""
    shared, a, b = passed(s)
    a.close()
    b.fetch(max_wait_ms=_LONG_ENOUGH_MS)
    b.acknowledge((5, 7, ACCEPT))
    shared.state()


@of_shares()
def acknowledged_as_the_session_ends(s: Session) -> None:
    """With the request that ends it; what is not named is given back."""
    shared, a, b = passed(s)
    a.close((4, 6, ACCEPT))
    b.fetch(max_wait_ms=_LONG_ENOUGH_MS)
    b.acknowledge((7, 7, ACCEPT))
    shared.state()


@of_shares()
def of_several_members(s: Session) -> None:
    """One holds records below the start, one on both sides, one behind it."""
    shared = Shared(s, 2, 2, 2, 2, 2)
    a, b, c, d = (shared.sharer(name) for name in "abcd")
    a.begin(0, max_records=2)
    b.begin(0, max_records=2)
    c.begin(0, max_records=2)
    a.acknowledge((0, 0, RELEASE))
    start_at(shared, 3)
    d.begin(0, max_records=2)
    d.fetch(max_records=2)
    a.acknowledge((1, 1, RELEASE))
    shared.state()
    c.acknowledge((4, 5, ACCEPT))
    shared.state()
    b.acknowledge((2, 3, ACCEPT))
    shared.state()
    d.acknowledge((6, 7, RELEASE))
    shared.state()
    d.fetch()


@of_shares()
def available_below_the_start(s: Session) -> None:
    """What is available is archived when the start is found; what is done with stays. It is stored
    with the next acknowledgement."""
    shared = Shared(s, 2, 2, 2)
    a = shared.sharer()
    a.begin(0)
    a.acknowledge((0, 1, RELEASE), (2, 3, ACCEPT))
    start_at(shared, 1)
    a.fetch(max_records=1, max_wait_ms=500)
    shared.state()
    a.fetch(max_records=1)
    start_at(shared, 2)
    a.fetch(max_wait_ms=500)
    shared.state()
    a.acknowledge((4, 5, ACCEPT))
    shared.state()


@of_shares()
def behind_all_that_was_read(s: Session) -> None:
    """Records that nobody was given go, too."""
    shared = Shared(s, 2, 2, 2, 2)
    a = shared.sharer()
    a.begin(0, max_records=2)
    start_at(shared, 6)
    a.fetch(max_wait_ms=500)
    a.acknowledge((0, 1, ACCEPT))
    shared.state()
    a.fetch(max_wait_ms=_LONG_ENOUGH_MS)
    a.acknowledge((2, 5, ACCEPT))
    a.acknowledge((6, 7, ACCEPT))
    shared.state()


@of_shares()
def nothing_was_in_flight(s: Session) -> None:
    """All that was read is done with, or nothing was read yet."""
    shared = Shared(s, 2, 2, 2, 2)
    a = shared.sharer()
    a.begin(0, max_records=2)
    a.acknowledge((0, 1, ACCEPT))
    start_at(shared, 5)
    a.fetch(max_wait_ms=500)
    shared.state()
    a.acknowledge((0, 1, ACCEPT))
    a.acknowledge((3, 4, ACCEPT))
    a.acknowledge((3, 5, ACCEPT))
    a.epoch += 1  # the session goes on (SH-ACK-9)
    a.acknowledge((5, 5, ACCEPT))
    a.fetch(max_wait_ms=_LONG_ENOUGH_MS)
    a.acknowledge((3, 4, ACCEPT))
    a.acknowledge((3, 5, ACCEPT))
    a.acknowledge((6, 7, ACCEPT))
    shared.state()


@of_shares()
def all_of_it_is_given_back(s: Session) -> None:
    """Below a start behind all that was in flight: nothing is known of the batches any more, and a
    range that reaches across the start makes the whole request fail."""
    shared = Shared(s, 2, 1)
    a = shared.sharer()
    a.begin(0, batch_size=2)
    a.acknowledge((0, 0, RELEASE))
    start_at(shared, 3)
    a.fetch(max_wait_ms=500)
    a.close()
    a.begin(0, max_wait_ms=500)
    a.acknowledge((2, 3, ACCEPT))
    shared.state()


@of_shares()
def all_of_one_batch_is_given_back(s: Session) -> None:
    """The same with a batch that is followed record by record."""
    shared = Shared(s, 3)
    a = shared.sharer()
    a.begin(0)
    a.acknowledge((0, 0, RELEASE))
    start_at(shared, 3)
    a.fetch(max_wait_ms=500)
    a.close()
    a.begin(0, max_wait_ms=500)
    a.acknowledge((2, 3, ACCEPT))
    shared.state()
    shared.produce(2)
    a.begin(0, max_wait_ms=500)
    a.acknowledge((3, 4, ACCEPT))
    shared.state()


@of_shares()
def the_start_goes_back(s: Session) -> None:
    """Behind all that was in flight: with the last change Kafka goes on from the end of what it
    knew, and finds the log's start once more."""
    shared = Shared(s, 2, 2, 2, 2, 2)
    a, b = shared.sharer("a"), shared.sharer("b")
    a.begin(0, max_records=4, batch_size=2)
    a.acknowledge((2, 2, RELEASE))
    start_at(shared, 8)
    b.begin(0, max_wait_ms=500)
    a.close()
    shared.state()
    b.fetch(max_wait_ms=500)
    b.fetch(max_wait_ms=500)
    b.acknowledge((8, 9, ACCEPT))
    shared.state()


@of_shares()
def the_start_stays_before_what_is_held(s: Session) -> None:
    """Older records are done with, younger ones too, another member holds some in between."""
    shared = Shared(s, 2, 2, 2, 2)
    a, b, c = (shared.sharer(name) for name in "abc")
    a.begin(0, max_records=2)
    b.begin(0, max_records=2)
    a.fetch(max_records=2)
    a.acknowledge((0, 0, RELEASE))
    start_at(shared, 6)
    c.begin(0, max_records=2, max_wait_ms=500)
    a.close()
    shared.state()
    c.fetch(max_records=2, max_wait_ms=500)
    b.acknowledge((2, 3, RELEASE))
    shared.state()
    c.fetch(max_wait_ms=500)
    c.fetch(max_wait_ms=500)
    c.acknowledge((6, 7, ACCEPT))
    shared.state()


@of_shares()
def wrong_ranges_around_the_start(s: Session) -> None:
    """Behind what is in flight, of other members, twice, in the wrong order."""
    shared, a, b = passed(s)
    a.acknowledge((0, 9, ACCEPT))
    b.acknowledge((0, 1, ACCEPT))
    b.acknowledge((4, 5, ACCEPT))
    b.acknowledge((5, 6, ACCEPT))
    a.acknowledge((3, 6, ACCEPT))
    a.acknowledge((1, 4, ACCEPT))
    a.acknowledge((0, 4, ACCEPT), (2, 6, ACCEPT))
    a.acknowledge((0, 1, ACCEPT), (0, 1, ACCEPT))
    a.acknowledge((4, 4, ACCEPT), (5, 6, ACCEPT), (7, 7, ACCEPT))
    a.acknowledge((4, 6, ACCEPT))
    a.acknowledge((0, 7, ACCEPT))
    shared.state()


@of_shares()
def the_start_moves_again(s: Session) -> None:
    """Behind records that are still held, and behind those that were given meanwhile."""
    shared, a, b = passed(s, 3)
    a.acknowledge((5, 5, RELEASE))
    start_at(shared, 6)
    b.fetch(max_wait_ms=500)
    a.acknowledge((4, 4, ACCEPT))
    shared.state()
    a.acknowledge((6, 6, RELEASE))
    shared.state()
    b.fetch(max_wait_ms=_LONG_ENOUGH_MS)
    b.acknowledge((6, 6, ACCEPT))
    shared.state()
    a.acknowledge((7, 7, ACCEPT))
    shared.state()


@of_shares()
def the_last_delivery(s: Session) -> None:
    """Records that are given back for the last time, on both sides of the start."""
    shared, a, b = passed(s, settings={"share.delivery.count.limit": "2"})
    a.acknowledge((4, 7, RELEASE))
    b.fetch(max_wait_ms=_LONG_ENOUGH_MS)
    start_at(shared, 6)
    b.acknowledge((5, 7, RELEASE))
    shared.state()
    a.acknowledge((0, 1, RELEASE))
    shared.state()
    b.fetch(max_wait_ms=_LONG_ENOUGH_MS)


@of_shares()
def a_limit_to_what_is_in_flight(s: Session) -> None:
    """Records below the start are not in flight any more: there is room for others."""
    shared = Shared(s, *[20] * 10, settings={"share.partition.max.record.locks": "100"})
    a, b = shared.sharer("a"), shared.sharer("b")
    a.begin(0)
    b.begin(0, max_wait_ms=300)
    a.acknowledge((0, 19, RELEASE))
    start_at(shared, 60)
    b.fetch(max_wait_ms=500)
    b.fetch(max_wait_ms=_LONG_ENOUGH_MS)
    shared.state()


@of_shares()
def what_the_next_session_finds(s: Session) -> None:
    """The partition was unloaded with the last connection: its stored start is below the log's."""
    shared = Shared(s, 2, 2, 2)
    a, b = shared.sharer("a"), shared.sharer("b")
    a.begin(0)
    a.acknowledge((0, 0, ACCEPT), (3, 3, ACCEPT))
    a.link.connection.close()
    s.until(lambda: 0 in shared.stored_states()[-1:], "records were never given back")
    start_at(shared, 2)
    b.begin(0)
    b.acknowledge((2, 5, ACCEPT))
    b.fetch(max_wait_ms=500)
    shared.state()


@of_shares()
def a_stored_start_within_a_batch(s: Session) -> None:
    """The next session is given the rest of the batch."""
    shared = Shared(s, 4, 2)
    a, b = shared.sharer("a"), shared.sharer("b")
    a.begin(0)
    a.acknowledge((0, 1, ACCEPT), (4, 5, ACCEPT))
    a.link.connection.close()
    s.until(lambda: 0 in shared.stored_states(), "records were never given back")
    b.begin(0)
    b.acknowledge((2, 3, ACCEPT))
    shared.state()


@of_shares()
def a_start_that_was_set_within_a_batch(s: Session) -> None:
    """By AlterShareGroupOffsets, with nothing stored of the batch's records."""
    shared = Shared(s, 4, 2)
    rows = [{"partition_index": 0, "start_offset": 2}]
    s.stage().ask(
        "AlterShareGroupOffsets",
        0,
        group_id=shared.group,
        topics=[{"topic_name": shared.topic, "partitions": rows}],
    )
    a = shared.sharer()
    a.begin(0)
    a.acknowledge((0, 3, ACCEPT))
    a.acknowledge((2, 3, RELEASE))
    a.fetch(max_wait_ms=_LONG_ENOUGH_MS)
    shared.state()


@of_shares()
def a_log_that_starts_within_a_batch(s: Session) -> None:
    """Before the group's first fetch."""
    shared = Shared(s, 4, 2)
    start_at(shared, 3)
    a = shared.sharer()
    a.begin(0)
    a.acknowledge((0, 5, RELEASE))
    a.acknowledge((3, 5, RELEASE))
    a.fetch(max_wait_ms=_LONG_ENOUGH_MS)
    shared.state()


@of_shares()
def offsets_and_lag(s: Session) -> None:
    """What DescribeShareGroupOffsets says before and after the start is found, and stored."""
    shared, a, _ = passed(s)

    def described() -> None:
        named = [{"topic_name": shared.topic, "partitions": [0]}]
        s.stage().ask(
            "DescribeShareGroupOffsets", 1, groups=[{"group_id": shared.group, "topics": named}]
        )

    described()
    a.acknowledge((6, 7, ACCEPT))
    described()
    a.acknowledge((4, 5, ACCEPT))
    described()
    a.acknowledge((0, 1, ACCEPT))
    described()
