"""Share consumers of ours beside a broker in virtual time: joining, sessions, acknowledgements, and what
each error does (SH-HB-*, SH-SES-*, SH-ACK-*)."""

from __future__ import annotations

import pytest

from coordinator.base.errors import ErrorCode
from coordinator.core.share_partitions.model import SharePartitionKey
from coordinator.members import MemberConfigError
from coordinator.members.applications.sharing import ShareApplication, Work
from coordinator.members.faults import MemberFault, Refused
from coordinator.members.requests import Unsupported, choose
from coordinator.members.share.config import ShareConfig
from coordinator.members.share.consumer import Unacknowledged
from coordinator.members.share.member import ShareState
from coordinator.members.share.requests import _ranges
from coordinator.members.share.session import ACCEPT, GAP, REJECT, RELEASE, RENEW
from coordinator.wire.messages.share_acknowledge import ShareAcknowledgeRequest
from coordinator.wire.messages.share_fetch import ShareFetchRequest
from coordinator.wire.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from coordinator.wire.schema import Request
from tests.members.share_kit import ShareSolo, ShareWorld


def settled(world: ShareWorld, *names: str, **config: object) -> list[ShareSolo]:
    """Consumers that are in the group, with their partitions."""
    solos = [world.solo(name, **config) for name in names]
    world.elapse(4_000)
    assert all(solo.consumer.state is ShareState.STABLE for solo in solos)
    return solos


def counts(world: ShareWorld) -> dict[int, str]:
    """The states of the records in partition 0."""
    return {
        offset: str(run.condition.state)
        for run in world.broker.services.shares.known(SharePartitionKey("g", "jobs", 0))
        for offset in range(run.first, run.last + 1)
    }


def test_a_member_joins_with_epoch_0_and_says_its_topics_once() -> None:
    """SH-HB-1, SH-HB-2, SH-HB-3."""
    world = ShareWorld()
    (a,) = settled(world, "a", client_rack="r1")
    first, *others = a.messages(ShareGroupHeartbeatRequest)
    assert (first.member_epoch, first.rack_id, first.subscribed_topic_names) == (0, "r1", ["jobs"])
    assert all(of.subscribed_topic_names is None and of.rack_id is None for of in others)
    assert a.consumer.assigned == (("jobs", 0), ("jobs", 1))
    assert a.consumer.member.member_epoch == 3
    assert a.consumer.member.interval_ms == 1_000


def test_records_of_a_poll_are_accepted_by_the_next_one() -> None:
    """Implicit acknowledgement: with the fetch that follows."""
    world = ShareWorld()
    (a,) = settled(world, "a")
    world.produce(b"x", b"y")
    world.produce(b"z", partition=1)
    world.elapse(1_000)
    assert sorted(a.offsets()) == [(0, 0, 1), (0, 1, 1), (1, 0, 1)]
    assert a.consumer.results() and not a.messages(ShareAcknowledgeRequest)
    assert counts(world) == {0: "Acknowledged", 1: "Acknowledged"}


def test_explicit_mode_asks_for_a_word_for_each_record() -> None:
    """SH-ACK-1: what is released comes again, what is rejected does not."""
    world = ShareWorld()
    (a,) = settled(world, "a", acknowledgement_mode="explicit")
    a.polls = False
    world.produce(b"x", b"y", b"z")
    records = a.consumer.poll(world.now)
    assert [of.record.value for of in records] == [b"x", b"y", b"z"]
    with pytest.raises(Unacknowledged, match="acknowledge each"):
        a.consumer.poll(world.now)
    for of, kind in zip(records, (ACCEPT, RELEASE, REJECT), strict=True):
        assert a.consumer.acknowledge(of, kind)
    assert not a.consumer.acknowledge(records[0], ACCEPT)
    a.polls = True
    a.got.clear()
    world.elapse(1_000)
    assert a.offsets() == [(0, 1, 2)]
    assert counts(world) == {0: "Acknowledged", 1: "Acquired", 2: "Archived"}


