"""Partitions that a ShareFetch or a ShareAcknowledge names: without ranges beside others that have
some, twice, unknown ones, those that may not be read (SH-ACK-3)."""

from __future__ import annotations

from collections.abc import Iterator

from integration_tests.wire.people import topic, topic_id
from integration_tests.wire.raw import Plain
from integration_tests.wire.recorder import Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.sasl import as_user, grant, new_user
from integration_tests.wire.sharing import ACCEPT, PROFILE, RELEASE, RENEW, Shared, Sharer

_FETCH, _ACKNOWLEDGE = "ShareFetch", "ShareAcknowledge"
_REVERSED = (2, 1, ACCEPT)
_UNKNOWN = 7


def _taken(s: Session) -> tuple[Shared, Sharer]:
    """A member that holds five records of one partition and three of another; a third has none."""
    shared = Shared(s, 5, partitions=3)
    shared.produce(3, partition=1)
    a = shared.sharer()
    a.begin(0)
    a.fetch(1, max_wait_ms=10_000)
    a.fetch(2, max_wait_ms=500)
    return shared, a


def _named(a: Sharer) -> Iterator[list[Plain]]:
    part = a.part
    yield [part(0)]
    yield [part(0), part(1)]
    yield [part(0), part(1, (0, 0, ACCEPT))]
    yield [part(2, (0, 0, ACCEPT)), part(0)]
    yield [part(0, (9, 9, ACCEPT)), part(1)]
    yield [part(1, _REVERSED), part(0)]
    yield [part(1, _REVERSED), part(0), part(2, (0, 0, ACCEPT))]
    yield [part(_UNKNOWN)]
    yield [part(_UNKNOWN), part(0)]
    yield [part(_UNKNOWN), part(1, (1, 1, ACCEPT))]
    yield [part(_UNKNOWN, (0, 0, ACCEPT)), part(0)]
    yield [part(_UNKNOWN, _REVERSED), part(0)]
    yield [part(-1, _REVERSED), part(-2), part(-3, (0, 0, ACCEPT))]


def _twice(a: Sharer) -> Iterator[list[Plain]]:
    part = a.part
    yield [part(0, (0, 0, ACCEPT)), part(0)]
    yield [part(0), part(0, (1, 1, ACCEPT))]
    yield [part(0, (2, 2, ACCEPT)), part(0, (3, 3, RELEASE))]
    yield [part(0, (2, 2, ACCEPT)), part(0, _REVERSED)]
    yield [part(0, _REVERSED), part(0, (2, 2, ACCEPT))]
    yield [part(0, _REVERSED), part(0), part(1, (0, 0, ACCEPT))]
    yield [part(_UNKNOWN, _REVERSED), part(_UNKNOWN)]


@scenario(PROFILE, since="4.2")
def partitions_without_ranges(s: Session) -> None:
    """They are answered where another one has ranges that can be looked at."""
    shared, a = _taken(s)
    for named in _named(a):
        a.name(*named)
    shared.state(partition=1)


@scenario(PROFILE, since="4.2")
def partitions_without_ranges_in_a_fetch(s: Session) -> None:
    """The same; unknown ones have an error of acknowledgements if any partition has ranges."""
    shared, a = _taken(s)
    for named in _named(a):
        a.name(*named, api=_FETCH)
    shared.state(partition=1)


@scenario(PROFILE, since="4.2")
def partitions_named_twice(s: Session) -> None:
    """What is said of a partition last is all that is said."""
    shared, a = _taken(s)
    for named in _twice(a):
        a.name(*named)
        shared.state()


@scenario(PROFILE, since="4.2")
def partitions_named_twice_in_a_fetch(s: Session) -> None:
    """The same; nothing is said of one whose last entry has no ranges."""
    shared, a = _taken(s)
    for named in _twice(a):
        a.name(*named, api=_FETCH)
        shared.state()


@scenario(PROFILE, since="4.2")
def topics_that_there_are_not(s: Session) -> None:
    """Without ranges, with wrong ones, twice."""
    _, a = _taken(s)
    for api in (_ACKNOWLEDGE, _FETCH):
        for index, unknown in enumerate(("ab" * 16, "00" * 16)):
            for named in (
                [a.part(index)],
                [a.part(index, (0, 0, ACCEPT))],
                [a.part(index, _REVERSED), a.part(5)],
                [a.part(index, (0, 0, ACCEPT)), a.part(index)],
            ):
                a.name(topics=[{"topic_id": unknown, "partitions": named}], api=api)


@scenario(PROFILE, since="4.2")
def the_last_request_of_a_session(s: Session) -> None:
    """Sessions that end with partitions without ranges, and with one that is named twice."""
    shared, a = _taken(s)
    a.epoch = -1
    a.name(a.part(_UNKNOWN), a.part(0, (0, 0, ACCEPT)), a.part(1))
    b = shared.sharer("b")
    b.begin(0)
    b.epoch = -1
    b.name(b.part(0, (1, 1, ACCEPT)), b.part(0), b.part(_UNKNOWN, _REVERSED), api=_FETCH)


@scenario(PROFILE, since="4.3")
def renewals_beside_partitions_without_ranges(s: Session) -> None:
    """A renewal counts as a range only where the request says that it renews."""
    _, a = _taken(s)
    a.name(a.part(0, (2, 2, RENEW)), a.part(1), is_renew_ack=True)
    a.name(a.part(0, (2, 2, RENEW)), a.part(1))
    nothing = {"max_wait_ms": 0, "min_bytes": 0, "max_bytes": 0, "max_records": 0}
    a.name(a.part(0, (2, 2, RENEW)), a.part(1), api=_FETCH, is_renew_ack=True, **nothing)
    a.name(a.part(0, (2, 2, RENEW)), a.part(1), api=_FETCH)


@scenario("security", since="4.2")
def partitions_that_may_not_be_read(s: Session) -> None:
    """Wrong ranges come before the right to a topic, which comes before what the topic has."""
    alice = new_user(s, "alice")
    shared = Shared(s, 3)
    grant(s, alice, f"Read group {shared.group}", f"Read topic {shared.topic}")
    hidden = topic_id(s, topic(s, "hidden"))
    s.names.topic_id(hidden)
    a = Sharer(shared, "a", as_user(s, alice, "a"))
    a.begin(0)
    for api in (_ACKNOWLEDGE, _FETCH):
        for named in (
            [a.part(0)],
            [a.part(0, (0, 0, ACCEPT))],
            [a.part(0, _REVERSED), a.part(_UNKNOWN)],
            [a.part(0, (0, 0, ACCEPT)), a.part(0)],
            [a.part(_UNKNOWN, (0, 0, ACCEPT))],
            [a.part(0), a.part(_UNKNOWN, (0, 0, ACCEPT))],
        ):
            a.name(topics=[{"topic_id": hidden, "partitions": named}], api=api)
