"""ShareAcknowledge (KIP-932), and acknowledgements that come with a fetch: what they make of
records, and what is wrong with them (SH-ACK-*)."""

from __future__ import annotations

from integration_tests.wire.recorder import Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.sharing import ACCEPT, PROFILE, REJECT, RELEASE, RENEW, Shared

GAP = 0
_LEAST, _MOST = -(1 << 63), (1 << 63) - 1


@scenario(PROFILE, since="4.2")
def every_type(s: Session) -> None:
    """One for a range, one for each offset; what is stored after each."""
    shared = Shared(s, 5, 3)
    a = shared.sharer()
    a.begin(0)
    a.acknowledge((0, 1, ACCEPT))
    shared.state()
    a.acknowledge((2, 2, RELEASE), (3, 3, REJECT), (4, 4, GAP))
    shared.state()
    a.fetch()
    a.acknowledge((2, 2, ACCEPT), (5, 7, ACCEPT, RELEASE, REJECT))
    shared.state()
    a.fetch()
    a.acknowledge((6, 6, ACCEPT))
    shared.state()
    a.fetch()


@scenario(PROFILE, since="4.2")
def with_a_fetch(s: Session) -> None:
    """They are taken first: what is released comes with the answer."""
    shared = Shared(s, 5)
    a = shared.sharer()
    a.begin(0)
    a.fetch(acks=((0, 3, ACCEPT), (4, 4, RELEASE)), max_wait_ms=10_000)
    a.fetch(acks=((0, 9, ACCEPT),))
    a.fetch(acks=((4, 4, ACCEPT),))
    a.link.ask("ShareFetch", 2, **a.fields(0, acks=((0, 0, ACCEPT),), share_session_epoch=0))
    a.fetch()


@scenario(PROFILE, since="4.2")
def before_they_are_taken(s: Session) -> None:
    """With the fetch that is the first to take the records: alone, and together with records that
    the member holds."""
    shared = Shared(s, 2, 2, 2)
    a = shared.sharer()
    a.begin(0, max_records=2)
    for acks in (((2, 3, ACCEPT),), ((0, 4, ACCEPT),)):
        a.fetch(acks=acks, max_records=2)
    a.acknowledge((0, 5, ACCEPT))
    shared.state()


@scenario(PROFILE, since="4.2")
def wrong_ranges(s: Session) -> None:
    """Reversed, without types, with too few, unknown ones, out of order, overlapping."""
    shared = Shared(s, 5, 3)
    a = shared.sharer()
    a.begin(0)
    for acks in (
        ((3, 2, ACCEPT),),
        ((0, 2),),
        ((0, 2, ACCEPT, ACCEPT),),
        ((0, 2, ACCEPT, ACCEPT, ACCEPT, ACCEPT),),
        ((0, 2, 5),),
        ((0, 2, -1),),
        ((0, 2, 127),),
        ((0, 2, RENEW),),
        ((4, 5, ACCEPT), (0, 1, ACCEPT)),
        ((0, 3, ACCEPT), (2, 5, ACCEPT)),
        ((0, 3, ACCEPT), (3, 5, ACCEPT)),
        ((0, 1, ACCEPT), (0, 1, ACCEPT)),
    ):
        a.acknowledge(*acks)
    a.acknowledge((0, 7, ACCEPT))


@scenario(PROFILE, since="4.2")
def far_away_ranges(s: Session) -> None:
    """Offsets up to the ends of 64 bits."""
    shared = Shared(s, 5, 3)
    a = shared.sharer()
    a.begin(0)
    for acks in (
        ((0, 8, ACCEPT),),
        ((8, 9, ACCEPT),),
        ((7, _MOST, ACCEPT),),
        ((_MOST, _MOST, ACCEPT),),
        ((_LEAST, _MOST, ACCEPT),),
        ((_LEAST, -1, ACCEPT),),
        ((-1, -1, ACCEPT),),
        ((-1, 0, ACCEPT),),
        ((1 << 62, (1 << 62) + 5, GAP),),
    ):
        a.acknowledge(*acks)
    a.acknowledge((0, 4, ACCEPT))
    a.acknowledge((-1, 2, ACCEPT))
    a.acknowledge((0, 2, ACCEPT))
    a.acknowledge((0, 4, RELEASE))
    a.acknowledge((3, 6, ACCEPT))
    a.acknowledge((7, 7, ACCEPT))
    a.acknowledge((0, 7, ACCEPT))
    a.acknowledge((8, 8, ACCEPT))