def test_what_is_not_handed_out_yet_needs_no_word() -> None:
    """More was acquired than max.poll.records: the next poll hands it out."""
    world = ShareWorld()
    (a,) = settled(world, "a", acknowledgement_mode="explicit", max_poll_records=1)
    a.polls = False
    world.produce(b"x", b"y")
    for offset in (0, 1):
        (of,) = a.consumer.poll(world.now)
        assert of.record.offset == offset
        a.consumer.acknowledge(of, ACCEPT)


def test_acknowledgements_go_alone_where_no_fetch_goes() -> None:
    """`commit` sends them; a renewed lock is held (SH-ACK-2)."""
    world = ShareWorld()
    (a,) = settled(world, "a", acknowledgement_mode="explicit")
    a.polls = False
    world.produce(b"x", b"y")
    x, y = a.consumer.poll(world.now)
    a.consumer.acknowledge(x, ACCEPT)
    a.consumer.commit(world.now)
    world.go_on()
    assert counts(world) == {0: "Acknowledged", 1: "Acquired"}
    world.pass_time(20_000)
    assert a.consumer.acknowledge(y, RENEW)
    a.consumer.commit(world.now)
    world.go_on()
    assert a.messages(ShareAcknowledgeRequest)[-1].is_renew_ack
    world.pass_time(20_000)  # the first lock would have ended
    assert counts(world)[1] == "Acquired"
    assert [of.error for of in a.consumer.results()] == [ErrorCode.NONE] * 2


def test_offsets_without_records_are_told_as_gaps() -> None:
    """SH-ACK-1: the marker of a transaction is acquired with the records around it."""
    world = ShareWorld()
    (a,) = settled(world, "a")
    log = world.broker.cluster.topics["jobs"].partitions[0].log
    from coordinator.server.storage.partition_log import Marker

    world.produce(b"x")
    log.append_marker(Marker(1, 0, committed=True), leader_epoch=0, now_ms=1_000_000)
    world.produce(b"y")
    world.elapse(2_000)
    assert [(p, offset) for p, offset, _ in a.offsets()] == [(0, 0), (0, 2)]
    assert counts(world) == {0: "Acknowledged", 1: "Archived", 2: "Acknowledged"}


def test_neighbouring_offsets_are_one_range() -> None:
    said = {4: ACCEPT, 5: ACCEPT, 7: REJECT, 8: ACCEPT, 10: GAP}
    assert list(_ranges(said)) == [(4, 5, [ACCEPT]), (7, 8, [REJECT, ACCEPT]), (10, 10, [GAP])]


def test_members_share_partitions_and_one_that_leaves_gives_back() -> None:
    """SH-ASN-1, SH-SES-3: what it holds comes to the other with a higher count."""
    world = ShareWorld()
    a, b = settled(world, "a", "b", acknowledgement_mode="explicit")
    assert sorted([*a.consumer.assigned, *b.consumer.assigned]) == [("jobs", 0), ("jobs", 1)]
    a.polls = b.polls = False
    for partition in (0, 1):
        world.produce(b"x", partition=partition)
    (held,) = a.consumer.poll(world.now)
    a.consumer.close(world.now)
    world.go_on()
    assert a.ended
    final = a.messages(ShareAcknowledgeRequest)[-1]
    assert final.share_session_epoch == -1
    assert a.messages(ShareGroupHeartbeatRequest)[-1].member_epoch == -1
    for of in b.consumer.poll(world.now):
        b.consumer.acknowledge(of, ACCEPT)
    b.polls = True
    world.elapse(4_000)
    assert b.consumer.assigned == (("jobs", 0), ("jobs", 1))
    assert (held.partition.partition, 0, 2) in b.offsets()


