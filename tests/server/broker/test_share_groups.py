"""Share groups at a broker: sessions, fetches that wait, acknowledgements, and what outlives a
leader. Expected values are what a Kafka 4.4.0 broker answered to the same requests."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator.base.errors import ErrorCode
from coordinator.core.share_partitions.model import SharePartitionKey
from coordinator.core.share_states.model import ShareStateKey
from coordinator.server.shares.reading import read
from coordinator.server.storage.append_checks import LogConfig
from coordinator.server.storage.partition_log import Marker
from coordinator.server.storage.record_codec import build_batch
from coordinator.server.storage.records import TRANSACTIONAL, parse_header
from coordinator.wire.messages import request_type, share_group_states
from coordinator.wire.messages.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from coordinator.wire.messages.share_fetch import FetchPartition
from tests.server.broker.shares import (
    LOCK_MS,
    Member,
    ShareDriver,
    given,
    initialize,
    partitions,
)

ACCEPT, RELEASE, REJECT, RENEW = 1, 2, 3, 4


@pytest.fixture
def driver() -> ShareDriver:
    driver = ShareDriver()
    initialize(driver)
    return driver


@pytest.fixture
def member(driver: ShareDriver) -> Member:
    driver.records(5, 3)
    return driver.member()


class TestSessions:
    def test_a_session_lives(self, driver: ShareDriver, member: Member) -> None:
        """SH-SES-1, SH-SES-2: partitions are named once; an answer lists those with records, and
        those that are new."""
        answer = member.ask(member.request(0, 1))
        assert sorted(partitions(answer)) == [0, 1]
        assert given(answer) == {0: [(0, 7, 1)]}
        assert answer.acquisition_lock_timeout_ms == LOCK_MS
        driver.records(2, index=1)
        driver.records(1, index=2)
        assert member.fetch() == {1: [(0, 1, 1)]}
        assert member.fetch(2) == {2: [(0, 0, 1)]}
        driver.records(1, index=1)
        assert partitions(member.ask(member.request(forget=(1,)))) == {}

    def test_a_mode_that_there_is_not_is_met_where_something_is_read(self, member: Member) -> None:
        request = member.request(0, topic_id=b"?" * 16)
        request.share_acquire_mode = 7
        answer = member.ask(request)
        assert answer.error_code == 0
        assert [row.error_code for of in answer.responses for row in of.partitions] == [100]
        request = member.request(0)
        request.share_acquire_mode = 7
        assert member.ask(request).error_code == ErrorCode.UNKNOWN_SERVER_ERROR

    def test_wrong_epochs(self, member: Member) -> None:
        """SH-SES-1: no session 122, a wrong number 123, and an acknowledgement begins none."""
        member.epoch = 4
        assert member.ask(member.request(0)).error_code == ErrorCode.SHARE_SESSION_NOT_FOUND
        member.epoch = 0
        assert member.acknowledge().error_code == ErrorCode.INVALID_SHARE_SESSION_EPOCH
        member.fetch(0)
        member.epoch = 4
        assert member.ask(member.request()).error_code == ErrorCode.INVALID_SHARE_SESSION_EPOCH
        assert member.acknowledge().error_code == ErrorCode.INVALID_SHARE_SESSION_EPOCH
        member.epoch = 1
        assert member.fetch() == {}

    def test_epoch_0_again_keeps_what_is_acquired(self, member: Member) -> None:
        member.fetch(0)
        member.epoch = 0
        assert member.fetch(0) == {}
        assert member.said((0, 7, ACCEPT)) == 0

    @pytest.mark.parametrize("by_fetch", [False, True])
    def test_closing_gives_back(self, driver: ShareDriver, member: Member, by_fetch: bool) -> None:
        """SH-SES-3: after the acknowledgements that come with it; the delivery count stays."""
        member.fetch(0)
        member.epoch = -1
        if by_fetch:
            answer = member.ask(member.request(acks=((0, 1, ACCEPT),)))
            assert partitions(answer)[0].acknowledge_error_code == 0
        else:
            assert member.said((0, 1, ACCEPT)) == 0
        assert member.ask(member.request()).error_code == ErrorCode.SHARE_SESSION_NOT_FOUND
        assert driver.member("b").fetch(0) == {0: [(2, 7, 2)]}

    def test_a_lost_connection_gives_back(self, driver: ShareDriver, member: Member) -> None:
        """SH-SES-3: and whoever waits is given it."""
        member.fetch(0)
        waiting = driver.member("b")
        waiting.client.send(waiting.request(0, wait=5_000), 2)
        assert waiting.client.answers() == []
        member.client.connection.lost()
        driver.settle()
        (answer,) = waiting.client.answers()
        assert given(waiting.took(answer)) == {0: [(0, 7, 2)]}

    def test_the_last_connection_unloads(self, driver: ShareDriver, member: Member) -> None:
        """SH-SES-6: what is stored by then counts, also an offset that was set; who looks sees it."""
        member.fetch(0)
        member.client.connection.lost()
        driver.settle()
        shares = driver.broker.services.shares
        assert shares.partitions.open_ones == {}
        (shown,) = shares.shown("g")
        assert [run[:2] for run in shares.known(shown.key)] == [(0, 7)]
        key = ShareStateKey("g", driver.t.id, 0)
        assert not shares.states.initialize(key, 1, 2, driver.now).error
        assert [run[:2] for run in shares.known(shown.key)] == []
        assert driver.member("b").fetch(0) == {0: [(2, 7, 1)]}

    def test_it_does_so_behind_its_session_too(self, driver: ShareDriver, member: Member) -> None:
        """SH-SES-6: a session that was closed counts no more when its connection ends."""
        member.fetch(0)
        member.epoch = -1
        member.acknowledge()
        assert len(driver.broker.services.shares.partitions.open_ones) == 1
        member.client.connection.lost()
        driver.settle()
        assert driver.broker.services.shares.partitions.open_ones == {}

    def test_another_session_keeps_it(self, driver: ShareDriver, member: Member) -> None:
        """SH-SES-6: as long as any connection has a session of the group."""
        member.fetch(0)
        other = driver.member("b")
        other.fetch(0)
        member.client.connection.lost()
        driver.settle()
        assert driver.broker.services.shares.states.initialize(
            ShareStateKey("g", driver.t.id, 0), 1, 2, driver.now
        )
        assert other.fetch() == {0: [(0, 7, 2)]}

    @pytest.mark.parametrize("closed", [False, True])
    def test_a_connection_ends_the_session_that_it_began_last(
        self, driver: ShareDriver, member: Member, closed: bool
    ) -> None:
        """SH-SES-4: none if one that it began was closed; the others go on elsewhere."""
        member.fetch(0)
        driver.records(1)
        last = Member(driver, "b", "g", member.client)
        assert last.fetch(0) == {0: [(8, 8, 1)]}
        if closed:
            last.epoch = -1
            last.acknowledge()
            last.epoch = 0
        elsewhere = driver.member("c")
        member.client.connection.lost()
        driver.settle()
        assert elsewhere.fetch(0) == {0: [(8, 8, 2)]}
        elsewhere.name, elsewhere.epoch = "b", 1
        assert elsewhere.ask(elsewhere.request()).error_code == ErrorCode.SHARE_SESSION_NOT_FOUND
        elsewhere.name, elsewhere.epoch = "a", 1
        assert elsewhere.said((0, 7, ACCEPT)) == 0

    def test_no_more_sessions_than_there_may_be(self) -> None:
        """group.share.max.share.sessions."""
        driver = ShareDriver({"group.share.max.share.sessions": "2"})
        initialize(driver)
        first, second, third = (driver.member(name) for name in "abc")
        assert [one.ask(one.request(0)).error_code for one in (first, second, third)] == [0, 0, 133]
        first.client.connection.lost()
        driver.settle()
        assert third.ask(third.request(0)).error_code == 0

    @pytest.mark.parametrize("member_id", [None, "", "x" * 40])
    def test_strange_member_ids(self, driver: ShareDriver, member_id: str | None) -> None:
        """SH-FT-1."""
        member = driver.member()
        request = member.request(0)
        request.member_id = member_id
        assert member.ask(request).error_code == ErrorCode.INVALID_REQUEST


class TestWaiting:
    def test_until_records_come(self, driver: ShareDriver) -> None:
        """SH-FT-2."""
        member = driver.member()
        member.client.send(member.request(0, wait=5_000), 2)
        assert member.client.answers() == []
        driver.records(2)
        (answer,) = member.client.answers()
        assert given(member.took(answer)) == {0: [(0, 1, 1)]}

    def test_until_its_time_is_over(self, driver: ShareDriver) -> None:
        member = driver.member()
        member.client.send(member.request(0, wait=500), 2)
        driver.pass_time(499)
        assert member.client.answers() == []
        driver.pass_time(1)
        (answer,) = member.client.answers()
        assert list(partitions(member.took(answer))) == [0]

    def test_until_a_lock_ends(self, driver: ShareDriver, member: Member) -> None:
        """SH-ACK-4."""
        member.fetch(0)
        other = driver.member("b")
        other.client.send(other.request(0, wait=60_000), 2)
        driver.pass_time(LOCK_MS - 1)
        assert other.client.answers() == []
        driver.pass_time(1)
        (answer,) = other.client.answers()
        assert given(other.took(answer)) == {0: [(0, 7, 2)]}
        assert member.said((0, 7, ACCEPT)) == ErrorCode.INVALID_RECORD_STATE

    def test_until_there_is_room(self, driver: ShareDriver) -> None:
        """SH-FT-6: an acknowledgement makes room."""
        driver.configure("g", share_partition_max_record_locks="100")
        driver.records(60, 60, 5)
        member, other = driver.member("a"), driver.member("b")
        assert member.fetch(0, most=100) == {0: [(0, 119, 1)]}
        other.client.send(other.request(0, wait=5_000), 2)
        assert other.client.answers() == []
        assert member.said((0, 59, ACCEPT)) == 0
        (answer,) = other.client.answers()
        assert given(other.took(answer)) == {0: [(120, 124, 1)]}


class TestPartitions:
    def test_unknown_ones(self, driver: ShareDriver, member: Member) -> None:
        """SH-FT-1: 3 and 100 each time, and the rest is served."""
        answer = member.ask(member.request(0, 7))
        assert partitions(answer)[7].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        assert given(answer) == {0: [(0, 7, 1)]}
        answer = member.ask(member.request(0, topic_id=b"\xab" * 16))
        assert [
            (topic.topic_id, of.partition_index, of.error_code)
            for topic in answer.responses
            for of in topic.partitions
        ] == [(driver.t.id, 7, 3), (b"\xab" * 16, 0, 100)]

    def test_not_initialized(self, driver: ShareDriver) -> None:
        """SH-FT-1: -1, once the fetch has waited."""
        driver.records(1)
        stranger = driver.member("b", "other")
        stranger.client.send(stranger.request(0, wait=500), 2)
        driver.pass_time(499)
        assert stranger.client.answers() == []
        driver.pass_time(1)
        (answer,) = stranger.client.answers()
        assert partitions(stranger.took(answer))[0].error_code == ErrorCode.UNKNOWN_SERVER_ERROR

    def test_not_initialized_and_not_waited_for(self, driver: ShareDriver) -> None:
        """SH-FT-1: a fetch that does not wait says nothing of it."""
        driver.records(1)
        stranger = driver.member("b", "other")
        assert partitions(stranger.ask(stranger.request(0))) == {}
        assert partitions(stranger.ask(stranger.request())) == {}

    def test_where_a_group_begins(self, driver: ShareDriver) -> None:
        """SH-OFF-2: latest unless the group says otherwise; by_duration, 78 if nothing is young."""
        driver.records(2)
        initialize(driver, "late")
        late = driver.member("b", "late")
        assert late.fetch(0) == {}
        driver.records(1)
        assert late.fetch() == {0: [(2, 2, 1)]}
        initialize(driver, "since")
        driver.configure("since", share_auto_offset_reset="by_duration:PT1H")
        driver.pass_time(7_200_000)
        since = driver.member("c", "since")
        since.client.send(since.request(0, wait=500), 2)
        driver.pass_time(500)
        (answer,) = since.client.answers()
        assert partitions(since.took(answer))[0].error_code == ErrorCode.OFFSET_NOT_AVAILABLE

    def test_an_initialized_start(self, driver: ShareDriver) -> None:
        driver.records(2, 2)
        initialize(driver, start=2, epoch=1)
        assert driver.member().fetch(0) == {0: [(2, 3, 1)]}

    def test_the_log_starts_later(self, driver: ShareDriver, member: Member) -> None:
        """SH-LOG-1: deleted records are delivered to nobody."""
        member.fetch(0, most=1)
        member.said((0, 4, RELEASE))
        driver.t.partitions[0].log.delete_records(5)
        assert member.fetch() == {}
        assert member.fetch() == {0: [(5, 7, 1)]}

    def test_bytes_are_shared_out(self, driver: ShareDriver) -> None:
        """SH-FT-2: less than a batch means one batch, of one partition."""
        for index in range(3):
            driver.records(1, 1, index=index)
        member = driver.member()
        assert given(member.ask(member.request(0, 1, 2, max_bytes=1))) == {0: [(0, 0, 1)]}


class TestAcknowledging:
    @pytest.mark.parametrize(
        ("acks", "error"),
        [
            (((3, 2, ACCEPT),), ErrorCode.INVALID_REQUEST),
            (((0, 2),), ErrorCode.INVALID_REQUEST),
            (((0, 2, ACCEPT, ACCEPT),), ErrorCode.INVALID_REQUEST),
            (((0, 2, 7),), ErrorCode.INVALID_REQUEST),
            (((0, 2, -1),), ErrorCode.INVALID_REQUEST),
            (((4, 5, ACCEPT), (0, 1, ACCEPT)), ErrorCode.INVALID_REQUEST),
            (((0, 2, RENEW),), ErrorCode.INVALID_REQUEST),
            (((0, 20, ACCEPT),), ErrorCode.INVALID_REQUEST),
            (((-5, 1 << 62, ACCEPT),), ErrorCode.INVALID_REQUEST),
            (((0, 7, ACCEPT),), ErrorCode.NONE),
        ],
    )
    def test_ranges(
        self, member: Member, acks: tuple[tuple[int, ...], ...], error: ErrorCode
    ) -> None:
        """SH-ACK-3."""
        member.fetch(0)
        assert member.said(*acks) == error

    def test_in_a_sessions_first_request(self, member: Member) -> None:
        """SH-ACK-3."""
        answer = member.ask(member.request(0, acks=((0, 0, ACCEPT),)))
        assert answer.error_code == ErrorCode.INVALID_REQUEST

    def test_with_a_fetch(self, driver: ShareDriver, member: Member) -> None:
        """SH-ACK-1: what is released comes with a fetch that waits, or with the next one."""
        member.fetch(0)
        answer = member.ask(member.request(acks=((0, 3, ACCEPT), (4, 4, RELEASE))))
        assert partitions(answer)[0].acknowledge_error_code == 0
        assert given(answer) == {}
        assert member.fetch() == {0: [(4, 4, 2)]}
        assert given(member.ask(member.request(acks=((4, 4, RELEASE),), wait=500))) == {
            0: [(4, 4, 3)]
        }
        answer = member.ask(member.request(acks=((0, 20, ACCEPT),)))
        assert partitions(answer)[0].acknowledge_error_code == ErrorCode.INVALID_REQUEST

    def test_of_what_the_fetch_itself_acquires(self, driver: ShareDriver, member: Member) -> None:
        """SH-ACK-6: they are refused, and the records come; else they would be done with before
        their member ever saw them."""
        member.fetch(0, most=5)
        driver.pass_time(30_000)
        answer = member.ask(member.request(acks=((0, 4, ACCEPT),), most=5))
        refused = partitions(answer)[0].acknowledge_error_code
        assert refused == ErrorCode.INVALID_RECORD_STATE
        assert given(answer) == {0: [(0, 4, 2)]}
        answer = member.ask(member.request(acks=((5, 7, ACCEPT),), most=5))
        assert partitions(answer)[0].acknowledge_error_code == ErrorCode.INVALID_REQUEST
        assert given(answer) == {0: [(5, 7, 1)]}
        assert member.said((0, 7, ACCEPT)) == 0

    @pytest.mark.parametrize(
        ("ack", "error", "start"), [((2, 2, ACCEPT), 121, 4), ((3, 4, ACCEPT), 0, 5)]
    )
    def test_before_the_fetch_finds_that_the_logs_start_has_moved(
        self, ack: tuple[int, ...], error: int, start: int, driver: ShareDriver, member: Member
    ) -> None:
        """SH-ACK-6: what its member did not hold is refused, though it lies below the start as soon
        as the fetch has read; what it held is stored and done with, also below the start."""
        member.fetch(0, most=5)
        assert member.said((0, 2, RELEASE)) == 0
        driver.t.partitions[0].log.delete_records(4)
        answer = member.ask(member.request(acks=(ack,), most=1))
        assert partitions(answer)[0].acknowledge_error_code == error
        key = SharePartitionKey("g", "t", 0)
        assert driver.broker.services.shares.partitions.open_ones[key].start_offset == start

    def test_of_what_nobody_ever_read(self, driver: ShareDriver, member: Member) -> None:
        member.fetch(0)
        answer = member.acknowledge((0, 1, ACCEPT), index=2)
        assert [of.error_code for of in answer.responses[0].partitions] == [3]
        assert member.acknowledge(index=1).responses == []

    def test_of_partitions_without_ranges(self, driver: ShareDriver, member: Member) -> None:
        """SH-ACK-3: they are answered where another has ranges; the last entry of one counts."""
        member.fetch(0)
        request = member.request(1, acks=((0, 1, ACCEPT),))
        answer = partitions(member.ask(request))
        assert {index: of.acknowledge_error_code for index, of in answer.items()} == {0: 0, 1: 0}
        request = member.request(acks=((2, 3, ACCEPT),))
        request.topics[0].partitions.append(FetchPartition(partition_index=0))
        assert partitions(member.ask(request)) == {}
        assert member.said((2, 3, ACCEPT)) == 0

    def test_of_a_deleted_topic(self, driver: ShareDriver, member: Member) -> None:
        """SH-SES-5: its partitions are unknown as long as they are in the session."""
        member.fetch(0)
        topic_id = driver.t.id
        driver.broker.controller.delete_topic(driver.t, driver.now, None)
        told = [
            member.ask(member.request(*of, topic_id=topic_id, forget=forgotten))
            for of, forgotten in (((), ()), ((), (0,)), ((0,), ()))
        ]
        assert [[of.error_code for of in partitions(answer).values()] for answer in told] == [
            [3],
            [],
            [100],
        ]
        assert not driver.broker.services.shares.states.states

    def test_locks_are_renewed(self, driver: ShareDriver, member: Member) -> None:
        """SH-ACK-2: with the flag of version 2, and no limits in a fetch."""
        member.fetch(0)
        driver.pass_time(20_000)
        assert member.said((0, 4, RENEW), renew=True) == 0
        driver.pass_time(10_000)
        assert driver.member("b").fetch(0) == {0: [(5, 7, 2)]}
        assert (
            member.ask(member.request(acks=((0, 4, RENEW),), renew=True)).error_code
            == ErrorCode.INVALID_REQUEST
        )
        request = member.request(acks=((0, 4, RENEW),), renew=True, most=0, min_bytes=0)
        request.max_bytes = 0
        assert partitions(member.ask(request))[0].acknowledge_error_code == 0

    def test_a_group_that_renews_nothing(self, driver: ShareDriver, member: Member) -> None:
        driver.configure("g", share_renew_acknowledge_enable="false")
        member.fetch(0)
        assert member.said((0, 4, RENEW), renew=True) == ErrorCode.INVALID_RECORD_STATE


def test_no_more_is_read_than_can_be_given(driver: ShareDriver, member: Member) -> None:
    """SH-FT-2: of a long log a fetch reads what its max_records can come to, and the batch behind
    it, whatever its max_bytes: what it costs does not grow with the log."""
    driver.records(*[3] * 20)
    log = driver.broker.cluster.topics["t"].partitions[0].log
    for until, ends in ((0, 7), (5, 10), (6, 10), (8, 13), (1_000, log.log_end_offset - 1)):
        found = read(log, 0, 1 << 30, until=until, committed=False, whole=True)
        assert found.spans[-1].last_offset == ends
    assert member.fetch(0, most=6) == {0: [(0, 7, 1)]}
    assert member.fetch(most=4) == {0: [(8, 13, 1)]}


class TestWhatIsStored:
    def state(self, driver: ShareDriver) -> tuple[int, int, list[tuple[int, ...]]]:
        """Start offset, completed deliveries, and batches of partition 0."""
        state = driver.broker.services.shares.states.states[ShareStateKey("g", driver.t.id, 0)]
        return state.start_offset, state.complete_count, [tuple(of) for of in state.batches]

    def test_one_write_behind(self, driver: ShareDriver, member: Member) -> None:
        """SH-OFF-1: the start offset that goes with a write is the one before it."""
        member.fetch(0)
        assert self.state(driver) == (-1, -1, [])
        member.said((0, 1, ACCEPT))
        assert self.state(driver) == (0, 2, [(0, 1, 2, 1)])
        member.said((2, 2, RELEASE), (3, 3, REJECT), (4, 4, 0))
        assert self.state(driver) == (2, 2, [(2, 2, 0, 1), (3, 4, 4, 1)])

    def test_another_leader_goes_on(self, driver: ShareDriver, member: Member) -> None:
        """SH-LD-1: acquired records are available again, and the former leader is fenced."""
        member.fetch(0)
        member.said((0, 1, ACCEPT), (3, 3, ACCEPT))
        driver.t.partitions[0].leader_epoch += 1
        other = driver.member("b")
        assert other.fetch(0) == {0: [(2, 2, 1), (4, 7, 1)]}
        assert member.said((2, 2, ACCEPT)) == ErrorCode.INVALID_RECORD_STATE

    def test_a_state_that_begins_anew(self, driver: ShareDriver, member: Member) -> None:
        """SH-LD-5: its leader learns of it at its next write, and begins at the altered offset."""
        member.fetch(0)
        initialize(driver, start=5, epoch=7)
        assert member.fetch() == {}
        assert member.said((0, 0, ACCEPT)) == ErrorCode.NOT_LEADER_OR_FOLLOWER
        assert member.fetch() == {0: [(5, 7, 1)]}

    def test_a_state_that_is_deleted(self, driver: ShareDriver, member: Member) -> None:
        """SH-LD-5: its leader goes on without it. What a session held stays locked until the time is
        over."""
        member.fetch(0)
        key = ShareStateKey("g", driver.t.id, 0)
        assert not driver.broker.services.shares.states.delete(key, driver.now).error
        assert member.said((0, 0, ACCEPT)) == ErrorCode.UNKNOWN_SERVER_ERROR
        member.epoch = -1
        member.acknowledge()
        other = driver.member("b")
        assert other.fetch(0) == {}
        driver.pass_time(LOCK_MS)
        assert other.fetch() == {0: [(0, 7, 2)]}

    @pytest.mark.unjudged
    def test_a_leader_that_is_fenced(self, driver: ShareDriver, member: Member) -> None:
        """SH-ST-2: its write is refused (6), and nothing changes; it begins with what is stored."""
        member.fetch(0)
        state = driver.broker.services.shares.states.states[ShareStateKey("g", driver.t.id, 0)]
        state.state_epoch = 9
        answer = member.acknowledge((0, 0, ACCEPT))
        (partition,) = answer.responses[0].partitions
        assert partition.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
        assert partition.error_message.startswith("Error in write state RPC. The coordinator")
        assert partition.current_leader.leader_id == 1
        assert member.fetch() == {0: [(0, 7, 1)]}

    def test_a_topic_that_is_gone(self, driver: ShareDriver, member: Member) -> None:
        """Its share partitions go with it."""
        member.fetch(0)
        driver.broker.controller.delete_topic(driver.t, driver.now, None)
        assert driver.broker.services.shares.partitions.open_ones == {}


class TestTheShareCoordinator:
    """Requests 83-87, as brokers and clients send them."""

    def ask(self, driver: ShareDriver, kind: str, group: str = "g", *rows: int, **of: int) -> Any:
        """The result of a request about partitions of t."""
        kind, key = _APIS[kind]
        data = getattr(share_group_states, f"{kind}Data")
        of_partition = getattr(share_group_states, f"{kind}PartitionData")
        named = [of_partition(partition=index, **of) for index in rows]
        request: Any = request_type(key)
        answer: Any = driver.client("127.0.0.1:broker").ask(
            request(group_id=group, topics=[data(topic_id=driver.t.id, partitions=named)]), 0
        )
        return [(row.partition, row.error_code) for of in answer.results for row in of.partitions]

    def test_each_partition_once(self, driver: ShareDriver) -> None:
        """SH-ST-6."""
        for kind in ("Initialize", "Read", "Write", "Delete", "Summary"):
            answered = self.ask(driver, kind, "g", 0, 0, -1)
            assert [index for index, _ in answered] == [0, -1]
            assert answered[1][1] == ErrorCode.INVALID_REQUEST
            assert self.ask(driver, kind, "", 0) == []
            assert self.ask(driver, kind, "g") == []

    def test_a_summary_of_nothing(self, driver: ShareDriver) -> None:
        """SH-ST-5."""
        assert self.ask(driver, "Summary", "nobody", 0, 9) == [(0, 0), (9, 3)]
        assert self.ask(driver, "Read", "nobody", 0) == [(0, 42)]

    def test_there_is_none_without_its_topic(self) -> None:
        """Nobody has asked for a share coordinator yet: 16, and a fetch has the topic made."""
        driver = ShareDriver()
        assert self.ask(driver, "Read", "g", 0) == [(0, 16)]
        member = driver.member()
        member.ask(member.request(0))
        assert self.ask(driver, "Read", "g", 0) == [(0, 42)]

    def test_records_stand_in_its_topic(self, driver: ShareDriver, member: Member) -> None:
        """SH-ST-8: a consumer reads them."""
        topic = driver.broker.cluster.topics["__share_group_state"]
        assert sum(of.log.log_end_offset for of in topic.partitions) == 3
        member.fetch(0)
        member.said((0, 1, ACCEPT))
        assert sum(of.log.log_end_offset for of in topic.partitions) == 4


_APIS = {
    "Initialize": ("InitializeState", 83),
    "Read": ("ReadState", 84),
    "Write": ("WriteState", 85),
    "Delete": ("DeleteState", 86),
    "Summary": ("ReadStateSummary", 87),
}


@pytest.mark.parametrize(
    ("key", "error"),
    [
        ("g:AAAAAAAAAAAAAAAAAAAAAA:0", 0),
        ("g:x:AAAAAAAAAAAAAAAAAAAAAA:-1", 0),
        ("g:AAAAAAAAAAAAAAAAAAAAAA:+1", 0),
        (":AAAAAAAAAAAAAAAAAAAAAA:0", 42),
        ("g:AAAAAAAAAAAAAAAAAAAAAA:x", 42),
        ("g:AAAAAAAAAAAAAAAAAAAAAA:99999999999", 42),
        ("g:A:1", 42),
        ("g:0", 42),
        ("", 42),
    ],
)
def test_keys_of_share_partitions(driver: ShareDriver, key: str, error: int) -> None:
    """SH-FC-1."""
    answer = driver.client().ask(FindCoordinatorRequest(key_type=2, coordinator_keys=[key]), 6)
    assert isinstance(answer, FindCoordinatorResponse)
    assert [of.error_code for of in answer.coordinators] == [error]


def _transaction(driver: ShareDriver, producer: int, sequence: int, *, committed: bool) -> None:
    log = driver.t.partitions[0].log
    batch = build_batch(
        [b"v"] * 2,
        timestamp=1_000_000,
        producer_id=producer,
        producer_epoch=0,
        base_sequence=sequence,
        attributes=TRANSACTIONAL,
    )
    log.append(batch, parse_header(batch), LogConfig(), leader_epoch=0, now_ms=1_000_000)
    log.append_marker(Marker(producer, 0, committed), leader_epoch=0, now_ms=1_000_000)


def test_several_aborted_transactions_of_one_producer(driver: ShareDriver) -> None:
    """SH-FT-7: of each of them the records are passed over, and of none that was committed between
    them."""
    driver.configure("g", share_isolation_level="read_committed")
    for number, committed in enumerate((False, True, False)):
        _transaction(driver, 7, 2 * number, committed=committed)
    driver.records(1)
    assert driver.member().fetch(0) == {0: [(2, 5, 1), (8, 9, 1)]}


def test_committed_records_only(driver: ShareDriver) -> None:
    """SH-FT-7: nothing behind an open transaction; aborted records are passed over, markers are
    given."""
    driver.configure("g", share_isolation_level="read_committed")
    log = driver.t.partitions[0].log
    for producer, committed in ((7, True), (8, False)):
        batch = build_batch(
            [b"v"] * 2,
            timestamp=1_000_000,
            producer_id=producer,
            producer_epoch=0,
            base_sequence=0,
            attributes=TRANSACTIONAL,
        )
        log.append(batch, parse_header(batch), LogConfig(), leader_epoch=0, now_ms=1_000_000)
        if committed:
            assert driver.member("early").fetch(0) == {}, "the transaction is open"
        log.append_marker(Marker(producer, 0, committed), leader_epoch=0, now_ms=1_000_000)
    driver.records(1)
    assert driver.member().fetch(0) == {0: [(0, 2, 1), (5, 6, 1)]}
    member = driver.member("b")
    member.fetch(0)
    states = driver.broker.services.shares.partitions.open_ones.values()
    assert [
        (run.first, run.last, str(run.condition.state)) for one in states for run in one.runs
    ] == [(0, 2, "Acquired"), (3, 4, "Archived"), (5, 6, "Acquired")]