@scenario(PROFILE, since="4.2")
def records_of_others(s: Session) -> None:
    """What another member holds, what nobody holds, what is done with."""
    shared = Shared(s, 3, 3, 3)
    a, b = shared.sharer("a"), shared.sharer("b")
    a.begin(0, max_records=3)
    b.begin(0, max_records=3)
    a.acknowledge((3, 5, ACCEPT))
    a.acknowledge((0, 5, ACCEPT))
    a.acknowledge((6, 6, ACCEPT))
    b.acknowledge((3, 4, RELEASE))
    b.acknowledge((3, 5, ACCEPT))
    b.acknowledge((4, 4, ACCEPT))
    a.acknowledge((0, 0, ACCEPT))
    a.acknowledge((0, 2, ACCEPT))
    a.acknowledge((1, 1, ACCEPT))


@scenario(PROFILE, since="4.2")
def unknown_partitions(s: Session) -> None:
    """Partitions that are unknown, never read, or named without a range."""
    shared = Shared(s, 2, partitions=2)
    a = shared.sharer()
    a.begin(0)
    a.acknowledge((0, 0, ACCEPT), partition=1)
    a.acknowledge((0, 0, ACCEPT), partition=7)
    a.acknowledge()
    a.acknowledge(topics=[])
    a.acknowledge(topics=[{"topic_id": "ab" * 16, "partitions": [a.part(0, (0, 0, ACCEPT))]}])
    a.acknowledge(topics=[{"topic_id": "00" * 16, "partitions": [a.part(0, (0, 0, ACCEPT))]}])
    a.acknowledge((0, 1, ACCEPT))


@scenario(PROFILE, since="4.3")
def deliveries_are_limited(s: Session) -> None:
    """After the limit a release archives; a limit of 2 gives whole batches to the end."""
    shared = Shared(s, 2, 1, settings={"share.delivery.count.limit": "2"})
    a = shared.sharer()
    a.begin(0)
    a.acknowledge((0, 2, RELEASE))
    a.fetch()
    a.acknowledge((0, 1, RELEASE), (2, 2, REJECT))
    a.fetch()
    shared.state()


@scenario(PROFILE, since="4.2")
def smaller_and_smaller_portions(s: Session) -> None:
    """From half the limit on a batch comes by itself and in halves; the last delivery is a
    record's own (SH-FT-8)."""
    shared = Shared(s, 8, 3)
    a = shared.sharer()
    a.begin(0, max_records=8)
    a.fetch()
    for _ in range(2):
        a.acknowledge((0, 10, RELEASE))
        a.fetch()
    a.acknowledge((0, 7, RELEASE))
    for _ in range(3):
        a.fetch()
    a.acknowledge((0, 7, RELEASE))
    for _ in range(9):
        a.fetch()
    shared.state()


@scenario(PROFILE, since="4.3")
def sessions_that_end_count_as_deliveries(s: Session) -> None:
    """A record is archived when its last holder's session closes."""
    shared = Shared(s, 1, settings={"share.delivery.count.limit": "3"})
    a = shared.sharer()
    for _ in range(3):
        a.begin(0)
        a.close()
    s.until(lambda: shared.stored_states() == [4], "the record was never archived")
    a.begin(0, max_wait_ms=0)
    shared.state()


@scenario(PROFILE, since="4.2")
def renewals(s: Session) -> None:
    """With the flag, at version 2, and without any limit in a fetch."""
    shared = Shared(s, 4)
    a = shared.sharer()
    a.begin(0)
    a.acknowledge((0, 1, RENEW), is_renew_ack=True)
    a.acknowledge((0, 1, RENEW), (2, 3, ACCEPT), is_renew_ack=True)
    a.acknowledge((0, 0, RENEW))
    a.acknowledge((0, 0, RENEW), version=1)
    a.acknowledge((0, 0, ACCEPT), is_renew_ack=True)
    none = {"max_wait_ms": 0, "min_bytes": 0, "max_bytes": 0, "max_records": 0, "batch_size": 0}
    for name in none:
        a.link.ask(
            "ShareFetch",
            2,
            **(a.fields(acks=((1, 1, RENEW),), is_renew_ack=True) | none | {name: 1}),
        )
    a.fetch(acks=((1, 1, RENEW),), is_renew_ack=True, **none)
    a.fetch(acks=((1, 1, ACCEPT),), is_renew_ack=True, **none)
    a.fetch()