def test_a_partition_that_goes_to_another_member_leaves_the_session() -> None:
    """SH-SES-2: it is forgotten with the next fetch."""
    world = ShareWorld()
    (a,) = settled(world, "a")
    assert not any(of.forgotten_topics_data for of in a.messages(ShareFetchRequest))
    world.solo("b")
    world.elapse(4_000)
    (kept,) = a.consumer.assigned
    [(forgotten,)] = [
        of.forgotten_topics_data for of in a.messages(ShareFetchRequest) if of.forgotten_topics_data
    ]
    assert forgotten.partitions == [1 - kept.partition]


def test_who_is_put_out_joins_again() -> None:
    """SH-EP-1: 25 and 110; nothing is assigned meanwhile."""
    world = ShareWorld()
    (a,) = settled(world, "a")
    for error in (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_MEMBER_EPOCH):
        once = [int(error)]

        def refuse(message: Request, once: list[int] = once) -> int | None:
            return once.pop() if once and isinstance(message, ShareGroupHeartbeatRequest) else None

        a.refuse = refuse
        world.elapse(1_000)
        assert not once
        world.elapse(4_000)
        assert a.consumer.state is ShareState.STABLE and len(a.consumer.assigned) == 2
        joins = [of for of in a.messages(ShareGroupHeartbeatRequest) if of.member_epoch == 0]
        assert joins[-1].subscribed_topic_names == ["jobs"]
    assert len(joins) == 3


def test_a_coordinator_that_moves_is_looked_for() -> None:
    """NOT_COORDINATOR, and a connection that ends: the assignment stays."""
    world = ShareWorld()
    (a,) = settled(world, "a")
    once = [int(ErrorCode.NOT_COORDINATOR)]
    a.refuse = lambda message: (
        once.pop() if once and isinstance(message, ShareGroupHeartbeatRequest) else None
    )
    world.elapse(2_000)
    assert not once and len(a.consumer.assigned) == 2
    a.cut("coordinator")
    world.elapse(2_000)
    assert a.consumer.state is ShareState.STABLE and len(a.consumer.assigned) == 2
    assert {of.member_epoch for of in a.messages(ShareGroupHeartbeatRequest)[4:]} == {3}


def test_an_error_for_good_ends_the_membership() -> None:
    """GROUP_MAX_SIZE_REACHED: the next poll raises it, once."""
    world = ShareWorld()
    (a,) = settled(world, "a")
    a.refuse = lambda message: 81 if isinstance(message, ShareGroupHeartbeatRequest) else None
    a.polls = False
    world.elapse(1_000)
    assert a.consumer.state is ShareState.FATAL
    with pytest.raises(Refused, match="GROUP_MAX_SIZE_REACHED"):
        a.consumer.poll(world.now)
    a.consumer.poll(world.now)
    assert a.consumer.assigned == ()


def test_who_does_not_poll_leaves_and_comes_back_with_its_next_poll() -> None:
    """max.poll.interval.ms."""
    world = ShareWorld()
    (a,) = settled(world, "a", max_poll_interval_ms=5_000)
    a.polls = False
    world.elapse(6_000)
    assert a.consumer.state is ShareState.STALE
    assert a.messages(ShareGroupHeartbeatRequest)[-1].member_epoch == -1
    a.polls = True
    world.elapse(4_000)
    assert a.consumer.state is ShareState.STABLE and len(a.consumer.assigned) == 2


def test_a_session_that_is_gone_takes_with_it_what_it_acquired() -> None:
    """SH-SES-3: 122: a new session, the words of the old one end with the error, and what was in
    hand comes again."""
    world = ShareWorld()
    (a,) = settled(world, "a", acknowledgement_mode="explicit")
    a.polls = False
    world.produce(b"x")
    (x,) = a.consumer.poll(world.now)
    a.cut("data")
    assert a.consumer.acknowledge(x, ACCEPT)  # the loss is learned of with the next request
    a.polls = True
    world.elapse(3_000)
    assert a.offsets() == [(0, 0, 2)]
    assert [(of.error, dict(of.offsets)) for of in a.consumer.results()] == [
        (ErrorCode.SHARE_SESSION_NOT_FOUND, {0: ACCEPT})
    ]
    assert not a.consumer.acknowledge(x._replace(partition=x.partition._replace(partition=1)), 1)
    a.cut("data")
    (y,) = a.got
    a.consumer.acknowledge(y, RELEASE)
    world.elapse(3_000)
    assert a.offsets() == [(0, 0, 2), (0, 0, 3)]
    fetches = a.messages(ShareFetchRequest)
    assert [of.share_session_epoch for of in fetches].count(0) >= 3


