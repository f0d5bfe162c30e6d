"""Locks of records (KIP-932): they end by themselves, and what comes after that (SH-ACK-4,
SH-ACK-5)."""

from __future__ import annotations

from integration_tests.wire.recorder import Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.sharing import ACCEPT, PROFILE, RELEASE, RENEW, Shared

_SHORT = {"share.record.lock.duration.ms": "1000"}
_LONG_ENOUGH_MS = 10_000


@scenario(PROFILE, since="4.2")
def a_lock_ends(s: Session) -> None:
    """Whoever waits is given the records; the late acknowledgement is refused."""
    shared = Shared(s, 3, settings=_SHORT)
    a, b = shared.sharer("a"), shared.sharer("b")
    a.begin(0)
    b.begin(0, max_wait_ms=_LONG_ENOUGH_MS)
    a.acknowledge((0, 2, ACCEPT))
    b.acknowledge((0, 2, ACCEPT))
    shared.state()


@scenario(PROFILE, since="4.2")
def a_late_acknowledgement_of_what_nobody_has(s: Session) -> None:
    """121 as well, until it is acquired again."""
    shared = Shared(s, 2, settings=_SHORT)
    a = shared.sharer()
    a.begin(0)
    s.until(lambda: shared.stored_states() == [0], "the locks never ended")
    a.acknowledge((0, 1, ACCEPT))
    a.fetch()
    a.acknowledge((0, 1, ACCEPT))


@scenario(PROFILE, since="4.3")
def locks_end_for_the_last_time(s: Session) -> None:
    """With a limit of 2 the second lock that ends archives."""
    shared = Shared(s, 2, settings={"share.delivery.count.limit": "2", **_SHORT})
    a = shared.sharer()
    a.begin(0)
    a.fetch(max_wait_ms=_LONG_ENOUGH_MS)
    s.until(lambda: shared.stored_states() == [4], "the last locks never ended")
    a.fetch()
    shared.state()


@scenario(PROFILE, since="4.3")
def stored_in_another_state(s: Session) -> None:
    """The share coordinator keeps whatever number a writer gives; the leader cannot begin with one
    that is no state."""
    for state in (5, -1):
        shared = Shared(s, 2)
        written = {
            "partition": 0,
            "state_epoch": 0,
            "leader_epoch": 0,
            "start_offset": 0,
            "delivery_complete_count": 0,
            "state_batches": [
                {"first_offset": 0, "last_offset": 0, "delivery_state": state, "delivery_count": 1}
            ],
        }
        s.stage().ask(
            "WriteShareGroupState",
            1,
            group_id=shared.group,
            topics=[{"topic_id": shared.id, "partitions": [written]}],
        )
        shared.sharer(f"of {state}").begin(0, max_wait_ms=500)
        shared.state()
        shared.s.names.topic_ids.clear()


@scenario(PROFILE, since="4.2")
def only_what_is_held_ends(s: Session) -> None:
    """Records that were acknowledged before stay so."""
    shared = Shared(s, 4, settings=_SHORT)
    a = shared.sharer()
    a.begin(0)
    a.acknowledge((0, 0, ACCEPT), (2, 2, ACCEPT))
    s.until(lambda: shared.stored_states() == [0, 2, 0], "the locks never ended")
    a.fetch()
    shared.state()


@scenario(PROFILE, since="4.2")
def a_renewed_lock_ends_later(s: Session) -> None:
    """The first lock's end comes and goes."""
    shared = Shared(s, 2, settings=_SHORT)
    a, b = shared.sharer("a"), shared.sharer("b")
    a.begin(0)
    s.wait(500)
    a.acknowledge((0, 0, RENEW), is_renew_ack=True)
    b.begin(0, max_wait_ms=_LONG_ENOUGH_MS, min_bytes=1)
    b.acknowledge((1, 1, ACCEPT))
    b.fetch(max_wait_ms=_LONG_ENOUGH_MS)


@scenario(PROFILE, since="4.2")
def a_session_ends_after_its_locks(s: Session) -> None:
    """There is nothing left to give back."""
    shared = Shared(s, 2, settings=_SHORT)
    a = shared.sharer()
    a.begin(0)
    s.until(lambda: shared.stored_states() == [0], "the locks never ended")
    a.close()
    shared.state()
    b = shared.sharer("b")
    b.begin(0)
    b.acknowledge((0, 1, RELEASE))
    shared.state()


@scenario(PROFILE, since="4.2")
def acknowledged_by_the_fetch_that_takes_it_again(s: Session) -> None:
    """Records whose locks have ended are acknowledged by a fetch that can take them again: by one
    that waits for nothing, and by one that may wait."""
    shared = Shared(s, 2, settings=_SHORT)
    a = shared.sharer()
    a.begin(0)
    for deliveries, wait_ms in ((1, 0), (2, _LONG_ENOUGH_MS)):
        s.until(
            lambda given=deliveries: shared.stored_deliveries() == [given],  # type: ignore[misc]
            "the locks never ended",
        )
        a.fetch(acks=((0, 1, ACCEPT),), max_wait_ms=wait_ms)
    a.acknowledge((0, 1, ACCEPT))
    shared.state()