@scenario(PROFILE, since="4.3")
def renewals_that_are_not_enabled(s: Session) -> None:
    """share.renew.acknowledge.enable=false."""
    shared = Shared(s, 2, settings={"share.renew.acknowledge.enable": "false"})
    a = shared.sharer()
    a.begin(0)
    a.acknowledge((0, 1, RENEW), is_renew_ack=True)
    a.acknowledge((0, 0, ACCEPT), (1, 1, RENEW), is_renew_ack=True)
    a.acknowledge((0, 1, ACCEPT), is_renew_ack=True)


@scenario(PROFILE, since="4.2")
def pieces_of_batches_in_flight(s: Session) -> None:
    """A batch of the log that came into flight in one piece is acknowledged in many."""
    shared = Shared(s, 10)
    a, b = shared.sharer("a"), shared.sharer("b")
    a.begin(0)
    a.acknowledge((0, 0, ACCEPT), (2, 2, ACCEPT), (4, 4, REJECT), (6, 6, RELEASE), (8, 8, GAP))
    shared.state()
    b.begin(0)
    b.acknowledge((6, 6, ACCEPT))
    a.acknowledge((1, 9, ACCEPT))
    a.acknowledge((1, 1, ACCEPT), (3, 3, ACCEPT), (5, 5, ACCEPT))
    shared.state()
    a.acknowledge((7, 7, RELEASE), (9, 9, RELEASE))
    b.fetch()
    shared.state()


@scenario(PROFILE, since="4.3")
def nothing_is_in_flight(s: Session) -> None:
    """Ranges from before the start offset to behind it: the request fails as a whole, and the
    session is a request further (SH-ACK-9)."""
    shared = Shared(s, 3)
    a = shared.sharer()
    a.begin(0)
    a.acknowledge((0, 2, ACCEPT))
    a.acknowledge((0, 5, ACCEPT))
    a.epoch += 1
    a.fetch(acks=((1, 4, ACCEPT),))
    a.epoch += 1
    a.acknowledge((0, 2, ACCEPT))
    a.acknowledge((3, 4, ACCEPT))
    shared.produce(2)
    a.fetch()
    a.acknowledge((0, 4, ACCEPT))
    shared.state()


@scenario(PROFILE, since="4.3")
def followed_record_by_record(s: Session) -> None:
    """Once something was done to a part of a batch, refusals are in other words (SH-ACK-8): after
    an acknowledgement of a part, one that was refused, and types of their own for each record."""
    shared = Shared(s, 3, 3, 2)
    a, b = shared.sharer("a"), shared.sharer("b")
    a.begin(0, batch_size=1)
    b.begin(0, max_wait_ms=0)
    for acks in (((0, 2, ACCEPT),), ((3, 5, ACCEPT),), ((6, 7, ACCEPT),)):
        b.acknowledge(*acks)
    a.acknowledge((0, 0, RELEASE))
    a.acknowledge((4, 4, ACCEPT), (9, 9, ACCEPT))
    a.acknowledge((6, 7, RELEASE, RELEASE))
    for acks in (((0, 2, ACCEPT),), ((1, 2, ACCEPT),), ((3, 5, ACCEPT),), ((6, 7, ACCEPT),)):
        b.acknowledge(*acks)
    b.fetch()
    a.acknowledge((0, 2, ACCEPT))
    shared.state()


@scenario(PROFILE, since="4.3")
def held_records_leave_the_log(s: Session) -> None:
    """The log's start overtakes the start offset: what is held stays so, and is archived when it is
    given back; until then the start offset does not move on."""
    shared = Shared(s, 3, 3, 3)
    a, b = shared.sharer("a"), shared.sharer("b")
    a.begin(0, max_records=3)
    b.begin(0, max_records=3)
    b.acknowledge((3, 3, RELEASE))
    of = {"name": shared.topic, "partitions": [{"partition_index": 0, "offset": 5}]}
    s.stage().ask("DeleteRecords", 2, topics=[of], timeout_ms=5_000)
    b.fetch()
    shared.state()
    a.acknowledge((0, 2, RELEASE))
    b.acknowledge((3, 5, ACCEPT))
    b.acknowledge((4, 5, ACCEPT))
    shared.state()
    b.fetch()
    b.acknowledge((6, 8, ACCEPT))
    a.close()
    s.until(lambda: shared.stored_states() in ([], [2]), "the records were never given back")
    b.fetch()
    shared.state()