def test_an_application_takes_its_time_and_draws_its_words() -> None:
    world = ShareWorld()
    a = world.solo("a", acknowledgement_mode="explicit")
    draws = iter([0.05, 0.15, 0.95, 0.5])
    words: list[str] = []
    application = ShareApplication(
        a.consumer,
        Work(processing_ms=1_000, release=0.1, reject=0.1),
        chance=lambda: next(draws),
        seen=lambda of, word: words.append(f"{of.record.offset} {word}"),
    )
    a.polls = False
    world.produce(b"x", b"y", b"z")
    while len(words) < 3:
        application.turn(world.now)
        world.elapse(100)
    assert words == ["0 release", "1 reject", "2 accept"]
    begun = world.now
    while len(words) < 4:
        application.turn(world.now)
        world.elapse(100)
    assert words[-1] == "0 accept" and world.now - begun >= 1_000
    assert application.processed == 4
    application.stalled = True
    assert application.next_turn() is None


def test_what_is_renewed_comes_back_with_a_poll() -> None:
    """SH-ACK-2: as in Java's consumer a poll sends the renewals with a fetch that reads nothing; they
    come back when they are answered, and nothing new before."""
    world = ShareWorld()
    (a,) = settled(world, "a", acknowledgement_mode="explicit", max_poll_records=2)
    a.polls = False
    world.produce(b"x", b"y", b"z")
    x, y = a.consumer.poll(world.now)
    assert all(a.consumer.acknowledge(of, RENEW) for of in (x, y))
    assert not a.consumer.acknowledge(x, ACCEPT), "it is on its way"
    assert a.consumer.poll(world.now) == [] and a.consumer.renewing
    world.go_on()
    fetch = a.messages(ShareFetchRequest)[-1]
    limits = fetch.max_wait_ms, fetch.min_bytes, fetch.max_bytes, fetch.max_records
    assert fetch.is_renew_ack and limits == (0, 0, 0, 0) and fetch.batch_size == 0
    assert a.consumer.poll(world.now) == [x, y] and not a.consumer.renewing
    with pytest.raises(Unacknowledged):
        a.consumer.poll(world.now)
    assert all(a.consumer.acknowledge(of, ACCEPT) for of in (x, y))
    assert [of.record.value for of in a.consumer.poll(world.now)] == [b"z"]


def test_an_application_that_renews_keeps_what_it_works_on() -> None:
    """SH-ACK-2: it works for longer than the lock lasts, and is given the record once."""
    world = ShareWorld()
    a, words = working(world, processing_ms=70_000, renew_ms=20_000)
    world.produce(b"x")
    works(world, a, 75_000)
    assert words == ["0 accept"] and a.renewed == 3
    assert counts(world) == {0: "Acknowledged"}


def test_an_application_drops_what_it_could_not_renew() -> None:
    """SH-ACK-4: the locks had ended, and another had one of the records by then."""
    world = ShareWorld()
    a, words = working(world, processing_ms=70_000, renew_ms=40_000)
    world.produce(b"x")
    world.produce(b"y", partition=1)
    works(world, a, 4_000)
    assert len(a.in_hand) == 2
    b = world.solo("b", acknowledgement_mode="explicit")
    works(world, a, 34_000)
    ((lost, _, count),) = b.offsets()
    assert count == 2
    works(world, a, 10_000)
    assert a.renewed == 0 and not words
    failed = {of.error for of in a.consumer.results()}
    assert failed == {ErrorCode.INVALID_RECORD_STATE}
    in_hand = [(of.partition.partition, of.delivery_count) for of in a.in_hand]
    assert in_hand == [(1 - lost, 2)], "given anew"


