"""Share sessions (KIP-932): how they begin, go on and end, and what they hold (SH-SES-*)."""

from __future__ import annotations

from typing import Any

from integration_tests.wire.recorder import Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.sharing import (
    ACCEPT,
    PROFILE,
    Shared,
    Sharer,
    configure,
    initialize,
)


@scenario(PROFILE, since="4.2")
def a_session_lives(s: Session) -> None:
    """Epochs count up; answers hold what has records, and new partitions once."""
    shared = Shared(s, 2, partitions=2)
    a = shared.sharer()
    a.begin(0)
    a.fetch()
    a.fetch(1, max_wait_ms=600)
    a.fetch()
    shared.produce(1, partition=1)
    a.fetch()
    a.fetch(forgotten_topics_data=[{"topic_id": shared.id, "partitions": [1]}])
    shared.produce(1, partition=1)
    shared.produce(1)
    a.fetch()


@scenario(PROFILE, since="4.2")
def wrong_epochs(s: Session) -> None:
    """No session 122, another number 123; acknowledgements cannot begin one. A refusal moves
    nothing on."""
    shared = Shared(s, 2)
    a = shared.sharer()
    for epoch in (1, -1):
        a.fetch(share_session_epoch=epoch)
        a.acknowledge(share_session_epoch=epoch)
    a.acknowledge(share_session_epoch=0)
    a.begin(0)
    for epoch in (0, 2, 7, -2):
        a.acknowledge((0, 1, ACCEPT), share_session_epoch=epoch)
    for epoch in (2, 7, -2):
        a.link.ask("ShareFetch", 2, **a.fields(share_session_epoch=epoch))
    a.acknowledge((0, 1, ACCEPT))


@scenario(PROFILE, since="4.2")
def beginning_anew_keeps_records(s: Session) -> None:
    """Epoch 0 again: what is acquired stays so."""
    shared = Shared(s, 3)
    a, b = shared.sharer("a"), shared.sharer("b")
    a.begin(0)
    b.begin(0, max_wait_ms=0)
    a.begin(0, max_wait_ms=0)
    b.fetch()
    a.acknowledge((0, 2, ACCEPT))


@scenario(PROFILE, since="4.2")
def a_partition_is_named_twice(s: Session) -> None:
    """In a first request it fails the whole; the former session has ended, its records stay locked,
    and none has begun. In a later one it counts once (SH-SES-1)."""
    shared = Shared(s, 3, 2, partitions=2)
    a, b = shared.sharer("a"), shared.sharer("b")
    a.begin(0)
    a.link.ask("ShareFetch", 2, **a.fields(0, 0, share_session_epoch=0))
    a.fetch(share_session_epoch=1)
    b.begin(0, max_wait_ms=0)
    for topic in (shared.id, "00" * 15 + "07"):
        twice = [{"topic_id": topic, "partitions": [a.part(index)]} for index in (1, 1)]
        a.link.ask("ShareFetch", 2, **a.fields(share_session_epoch=0, topics=twice))
    a.fetch(share_session_epoch=1)
    a.begin(0, max_wait_ms=0)
    a.fetch(1, 1, max_wait_ms=600)
    shared.produce(1, partition=1)
    a.fetch()


@scenario(PROFILE, since="4.2")
def closing_gives_back(s: Session) -> None:
    """By acknowledgement: what comes with it is taken first, the rest is given back, counts
    stay."""
    shared = Shared(s, 5)
    a, b = shared.sharer("a"), shared.sharer("b")
    a.begin(0)
    a.close((0, 1, ACCEPT))
    a.fetch(share_session_epoch=1)
    b.begin(0)
    shared.state()


@scenario(PROFILE, since="4.2")
def closing_by_fetch(s: Session) -> None:
    """A fetch with epoch -1 gives no records."""
    shared = Shared(s, 5)
    a, b = shared.sharer("a"), shared.sharer("b")
    a.begin(0)
    a.epoch = -1
    a.fetch(acks=((0, 1, ACCEPT),))
    a.fetch()
    b.begin(0)


@scenario(PROFILE, since="4.2")
def a_lost_connection_gives_back(s: Session) -> None:
    """Records of a session whose connection is gone come to whoever waits."""
    shared = Shared(s, 3)
    a, b = shared.sharer("a"), shared.sharer("b")
    a.begin(0)
    b.begin(0, max_wait_ms=0)
    b.link.send("ShareFetch", 2, **b.fields(max_wait_ms=10_000))
    b.link.silent()
    a.link.connection.close()
    b.took(b.link.expect())


@scenario(PROFILE, since="4.2")
def another_connection_goes_on(s: Session) -> None:
    """Whoever knows the number may go on with a session; it ends with the connection that began
    it."""
    shared = Shared(s, 3)
    a, b = shared.sharer("a"), shared.sharer("b")
    a.begin(0)
    b.member_id, b.epoch = a.member_id, a.epoch
    b.acknowledge((0, 0, ACCEPT))
    a.epoch = b.epoch
    a.acknowledge((1, 1, ACCEPT))


@scenario(PROFILE, since="4.2")
def strange_names(s: Session) -> None:
    """Group and member ids that are missing, blank or long."""
    shared = Shared(s, 1)
    a = shared.sharer()
    strange: list[dict[str, Any]] = [
        {"group_id": None},
        {"member_id": None},
        {"member_id": ""},
        {"member_id": "x" * 36},
        {"member_id": "x" * 37},
        {"member_id": " "},
        {"group_id": ""},
        {"group_id": None, "member_id": None, "share_session_epoch": 5},
    ]
    for other in strange:
        a.link.ask("ShareFetch", 2, **(a.fields(0, max_wait_ms=900) | other))
        said: dict[str, Any] = {
            "group_id": shared.group,
            "member_id": a.member_id,
            "share_session_epoch": 3,
        }
        a.link.ask("ShareAcknowledge", 2, **({**said, "topics": []} | other))


@scenario(PROFILE, since="4.2")
def two_groups_read_alike(s: Session) -> None:
    """What one group has in flight is nothing to another."""
    shared = Shared(s, 3)
    a = shared.sharer("a")
    a.begin(0)
    a.acknowledge((0, 0, ACCEPT))
    other = s.name("h")
    configure(s, other, {"share.auto.offset.reset": "earliest"})
    initialize(s, other, shared.topic, 0)
    b = shared.sharer("b")
    b.link.ask("ShareFetch", 2, **b.fields(0, group_id=other, max_wait_ms=10_000))


@scenario(PROFILE, since="4.3")
def two_sessions_of_one_connection(s: Session) -> None:
    """Only the session that a connection began last ends with it; the other one goes on elsewhere."""
    shared = Shared(s, 1, 1)
    a, c = shared.sharer("a"), shared.sharer("c")
    b = Sharer(shared, "b", a.link)
    a.begin(0, max_records=1, share_acquire_mode=1)
    b.begin(0)
    c.begin(0, max_wait_ms=0)
    c.link.send("ShareFetch", 2, **c.fields(max_wait_ms=10_000))
    c.link.silent()
    a.link.connection.close()
    c.took(c.link.expect())
    c.member_id, c.epoch = b.member_id, b.epoch
    c.acknowledge((1, 1, ACCEPT))
    c.member_id, c.epoch = a.member_id, a.epoch
    c.acknowledge((0, 0, ACCEPT))