def working(world: ShareWorld, **work: int) -> tuple[ShareApplication, list[str]]:
    """An application in explicit mode, and its words."""
    solo = world.solo("a", acknowledgement_mode="explicit")
    solo.polls = False
    words: list[str] = []
    application = ShareApplication(
        solo.consumer,
        Work(**work),
        chance=lambda: 0.5,
        seen=lambda of, word: words.append(f"{of.record.offset} {word}"),
    )
    return application, words


def works(world: ShareWorld, application: ShareApplication, ms: int) -> None:
    """It goes on for so long."""
    for _ in range(ms // 50):
        application.turn(world.now)
        world.elapse(50)


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({}, "group.id is missing"),
        ({"group.id": "g", "share.acknowledgement.mode": "x"}, "none of implicit, explicit"),
        ({"group.id": "g", "share.acquire.mode": "x"}, "none of batch_optimized, record_limit"),
        ({"group.id": "g", "max.poll.records": "0"}, "max.poll.records 0: at least 1"),
        ({"group.id": "g", "max.poll.records": "many"}, "no whole number, of at most"),
        ({"group.id": "g", "fetch.max.wait": "1"}, "fetch.max.wait.ms is"),
        ({"group.id": "g", "request.timeout.ms": "x"}, "no whole number of milliseconds"),
    ],
)
def test_settings_that_cannot_be(settings: dict[str, object], why: str) -> None:
    with pytest.raises(MemberConfigError, match=why):
        ShareConfig.from_properties(settings)


@pytest.mark.parametrize(
    ("work", "implicit", "why"),
    [
        (
            Work(processing_ms=-1),
            True,
            "processing_ms=-1: whole milliseconds, from 0 to 2147483647",
        ),
        (Work(processing_ms="5"), True, "processing_ms='5': whole milliseconds"),  # type: ignore[arg-type]
        (Work(release="0.5"), False, "release='0.5': a probability"),  # type: ignore[arg-type]
        (Work(release=1.5), False, "a probability"),
        (Work(release=0.6, reject=0.6), False, "together no more than 1"),
        (Work(reject=0.1), True, "need share.acknowledgement.mode=explicit"),
        (Work(renew_ms=1), True, "need share.acknowledgement.mode=explicit"),
        (
            Work(renew_ms=-1),
            False,
            "renew_ms=-1: whole milliseconds up to 2147483647, or 0 for never",
        ),
    ],
)
def test_work_that_cannot_be(work: Work, implicit: bool, why: str) -> None:
    with pytest.raises(MemberConfigError, match=why):
        work.checked(implicit=implicit)


def test_what_an_older_broker_cannot_be_told() -> None:
    """SH-FT-2, SH-ACK-2: of version 2."""
    theirs = {ShareFetchRequest.api_key: (1, 1), ShareAcknowledgeRequest.api_key: (1, 1)}
    assert choose(ShareFetchRequest(), theirs) == 1
    for message in (
        ShareFetchRequest(share_acquire_mode=1),
        ShareAcknowledgeRequest(is_renew_ack=True),
    ):
        with pytest.raises(Unsupported, match="the broker has up to 1"):
            choose(message, theirs)
    with pytest.raises(Unsupported, match="does not serve ShareGroupHeartbeat"):
        choose(ShareGroupHeartbeatRequest(), theirs)


def test_a_broker_that_does_not_serve_share_groups() -> None:
    """The next poll says so."""
    world = ShareWorld()
    a = world.solo("a")
    a.polls = False
    world.elapse(200)
    number = max(a.consumer.member._asked, default=0)
    if not number:
        a.consumer.member._beat(a.consumer.member.coordinator, world.now)  # type: ignore[arg-type]
        number = max(a.consumer.member._asked)
    a.consumer.unsupported(number, Unsupported("the broker does not serve it"), world.now)
    with pytest.raises(MemberFault, match="does not serve"):
        a.consumer.poll(world.now)
